/** Functions that host several agents: what the agents share, what each has alone, refusals and reports. */

import { Bucket } from 'aws-cdk-lib/aws-s3';
import { type IVpc, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { ApplicationLogLevel } from 'aws-cdk-lib/aws-lambda';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Duration, Stack } from 'aws-cdk-lib/core';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import type { Discovery } from '../../lib/infra/discovery.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { FOUND } from './fixture.ts';
import { makeApp, makeStack, Reader, statementsIn } from './template.ts';

type ByAgent = Readonly<Record<string, AgentSettings>>;
const CHECKOUT: ByAgent = { pay: { host: 'checkout' }, mail: { host: 'checkout' } };
const withSettings = (agentSettings: ByAgent, more: Partial<SteadfastProps> = {}): Reader =>
  new Reader(makeStack({ agentSettings, ...more }));
const functionsOf = (reader: Reader) =>
  reader
    .ofType('AWS::Lambda::Function')
    .filter(({ Properties }) => String(Properties['Description']).startsWith('Steadfast agent'));
const hosted = (reader: Reader): { carries: string[]; longestMs?: number; rates: object } =>
  JSON.parse(String(reader.environmentOf('Agents/Host-checkout')['STEADFAST_HOSTED']));

test('agents of a host have one function, role and log group, and a queue and a mapping each', () => {
  const [alone, shared] = [withSettings({}), withSettings(CHECKOUT)];
  const less = (type: string): number => alone.ofType(type).length - shared.ofType(type).length;
  expect(['AWS::Lambda::Function', 'AWS::IAM::Role', 'AWS::Logs::LogGroup'].map(less)).toEqual([1, 1, 1]);
  expect(['AWS::SQS::Queue', 'AWS::Lambda::EventSourceMapping'].map(less)).toEqual([0, 0]);
  const [host] = functionsOf(shared).filter(({ Properties }) =>
    String(Properties['Description']).includes('pay, mail'),
  );
  // The longest attempt of its agents, and the queues' time accordingly.
  expect(host?.Properties).toMatchObject({ Timeout: 75, RecursiveLoop: 'Allow' });
  const visible = shared.ofType('AWS::SQS::Queue').map(({ Properties }) => Properties['VisibilityTimeout']);
  expect(visible.filter((seconds) => seconds === 450)).toHaveLength(2);
  // The host may send to everything that any of its agents may send to.
  expect(shared.environmentOf('Agents/Host-checkout')['STEADFAST_AGENTS']).toBe('pay,ship,mail');
});

test('all that name no host share one if asked, but those that cannot', () => {
  const agents = FOUND.agents.map((one) => ({
    ...one,
    timeoutMs: 60_000,
    ...(one.name === 'ship' ? { isolate: true as const } : {}),
  }));
  const reader = withSettings({}, { hosting: 'shared', workflows: { ...FOUND, agents } });
  const said = functionsOf(reader).map(({ Properties }) => Properties['Description']);
  expect(said).toEqual(expect.arrayContaining(['Steadfast agents pay, mail', 'Steadfast agent ship']));
});

test('messages are handed over to no agent that is unsafe or has a limit of its own, unless its author asks', () => {
  const agents = FOUND.agents.map((one) => ({
    ...one,
    timeoutMs: 60_000,
    ...(one.name === 'ship' ? { isUnsafe: true as const } : {}),
  }));
  const carriedWith = (settings: ByAgent): string[] => {
    const all = Object.fromEntries(agents.map(({ name }) => [name, { host: 'checkout', ...settings[name] }]));
    return hosted(withSettings(all, { workflows: { ...FOUND, agents } })).carries;
  };
  expect(carriedWith({})).toEqual(['pay', 'mail']);
  expect(carriedWith({ pay: { rate: '5/s' }, mail: { maxConcurrency: 5 } })).toEqual([]);
  expect(carriedWith({ ship: { carryOn: true }, pay: { carryOn: false } })).toEqual(['ship', 'mail']);
});

test('each agent has its own rate', () => {
  const reader = withSettings({ ...CHECKOUT, pay: { host: 'checkout', rate: '50/s' } });
  expect(hosted(reader).rates).toEqual({ pay: '50/s' });
  expect(reader.environmentOf('Agents/Host-checkout')).not.toHaveProperty('STEADFAST_RATE');
});

test('reserves nothing unless asked, and then enough for all, for whom a run is shorter', () => {
  expect(hosted(withSettings(CHECKOUT))).not.toHaveProperty('longestMs');
  const reserving = (reservedConcurrency: number): ByAgent => ({
    pay: { host: 'checkout', maxConcurrency: 5, reservedConcurrency },
    mail: { host: 'checkout', maxConcurrency: 4 },
  });
  expect(hosted(withSettings(reserving(9))).longestMs).toBe(2_000);
  expect(() => withSettings(reserving(8))).toThrow(
    "host 'checkout': reservedConcurrency is 8, less than the maxConcurrency of its agents together, 9",
  );
});

