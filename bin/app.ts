/** The CDK app: what is deployed, and at which stages. `cdk deploy` and `npm start` make the same of it. */

import { RemovalPolicy } from 'aws-cdk-lib/core';
import { grantUse, sources } from '../examples/gallery/sources.ts';
import { addSteadfast, createApp, exitWith } from '../lib/infra/synth.ts';

/** Workflow folders of the stack. Any others are a stack of their own: `-c steadfast:only=password-reset`. */
const DEPLOYED = ['order-fulfilment'];

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
