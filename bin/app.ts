/** The CDK app: what is deployed, and in which stages. `cdk deploy` and `npm start` use the same app. */

import { RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { grantUse, sources } from '../examples/gallery/sources.ts';
import { addWorld, hosts, withoutWorld } from '../examples/gallery/outside-world.ts';
import { addSteadfast, createApp, exitWith } from '../lib/infra/synth.ts';

/** Workflow folders of the stack. Others get a stack of their own: `-c steadfast:only=password-reset`. */
const DEPLOYED = ['order-fulfilment'];

/**
 * Settings of each `-c stage=…` that differ from the defaults in lib/infra/steadfast-props.ts:
 * alarms, keys, agents' networks.
 */
const STAGES = {
  // A new account has 10 concurrent executions for agents, API and supervisors together, so agents get few of
  // them at a time.
  dev: (stack: Stack) => ({ removalPolicy: RemovalPolicy.DESTROY, agentConcurrency: 2, ...hosts(stack) }),
  // Needs an account with 106 concurrent executions: none of a new account's 10 can be reserved.
  prod: (stack: Stack) => ({
    removalPolicy: RemovalPolicy.RETAIN,
    supervisorConcurrency: 6,
    ...hosts(stack),
  }),
};

try {
  const app = createApp();
  const stack = await addSteadfast(app, { deployed: DEPLOYED, stages: STAGES, sources });
  grantUse(stack);
  // Outside prod the stack brings trial services for the agents to call; in prod you bring your own.
  if (app.node.tryGetContext('stage') === 'prod') withoutWorld(stack);
  else addWorld(stack);
  app.synth();
} catch (error) {
  exitWith(error);
}
