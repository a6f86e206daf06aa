/**
 * Declared agents: they are found without a file, bundled, hosted together if they share a secret, and may
 * read only that secret.
 */

import { agentEntry, bundleDeployment, hostEntry } from '../../lib/infra/bundle.ts';
import { hostsOf } from '../../lib/infra/agent-hosts.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import type { Discovery, FoundAgent } from '../../lib/infra/discovery.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { loadWorkflows } from '../../serve/workflows.ts';
import { FOUND, project } from './fixture.ts';
import { makeStack, Reader, statementsIn } from './template.ts';

const WORKFLOW = `
  import { agent, httpAgent, publish, secret, workflow } from 'steadfast';
  const any = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as never;
  const declared = (name: string, more: object) => httpAgent(name, {
    input: any, output: any, effect: 'unsafe', undo: 'none', ...more,
    execute: { method: 'POST', url: 'https://shop.example/' + name },
  });
  const pay = declared('pay', { auth: secret('PAY', { parameter: '/shop/pay-token' }) });
  const mail = declared('mail', {});
  export const old = publish('old', { input: any, effect: 'unsafe', to: { topic: { env: 'TOPIC' } } });
  const pack = agent('pack', { input: any, output: any, effect: 'none' });
  export const order: unknown = workflow('order', { input: any, within: '1h' }, (w) => {
    w.step('pay', pay, {});
    w.step('mail', mail, {});
    w.step('pack', pack, {});
  });`;
const PACK = `
  import { agent } from 'steadfast';
  const any = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as never;
  export const handler = agent('pack', { input: any, output: any, effect: 'none' }).handler({ execute: async () => ({}) });`;
const FILES = { 'workflows/order/workflow.ts': WORKFLOW, 'workflows/order/agents/pack.ts': PACK };
const ask = async (): Promise<never[]> => [];

let found: Discovery;
let root: string;
beforeAll(async () => {
  root = project(FILES);
  found = await discoverWorkflows({ root, folders: ['workflows'] }, ask);
});

it('finds them where they are declared, also those that no workflow uses any more', () => {
  const declared = found.agents.map(({ name, declared: work, file }) => [name, work, file.split('/').at(-1)]);
  expect(declared).toEqual([
    ['pay', { secret: expect.objectContaining({ env: 'PAY', parameter: '/shop/pay-token' }) }, 'workflow.ts'],
    ['mail', {}, 'workflow.ts'],
    ['pack', undefined, 'pack.ts'],
    ['old', {}, 'workflow.ts'],
  ]);
});

it('refuses a file of their name, which would do nothing', async () => {
  const other = project({ ...FILES, 'workflows/order/agents/mail.ts': PACK });
  await expect(discoverWorkflows({ root: other, folders: ['workflows'] }, ask)).rejects.toThrow(
    "workflows/order/agents/mail.ts does nothing: the work of agent 'mail' is declared by httpAgent; remove the file",
  );
});

it('serves them', async () => {
  const { agents } = await loadWorkflows(root, ['workflows']);
  expect([...agents].map(([name, { worker }]) => [name, worker.agent.spec.name])).toEqual(
    ['pay', 'mail', 'pack', 'old'].map((name) => [name, name]),
  );
});

