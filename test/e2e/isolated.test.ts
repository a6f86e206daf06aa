/**
 * An agent whose code has a process of its own in its function: its death is known at once,
 * that of a whole function only after its timeout.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';

let folder: string;
let cloud: Cloud;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-isolated-'));
  const app = createApp({ outdir: join(folder, 'cdk.out'), builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: ['test/e2e/workflows'],
    only: ['isolated'],
  });
  const stack = new SteadfastStack(app, 'Isolated', { workflows, bulkActions: false });
  cloud = await startCloud({
    assembly: app.synth().directory,
    stack: stack.stackName,
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: true,
  });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string): Promise<ExecutionView> =>
  (await (await fetch(`${cloud.apiUrl}${path}`)).json()) as ExecutionView;

async function begin(workflow: string, way: string): Promise<string> {
  const response = await fetch(`${cloud.apiUrl}/workflows/${workflow}/executions`, {
    method: 'POST',
    body: JSON.stringify({ input: { way } }),
  });
  return ((await response.json()) as { executionId: string }).executionId;
}

async function ended(id: string): Promise<ExecutionView> {
  for (;;) {
    const view = await get(`/executions/${id}`);
    if (view.endedAt !== undefined) return view;
    await pause(100);
  }
}

const workOf = ({ steps: [work] }: ExecutionView) => work;

it.each(['dies', 'hangs'])(
  'one that %s is over within the lease and 15 s, and the next stage begins',
  async (way) => {
    const view = await ended(await begin('isolated', way));
    expect(view.status).toBe('succeeded');
    const [first] = workOf(view)?.attempts ?? [];
    expect(first?.failure?.code).toBe('process-died');
    // Its function would have lived for a quarter of an hour.
    const { endedAt = Number.POSITIVE_INFINITY, startedAt } = view;
    expect(endedAt - startedAt).toBeLessThan(60_000);
  },
);

it('what it has accepted reaches its probe by the table, and its attempt was one', async () => {
  const view = await ended(await begin('isolated', 'accepts'));
  expect([view.status, workOf(view)?.attempt]).toEqual(['succeeded', 1]);
  expect(workOf(view)?.attempts.map(({ mode, outcome }) => `${mode} ${outcome}`)).toEqual([
    'execute accepted',
    'probe done',
  ]);
  expect(view.output).toEqual({ pid: expect.any(Number) as number });
});

it('its processes are used again, and serve a healthy step like any other', async () => {
  const all = [];
  for (let at = 0; at < 6; at += 1) all.push(await ended(await begin('isolated', 'done')));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  // Each instance of the function has its own, and a busy machine may start several.
  expect(new Set(all.map(({ output }) => JSON.stringify(output))).size).toBeLessThan(all.length);
});
