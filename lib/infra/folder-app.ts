/**
 * The CDK app of `startCloud({ workflows })`: one stack of workflow folders, and nothing else.
 *
 * Does not own: which folders (the context names them). It has no buckets and buses for their triggers.
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