it('bundles them with the code that sends requests, which the roles and other agents lack', () => {
  const hosts = hostsOf(found.agents, {});
  expect([...hosts]).toEqual([
    ['http-shop-pay-token', ['pay']],
    ['http', ['mail', 'old']],
  ]);
  const bundles = bundleDeployment(found, {}, undefined, hosts);
  const sends = (entry: string): boolean =>
    [...(bundles.get(entry)?.files ?? [])].some(
      ([name, code]) => name.endsWith('.mjs') && Buffer.from(code).toString().includes('private-address'),
    );
  const entries = ['http', 'http-shop-pay-token'].map(hostEntry);
  const inputs = entries.flatMap((entry) => Object.keys(bundles.get(entry)?.metafile.inputs ?? {}));
  expect(inputs.filter((path) => /@aws-sdk\/client-(?!dynamodb|sqs|eventbridge)/.test(path))).toEqual([]);
  expect([...entries, 'scheduler', 'supervisor', agentEntry('pack')].map(sends)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

const ALL = FOUND.agents.map((agent) => ({ ...agent, timeoutMs: 60_000 }));
const stackOf = (
  declared: Readonly<Record<string, FoundAgent['declared']>>,
  more: Partial<SteadfastProps> = {},
) => {
  const agents = ALL.map((agent) => {
    const work = declared[agent.name];
    return work === undefined ? agent : { ...agent, declared: work };
  });
  return new Reader(makeStack({ workflows: { ...FOUND, agents }, ...more }));
};
const A = { secret: { env: 'A', parameter: '/shop/a' } };
const B = { secret: { env: 'B', secretsManager: 'shop/b' } };
const hostsIn = (reader: Reader): unknown[] =>
  reader
    .ofType('AWS::Lambda::Function')
    .map(({ Properties }) => Properties['Description'])
    .filter((text) => String(text).startsWith('Steadfast agent') && !String(text).includes('bulk'))
    .toSorted((one, other) => String(one).localeCompare(String(other)));

it('hosts them by secret, each with its queue and concurrency, and carries no execution on into them', () => {
  const reader = stackOf({ pay: A, ship: A, mail: {} }, { agentSettings: { pay: { maxConcurrency: 7 } } });
  expect(hostsIn(reader)).toEqual(['Steadfast agents mail', 'Steadfast agents pay, ship']);
  const mappings = reader.ofType('AWS::Lambda::EventSourceMapping').map(({ Properties }) => Properties);
  const most = mappings.map(
    ({ ScalingConfig }) => (ScalingConfig as { MaximumConcurrency?: number })?.MaximumConcurrency,
  );
  expect(most.filter((each) => each === 7)).toHaveLength(1);
  for (const host of ['http', 'http-shop-a'])
    expect(reader.environmentOf(`Agents/Host-${host}`)['STEADFAST_HOSTED']).toContain('"carries":[]');
  expect(hostsIn(stackOf({ pay: A, mail: B }, { hosting: 'shared' }))).toEqual([
    'Steadfast agents mail',
    'Steadfast agents pay',
    'Steadfast agents ship',
  ]);
  const own = { pay: { host: 'money' }, ship: { host: 'money' } };
  expect(hostsIn(stackOf({ pay: A }, { agentSettings: own }))).toContain('Steadfast agents pay, ship');
});

it('lets each read its own secret, and no other', () => {
  const reader = stackOf({ pay: A, mail: B });
  const read = reader
    .ofType('AWS::IAM::Policy')
    .flatMap((policy) => statementsIn(policy).map((statement) => ({ policy: policy.id, ...statement })))
    .filter(({ Action }) => /ssm|secretsmanager|kms/.test(String(Action)));
  expect(read.map(({ Action, Resource }) => [Action, JSON.stringify(Resource)])).toEqual([
    ['ssm:GetParameter', expect.stringMatching(/:ssm:.*:parameter\/shop\/a"/)],
    ['secretsmanager:GetSecretValue', expect.stringMatching(/:secretsmanager:.*:secret:shop\/b-\?{6}"/)],
  ]);
  expect(new Set(read.map(({ policy }) => policy)).size).toBe(2);
});

it('grants nothing where the environment has it, and refuses where nothing has', () => {
  const set = stackOf({ pay: A }, { agentSettings: { pay: { environment: { A: 'x' } } } });
  expect(JSON.stringify(set.ofType('AWS::IAM::Policy'))).not.toContain('ssm:');
  expect(() => stackOf({ pay: { secret: { env: 'A' } } })).toThrow(
    "agent 'pay': nothing says where the secret A lies: write secret('A', { parameter: '/…' })",
  );
});
