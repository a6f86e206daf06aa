/**
 * The CDK app of `npm run example` and `npm run gallery`: one stack with the workflow folders that `-c
 * steadfast:only=` names.
 */

import { App, RemovalPolicy } from 'aws-cdk-lib/core';
import { SteadfastStack, Workflows } from 'steadfast/cdk';
import { hosts } from './outside-world.ts';
import { grantUse, sources } from './sources.ts';

const app = new App();
const only = String(app.node.tryGetContext('steadfast:only')).split(',');
const stack = new SteadfastStack(app, 'Examples', {
  workflows: Workflows.fromFolder('examples', { only }),
  settings: (own) => ({ ...sources(own), ...hosts(own) }),
  monitoring: 'none',
  removalPolicy: RemovalPolicy.DESTROY,
});
grantUse(stack);
app.synth();