test('adds up what one function can have, and refuses what clashes', () => {
  const both = (pay: AgentSettings, mail: AgentSettings): ByAgent => ({
    pay: { host: 'checkout', ...pay },
    mail: { host: 'checkout', ...mail },
  });
  const reader = withSettings(
    both(
      { memorySize: 512, environment: { A: '1', S: 'x' } },
      { environment: { B: '2', S: 'x' }, logLevel: ApplicationLogLevel.DEBUG },
    ),
  );
  expect(reader.environmentOf('Agents/Host-checkout')).toMatchObject({ A: '1', B: '2', S: 'x' });
  const [host] = functionsOf(reader).filter(({ Properties }) => Properties['MemorySize'] === 512);
  expect(host?.Properties).toMatchObject({ LoggingConfig: { ApplicationLogLevel: 'DEBUG' } });
  expect(() => withSettings(both({ environment: { A: '1' } }, { environment: { A: '2' } }))).toThrow(
    "host 'checkout': environment.A of agent 'pay' and of 'mail' differ, and one function has one",
  );
  const stack = new Stack(makeApp(), 'Test');
  const vpcs = [1, 2].map((n) => new Vpc(stack, `Vpc${n}`) as IVpc);
  const group = new SecurityGroup(stack, 'Group', { vpc: vpcs[0]! });
  const network = () => ({ vpc: vpcs[0]!, securityGroups: [group], vpcSubnets: { onePerAz: true } });
  const alike = { workflows: FOUND, agentSettings: both(network(), network()) };
  expect(() => new Steadfast(stack, 'Alike', alike)).not.toThrow();
  const settings = both({ vpc: vpcs[0]! }, { vpc: vpcs[1]! });
  expect(() => new Steadfast(stack, 'Steadfast', { workflows: FOUND, agentSettings: settings })).toThrow(
    "host 'checkout': vpc of agent 'pay' and of 'mail' differ",
  );
});

test('a short agent beside a much longer one is allowed explicitly', () => {
  const settings = (pay: AgentSettings): ByAgent => ({ pay: { host: 'all', ...pay }, ship: { host: 'all' } });
  expect(() => withSettings(settings({}))).toThrow(
    "agent 'pay': its function in host 'all' would have the timeout of 'ship', 855 s instead of 36 s",
  );
  expect(() => withSettings(settings({ longHost: true }))).not.toThrow();
});

test('refuses a host for an agent that cannot share a function, and an invalid name', () => {
  const agents = FOUND.agents.map((one) => ({ ...one, isolate: true as const }));
  expect(() => withSettings(CHECKOUT, { workflows: { ...FOUND, agents } })).toThrow(
    "agent 'pay': host: it can share no function, for it has processes of its own (isolate); leave out host",
  );
  expect(() => withSettings({ pay: { host: 'Check out' } })).toThrow("agent 'pay': host is 'Check out'");
});

test('says which agent gains which permission', () => {
  const app = makeApp();
  const stack = new SteadfastStack(app, 'Test', { workflows: FOUND, agentSettings: CHECKOUT });
  new Bucket(stack, 'Bills').grantRead(stack.steadfast.agent('pay'));
  app.synth();
  const said = stack.node
    .findAll()
    .flatMap(({ node }) => node.metadata.map(({ data }) => String(data)))
    .join('\n');
  expect(said).toContain("agent 'mail' shares its role with the other agents of host 'checkout'");
  expect(said).toContain('s3:GetObject*');
  expect(said).not.toContain("agent 'pay' shares its role");
});

test('says nothing of a permission that each agent of a host was granted', () => {
  const app = makeApp();
  const stack = new SteadfastStack(app, 'Test', { workflows: FOUND, agentSettings: CHECKOUT });
  const { steadfast } = stack;
  for (const name of ['pay', 'mail']) steadfast.supervisor.function.grantInvoke(steadfast.agent(name));
  app.synth();
  const said = stack.node.findAll().flatMap(({ node }) => node.metadata.map(({ data }) => String(data)));
  expect(said.filter((text) => text.includes('shares its role'))).toEqual([]);
  const granted = new Reader(stack)
    .ofType('AWS::IAM::Policy')
    .flatMap(statementsIn)
    .filter(({ Action }) => Action === 'lambda:InvokeFunction');
  expect(granted).toHaveLength(1);
});

const HUNDRED = Array.from({ length: 100 }, (_, n) => `agent-${n}`);
const ALL: Discovery = {
  ...FOUND,
  workflows: [{ name: 'all', file: '/nowhere/all/workflow.ts', exportName: 'all', agents: HUNDRED }],
  agents: HUNDRED.map((name) => ({ name, timeoutMs: 20_000, file: `/nowhere/${name}.ts`, peers: HUNDRED })),
};
const inTwentyHosts = (settings: AgentSettings = {}): ByAgent =>
  Object.fromEntries(HUNDRED.map((name, n) => [name, { host: `host-${n % 20}`, ...settings }]));

test('a hundred agents in twenty hosts fit into a stack', () => {
  const reader = withSettings(inTwentyHosts(), { workflows: ALL, agentConcurrency: 2 });
  expect(reader.all.length).toBeLessThanOrEqual(380);
});

test('they do with a key and a network of their own and four triggers', () => {
  const stack = new Stack(makeApp(), 'Test');
  const vpc = new Vpc(stack, 'Vpc') as IVpc;
  const steadfast = new Steadfast(stack, 'Steadfast', {
    workflows: ALL,
    agentConcurrency: 2,
    encryptionKey: new Key(stack, 'Key'),
    agentSettings: inTwentyHosts({ vpc }),
  });
  const input = {};
  steadfast.triggerOnObjectCreated(new Bucket(stack, 'Drop'), 'all', { input });
  steadfast.triggerOnEvent({ source: ['shop'] }, 'all', { input });
  steadfast.triggerOnSchedule(ScheduleExpression.rate(Duration.hours(1)), 'all', { input });
  steadfast.startQueue('all', { input });
  expect(new Reader(stack).all.length).toBeLessThan(480);
});
