/** The canary of a deployment, from its schedule to the metric of its end, through the real functions. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Duration } from 'aws-cdk-lib/core';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';

let folder: string;
let cloud: Cloud;
const lines: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-canary-'));
  const app = createApp({ outdir: join(folder, 'cdk.out'), builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: ['test/e2e/workflows'],
    only: ['canary'],
  });
  const stack = new SteadfastStack(app, 'Shop', { workflows, canary: Duration.minutes(5) });
  cloud = await startCloud({
    assembly: app.synth().directory,
    stack: stack.stackName,
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: true,
    onLog: ({ line }) => lines.push(line),
  });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('starts by its schedule, needs every role to come to its end, and is counted there', async () => {
  const schedule = cloud.control.schedules().find(({ expression }) => expression === 'rate(5 minutes)');
  await cloud.control.tick(schedule?.name ?? '');
  while (!lines.some((line) => line.includes('"CanaryEnded"'))) await pause(100);
  const listed = await fetch(`${cloud.apiUrl}/executions?workflow=steadfast-canary`);
  expect(await listed.json()).toMatchObject({ items: [{ status: 'succeeded' }] });
  // It is in no figure of the deployment's own executions.
  expect(lines.filter((line) => line.includes('"Succeeded"'))).toEqual([]);
});
