/**
 * The CDK app of `startCloud({ workflows })`: one stack of workflow folders, and nothing else.
 *
 * Owns: that stack. Does not own: which folders: the context says them. What their
 * triggers listen to is in no such app.
 */

import { App, RemovalPolicy } from 'aws-cdk-lib/core';
import { discoverWorkflows } from './discover.ts';
import { SteadfastStack } from './steadfast-stack.ts';

const app = new App({ analyticsReporting: false });
const folders = app.node.tryGetContext('steadfast:folders') as readonly string[];
const only = app.node.tryGetContext('steadfast:only') as readonly string[] | undefined;
const workflows = await discoverWorkflows({
  root: process.cwd(),
  folders,
  ...(only === undefined ? {} : { only }),
});
const { stackName } = new SteadfastStack(app, 'Workflows', {
  workflows: { ...workflows, triggers: [] },
  monitoring: 'none',
  removalPolicy: RemovalPolicy.DESTROY,
});
app.synth().getStackByName(stackName);
