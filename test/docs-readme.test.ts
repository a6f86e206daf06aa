/** What README and first project tell a newcomer to type is true, and the code of both and of the author's reference has right types. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { executionId } from '../lib/cli/dev/banner.ts';
import { discoverWorkflows } from '../lib/infra/discover.ts';
import { CONTROL_CALLS } from '../local/control/control-http.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readme = read('README.md');
const firstProject = read('docs/FIRST-PROJECT.md');
const MOST_WORDS = 900;

const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );
/** The one block of code in which a text occurs. */
function blockWith(text: string, part: string): string {
  const found = blocksOf(text, 'ts').filter((block) => block.includes(part));
  if (found.length !== 1) throw new Error(`${found.length} blocks have ${part}`);
  return found[0] ?? '';
}

/** Path → content, of the blocks whose paragraph begins with the path of a file. */
const files = new Map(
  [
    ...firstProject.matchAll(/^`(workflows\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm),
  ].map(([, path = '', content = '']) => [path, content]),
);
const linesOf = (text: string): string[] => blocksOf(text, 'sh').flatMap((block) => block.trim().split('\n'));
const shellLines = linesOf(firstProject);

const FOLDER = 'workflows/first-greeting';
const INFRA = '../../../../lib/infra';
/** What a piece of code supposes, said before it. */
const orderWorkflow = `import { human, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { chargeCard, notifyCustomer, reserveStock, scheduleShipping } from '../../../../examples/order-fulfilment/workflow.ts';
const Text = z.string().check(z.minLength(1));
const items = z.array(z.object({ sku: Text, quantity: z.int() }));
const Order = z.object({ orderId: Text, email: Text, address: Text, items, total: z.int() });
${blockWith(readme, 'orderFulfilment = ')}`;
const handler = `import { done, notDone } from 'steadfast';
import { chargeCard } from '../../../../examples/order-fulfilment/workflow.ts';
const charged = { chargeId: '' };
const payments = {
  charge: (_key: string, amount: number) => Promise.resolve({ ...charged, amount }),
  find: (key: string) => Promise.resolve(key === '' ? notDone() : done(charged)),
  refund: (_key: string) => Promise.resolve(),
};
${blockWith(readme, 'chargeCard.handler')}`;
const triggers = (block: string): string => `import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Stack } from 'aws-cdk-lib/core';
import type { Discovery } from '${INFRA}/discovery.ts';
import { Steadfast } from '${INFRA}/steadfast.ts';
declare const stack: Stack;
declare const workflows: Discovery;
declare const steadfast: Steadfast;
declare const uploads: Bucket;
declare const shopBus: IEventBus;
declare const shop: IGrantable;
export const uses = [ScheduleExpression, Steadfast, stack, workflows, steadfast, uploads, shopBus, shop];
${block}`;

/** The line of a stack of the reader's own. */
const stack = (block: string): string => `import { CorsHttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Stack } from 'aws-cdk-lib/core';
import { Steadfast, Workflows } from 'steadfast/cdk';
declare const secret: Secret;
declare const uploads: Bucket;
export const uses = [CorsHttpMethod, HttpJwtAuthorizer, secret, uploads];
export class Orders extends Stack {
  make(): void {
    ${block}
  }
}`;
const client = (block: string): string =>
  `import type { AwsCredentials } from 'steadfast/client';
import type { firstGreeting as helloGreeting } from './workflow.ts';
declare const credentials: AwsCredentials;
${block.replace(/^import type \{ helloGreeting.*$/m, '')}
export const answer = { status, output };`;
/** A test of another agent than the one that is there. */
const killed = (block: string): string => `import { testWorkflow } from 'steadfast/testing';
import { handler } from './agents/deliver-greeting.ts';
import { deliverGreeting as reserveSeat, firstGreeting as helloGreeting } from './workflow.ts';
const agents = [handler];
declare const boxOffice: { readonly seats: () => readonly { readonly key: string }[] };
${block}`;
/** Two lines that suppose a builder, and what they are about. */
const lines = (guide: string): string => `import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';
const Host = z.object({ host: z.string() });
const deploy = agent('deploy', { input: Host, output: Host, effect: 'idempotent' });
const deployHost = workflow('deploy-host', { input: Host, within: '1h' }, (w) => {
  w.step('deploy', deploy, { host: w.input.host });
});
const Hosts = z.object({ hosts: z.array(z.string()) });
export const fleet = workflow('fleet', { input: Hosts, within: '5d' }, (w) => {
  const { hosts } = w.input;
  ${blockWith(guide, 'deployHost, hosts')}
  return { total: rollout.output.total };
});
const Refund = z.object({ orderId: z.string(), amount: z.number() });
export const refund = workflow('refund', { input: Refund, within: '5d' }, (w) => {
  ${blockWith(guide, "'release'")}
});`;

/** Inside the project, where `steadfast` and the packages are found; ignored by git. */
let root: string;
beforeAll(() => {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.steadfast', 'readme-'));
  const guide = read('docs/WORKFLOWS.md');
  const others = {
    'order.ts': orderWorkflow,
    'handler.ts': handler,
    'environment.ts': stack(blockWith(firstProject, 'BOX_OFFICE_URL')),
    'browser.ts': stack(blockWith(firstProject, 'allowOrigins')),
    'killed.ts': killed(blockWith(firstProject, 'boxOffice')),
    'client.ts': client(blockWith(firstProject, 'createClient')),
    'trigger-calls.ts': triggers(blockWith(read('docs/TRIGGERS.md'), 'triggerOnEvent')),
    'trigger-sources.ts': triggers(blockWith(read('docs/TRIGGERS.md'), 'eventBuses')),
    // Jest knows the file by its own ending alone.
    'triggers.ts': blockWith(read('docs/TRIGGERS.md'), 'onSchedule').replace('workflow.js', 'workflow.ts'),
    'dev.ts': blockWith(guide, 'startDev'),
    'failures.ts': blockWith(guide, 'bookCourier'),
    'waiting.ts': blockWith(guide, 'w.callback'),
    'remote.ts': blockWith(read('docs/REMOTE-AGENTS.md'), 'PARCELS_TOKEN'),
    'tolerated.ts': blockWith(guide, 'export const holiday'),
    'in-time.ts': blockWith(guide, 'export const trailer'),
    'groups.ts': blockWith(guide, 'export const launch'),
    'on-failure.ts': blockWith(guide, 'export const purchase'),
    'lines.ts': lines(guide),
  };
  for (const [path, content] of files) write(path, content);
  for (const [name, content] of Object.entries(others)) write(`${FOLDER}/${name}`, content);
});
afterAll(() => rmSync(root, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

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
  expect([...files.keys()]).toEqual([
    `${FOLDER}/workflow.ts`,
    `${FOLDER}/agents/write-greeting.ts`,
    `${FOLDER}/agents/deliver-greeting.ts`,
  ]);
});

test('it is found as it stands', async () => {
  const {
    workflows,
    agents,
    triggers: found,
    warnings,
  } = await discoverWorkflows({ root, folders: ['workflows'] });
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

test('its types are right, and those of all code that is shown', () => {
  const config = { extends: '../../tsconfig.json', include: ['workflows'] };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const run = (): string => execFileSync(process.execPath, [tsc, '-p', root], { encoding: 'utf8' });
  expect(run).not.toThrow();
});

test('the workflows that are shown can be built', async () => {
  const { sendParcels } = await load<{ agents: { spec: { name: string } }[] }>('failures.ts');
  expect(sendParcels?.agents.map(({ spec }) => spec.name)).toEqual(['book-parcel', 'book-courier']);
  const { delivery } = await load<{ plan: { steps: { kind: string }[] } }>('waiting.ts');
  const kinds = ['child', 'map', 'approval', 'wait', 'wait', 'agent'];
  expect(delivery?.plan.steps.map(({ kind }) => kind)).toEqual(kinds);
  const names = ['holiday', 'trailer', 'launch', 'purchase', 'fleet'];
  const others = ['tolerated.ts', 'in-time.ts', 'groups.ts', 'on-failure.ts', 'lines.ts'];
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
  expect(agent).toBe('deliver-greeting');
  expect(JSON.parse(body)).toEqual({ beforeCall: 2, operation: 'PutItem' });
});

test('the two commands stand on lines of their own', () => {
  expect(linesOf(readme)).toEqual(expect.arrayContaining(['npm ci && npm run demo', 'npm ci && npm test']));
});
