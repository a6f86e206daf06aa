/**
 * Two Steadfast constructs in one stack, run by `steadfast dev`: a project with its own cdk.json, agents with
 * equal names in containers, triggers with equal names, and another API declared first. Real processes; the
 * app is synthesised once.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ExecutionView } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { steadfastIn } from '../../cli/dev/project.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

/** A workflow whose output names its construct. */
const workflow = (name: string): string => `import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';
export const settle = agent('settle', {
  input: z.object({}), output: z.object({ by: z.string() }),
  effect: 'idempotent', undo: 'none', runsIn: 'container', timeout: '1m',
});
export const it = workflow('${name}', { input: z.object({}), within: '1h' }, (w) => w.step('it', settle, {}).output);
`;
const agent = (name: string): string => `import { settle } from '../workflow.ts';
export const handler = settle.handler({ execute: () => Promise.resolve({ by: '${name}' }) });
`;
const APP = `import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { App, Stack } from 'aws-cdk-lib/core';
import { Steadfast, Workflows } from 'steadfast/cdk';
const app = new App();
const vpc = new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
const stack = new Stack(app, 'Shop');
new HttpApi(stack, 'Api');
const settings = { monitoring: 'none', agentSettings: { settle: { container: { vpc } } } } as const;
for (const name of ['Payments', 'Reports']) {
  const workflows = Workflows.fromFolder(name.toLowerCase());
  new Steadfast(stack, name, { workflows, ...settings }).startQueue(name.toLowerCase(), { name: 'intake' });
}
`;

/** Inside the repository, where \`steadfast\` and its packages are found; git ignores it. */
let root: string;
let running: ChildProcess | undefined;

beforeAll(() => {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.steadfast', 'several-'));
  write('tsconfig.json', JSON.stringify({ extends: '../../tsconfig.json', include: ['.'] }));
  write('package.json', JSON.stringify({ type: 'module' }));
  write('cdk.json', JSON.stringify({ app: `'${process.execPath}' --import tsx app.ts` }));
  write('app.ts', APP);
  for (const name of ['payments', 'reports']) {
    write(`${name}/${name}/workflow.ts`, workflow(name));
    write(`${name}/${name}/agents/settle.ts`, agent(name));
  }
});
afterAll(() => {
  running?.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Starts `dev`. @returns its output when it runs or has ended */
async function dev(...options: string[]): Promise<string> {
  const args = ['--import', 'tsx', join(ROOT, 'bin/steadfast.ts'), 'dev', '--port', '0', ...options];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  running = child;
  let text = '';
  return new Promise((printed) => {
    const hear = (chunk: Buffer): void => {
      text += chunk.toString('utf8');
      if (text.includes('Ctrl-C stops it.')) printed(text);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', () => printed(text));
  });
}

const json = async <Answer>(url: string, init?: RequestInit): Promise<Answer> =>
  (await (await fetch(url, init)).json()) as Answer;

/** Starts an execution there. @returns which agent did its work */
async function doneBy(api: string): Promise<unknown> {
  const { items } = await json<{ items: WorkflowView[] }>(`${api}/workflows`);
  const [name] = items.map(({ workflow: each }) => each);
  const start = { method: 'POST', body: '{"input":{}}' };
  const { executionId } = await json<{ executionId: string }>(`${api}/workflows/${name}/executions`, start);
  for (;;) {
    const view = await json<ExecutionView>(`${api}/executions/${executionId}?wait=20s`);
    if (view.endedAt !== undefined) return [name, view.status, view.output];
  }
}

test('dev runs the one that is named behind the port, and the other beside it', async () => {
  const said = await dev('--stack', 'Shop', '--name', 'Reports');
  const [, api = ''] = /^Steadfast runs at (\S+)$/m.exec(said) ?? [];
  const [, other = ''] = /^Beside it: Shop\/Payments at (\S+)$/m.exec(said) ?? [];
  expect(other).toMatch(`${api}/_apis/PaymentsScheduler`);
  expect(await doneBy(api)).toEqual(['reports', 'succeeded', { by: 'reports' }]);
  expect(await doneBy(other)).toEqual(['payments', 'succeeded', { by: 'payments' }]);
  const gone = new Promise((exited) => running?.once('exit', exited));
  running?.kill('SIGINT');
  expect(await gone).toBe(0);

  // The two synthesised parts share neither files nor names.
  const assembly = join(root, '.steadfast', 'data', 'cdk.out');
  expect(steadfastIn(assembly, { name: 'Payments' })).toMatchObject({ path: 'Shop/Payments', stack: 'Shop' });
  const bundles = readdirSync(join(assembly, 'bundles'));
  expect(bundles.map((name) => name.replace(/-[0-9A-F]{8}$/, ''))).toEqual(['Shop-Payments', 'Shop-Reports']);
  const trigger = (bundle: string): string =>
    readFileSync(join(assembly, 'bundles', bundle, 'triggers', 'intake', 'trigger.json'), 'utf8');
  expect(bundles.map((bundle) => (JSON.parse(trigger(bundle)) as { workflow: string }).workflow)).toEqual([
    'payments',
    'reports',
  ]);
  const { Outputs } = JSON.parse(readFileSync(join(assembly, 'Shop.template.json'), 'utf8')) as {
    Outputs: object;
  };
  expect(Object.keys(Outputs)).toEqual([
    expect.stringMatching(/^PaymentsApiUrl/),
    expect.stringMatching(/^ReportsApiUrl/),
  ]);
});
