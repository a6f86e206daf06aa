/** The CDK app: what is deployed, and at which stages. `cdk deploy` and `npm start` make the same of it. */

import { RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { grantUse, sources } from '../examples/gallery/sources.ts';
import { addWorld, withoutWorld } from '../examples/gallery/outside-world.ts';
import { addSteadfast, createApp, exitWith } from '../lib/infra/synth.ts';

/** Workflow folders of the stack. Any others are a stack of their own: `-c steadfast:only=password-reset`. */
const DEPLOYED = ['order-fulfilment'];

/**
 * Agents of an order share a function, which carries it on from step to step. Those of examples by name have
 * a function each, so that each may do only what it needs.
 */
const hosting = ({ node }: Stack): 'shared' | 'own' =>
  [undefined, ...DEPLOYED].includes(node.tryGetContext('steadfast:only')) ? 'shared' : 'own';

/**
 * Settings of each `-c stage=…` that differ from the defaults in lib/infra/steadfast-props.ts:
 * alarms, keys, agents' networks.
 */
const STAGES = {
  // A new account has 10 concurrent executions, for agents, API and supervisors together:
  // agents take few of them at a time.
  dev: (stack: Stack) => ({
    removalPolicy: RemovalPolicy.DESTROY,
    agentConcurrency: 2,
    hosting: hosting(stack),
  }),
  // Needs an account with 106 concurrent executions: of a new one's 10 none can be set aside.
  prod: (stack: Stack) => ({
    removalPolicy: RemovalPolicy.RETAIN,
    supervisorConcurrency: 6,
    hosting: hosting(stack),
  }),
};

try {
  const app = createApp();
  const stack = await addSteadfast(app, { deployed: DEPLOYED, stages: STAGES, sources });
  grantUse(stack);
  // The services that an order calls: outside of prod the stack brings some to try
  // it with, in prod they are yours.
  if (app.node.tryGetContext('stage') === 'prod') withoutWorld(stack);
  else addWorld(stack);
  app.synth();
} catch (error) {
  exitWith(error);
}
