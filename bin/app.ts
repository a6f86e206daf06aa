/** The CDK app: what is deployed, and at which stages. `cdk deploy` and `npm start` make the same of it. */

import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { SteadfastStack } from '../lib/infra/steadfast-stack.ts';
import { addSteadfast, createApp, exitWith } from '../lib/infra/synth.ts';

/** Workflow folders of the stack. Any others are a stack of their own: `-c steadfast:only=password-reset`. */
const DEPLOYED = ['order-fulfilment'];

/** What `triggers.ts` of a folder listens to: made in the stack that deploys such a folder, and in no other. */
const sources = (stack: Stack) => ({
  buckets: {
    get pictures(): Bucket {
      return new Bucket(stack, 'Pictures', { enforceSSL: true });
    },
    get drop(): Bucket {
      const lifecycleRules = [{ prefix: 'work/', expiration: Duration.days(7) }];
      return new Bucket(stack, 'Drop', { enforceSSL: true, lifecycleRules });
    },
  },
});

/** What agents may do with it, where it is there. */
function grantUse({ steadfast, node }: SteadfastStack): void {
  const drop = node.tryFindChild('Drop') as Bucket | undefined;
  drop?.grantRead(steadfast.agent('extract-object'), 'incoming/*');
  for (const name of ['extract-object', 'transform-file', 'transform-by-line'])
    drop?.grantReadWrite(steadfast.agent(name), 'work/*');
  drop?.grantRead(steadfast.agent('load-rows'), 'work/*');
}

/** Settings of each `-c stage=…` that differ from the defaults in lib/infra/steadfast-props.ts: alarms, keys, agents' networks. */
const STAGES = {
  dev: () => ({ removalPolicy: RemovalPolicy.DESTROY }),
  // Needs an account with 106 concurrent executions: a new account has 10, of which none can be set aside.
  prod: () => ({ removalPolicy: RemovalPolicy.RETAIN, supervisorConcurrency: 6 }),
};

try {
  const app = createApp();
  grantUse(await addSteadfast(app, { deployed: DEPLOYED, stages: STAGES, sources }));
  app.synth();
} catch (error) {
  exitWith(error);
}
