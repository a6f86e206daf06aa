/**
 * The commands in README and first project work, and the code of both and of the author's reference can be
 * built.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { executionId } from '../cli/dev/banner.ts';
import type { AgentHandler } from '../lib/agent/handler.ts';
import { discoverWorkflows } from '../lib/infra/discover.ts';
import type { AskHandlers } from '../lib/infra/handlers.ts';
import { CONTROL_CALLS } from '../local/control/control-http.ts';
import { blocksOf, read, written } from './snippets/blocks.ts';
import { firstFiles, FOLDER, readmeFiles } from './snippets/readme.ts';

const readme = read('README.md');
const firstProject = read('docs/FIRST-PROJECT.md');
const MOST_WORDS = 900;

const linesOf = (text: string): string[] => blocksOf(text, 'sh').flatMap((block) => block.trim().split('\n'));
const shellLines = linesOf(firstProject);

let root: string;
beforeAll(() => {
  root = written('readme', readmeFiles);
});
afterAll(() => rmSync(root, { recursive: true }));

const load = async <T>(name: string): Promise<Record<string, T>> =>
  (await import(join(root, FOLDER, name))) as Record<string, T>;

test(`the README has ${MOST_WORDS} words at most, and names the pattern at once`, () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(MOST_WORDS);
  expect(readme.slice(0, 200)).toContain('Scheduler-Agent-Supervisor');
});

test('the tarball that the README names is the one that npm makes of this version', () => {
  const { name, version } = JSON.parse(read('package.json')) as Record<string, string>;
  const named = [...readme.matchAll(/\S+\.tgz/g)].map(([file]) => file);
  expect(named).toEqual([`${name}-${version}.tgz`]);
});

test('the first workflow is a workflow and two agents, and nothing else', () => {
  expect([...firstFiles.keys()]).toEqual([
    `${FOLDER}/workflow.ts`,
    `${FOLDER}/agents/write-greeting.ts`,
    `${FOLDER}/agents/deliver-greeting.ts`,
  ]);
});

/** Reads the handlers in this process, unlike a synthesis. */
const asked: AskHandlers = (files) =>
  Promise.all(
    files.map(async (file) => {
      const { worker } = ((await import(file)) as { handler: AgentHandler }).handler;
      return { file, agent: worker.agent.spec.name, parts: Object.keys(worker.implementation) };
    }),
  );

test('it is found as it stands', async () => {
  const {
    workflows,
    agents,
    triggers: found,
    warnings,
  } = await discoverWorkflows({ root, folders: ['workflows'] }, asked);
  expect(workflows.map(({ name, agents: used }) => [name, used])).toEqual([
    ['first-greeting', ['write-greeting', 'deliver-greeting']],
  ]);
  expect(agents.map(({ name }) => name)).toEqual(['write-greeting', 'deliver-greeting']);
  expect(found.map(({ exportName, trigger }) => `${exportName} ${trigger.on}`)).toEqual([
    'cards object',
    'customers event',
    'mornings schedule',
    'requests message',
  ]);
  expect(warnings).toEqual([]);
});

test('the workflows that are shown can be built', async () => {
  const { sendParcels } = await load<{ agents: { spec: { name: string } }[] }>('failures.ts');
  expect(sendParcels?.agents.map(({ spec }) => spec.name)).toEqual(['book-parcel', 'book-courier']);
  const { delivery } = await load<{ plan: { steps: { kind: string }[] } }>('waiting.ts');
  const kinds = ['wait', 'wait', 'agent', 'callback', 'agent', 'approval', 'agent', 'child', 'map'];
  expect(delivery?.plan.steps.map(({ kind }) => kind).toSorted()).toEqual(kinds.toSorted());
  const names = ['holiday', 'trailer', 'launch', 'purchase', 'fleet', 'pages'];
  const others = ['tolerated.ts', 'in-time.ts', 'groups.ts', 'on-failure.ts', 'lines.ts', 'rounds.ts'];
  const built = await Promise.all(others.map((name) => load<{ readonly name: string }>(name)));
  expect(names.map((name, at) => built[at]?.[name]?.name)).toEqual(names);
  const { orderFulfilment } = await load<{ plan: { steps: { name: string }[] } }>('order.ts');
  const steps = ['charge', 'reserve', 'ship', 'notify'];
  expect(orderFulfilment?.plan.steps.map(({ name }) => name)).toEqual(steps);
});

test('the id that is asked about is that of the execution whose agent was killed', () => {
  const [, key = ''] = /--key (\S+) --wait\n.*\bwhy\b/.exec(firstProject) ?? [];
  expect(shellLines).toContain(`npx steadfast why ${executionId('first-greeting', key)}`);
});

test('the kill is a call that the local cloud has, of an agent that there is', () => {
  const line = shellLines.find((text) => text.includes('/_local/')) ?? '';
  const [, agent, verb, body = ''] = /functions\/([a-z-]+)\/([a-z]+) -d '(.*)'$/.exec(line) ?? [];
  expect(CONTROL_CALLS).toContain(`POST functions/*/${verb}`);
  expect(agent).toBe('write-greeting');
  expect(JSON.parse(body)).toEqual({ beforeCall: 4, operation: 'PutItem' });
});

test('the two commands stand on lines of their own', () => {
  expect(linesOf(readme)).toEqual(expect.arrayContaining(['npm ci && npm run demo', 'npm ci && npm test']));
});
