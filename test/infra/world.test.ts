/**
 * The outside world in the deployed example: who may call it, its permissions, and the message of a stage
 * without it.
 */

import { addWorld, hosts, withoutWorld } from '../../examples/gallery/outside-world.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { findingsOf, FATES, makeApp, Reader, type Resource, statementsIn } from './template.ts';

const workflows = await discoverWorkflows({
  root: PROJECT_ROOT,
  folders: ['examples'],
  only: ['order-fulfilment'],
});
const triggers = workflows.triggers.filter(({ trigger }) => trigger.on !== 'object');
const makeStack = (stage: keyof typeof FATES): SteadfastStack =>
  new SteadfastStack(makeApp(), 'Test', {
    workflows: { ...workflows, triggers },
    settings: hosts,
    removalPolicy: FATES[stage],
  });

const stack = makeStack('dev');
addWorld(stack);
const reader = new Reader(stack);

const ofWorld = (type: string): Resource[] => reader.ofType(type).filter(({ id }) => id.startsWith('World'));
const AGENTS = ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer', 'authorise-card'];
const HOST = 'Agents/Host-orders';

test('is a function with an address behind IAM, and a table; both go with the stack', () => {
  expect(ofWorld('AWS::Lambda::Url').map(({ Properties }) => Properties['AuthType'])).toEqual(['AWS_IAM']);
  expect(ofWorld('AWS::Lambda::Permission')).toEqual([]);
  for (const type of ['AWS::DynamoDB::Table', 'AWS::Logs::LogGroup'])
    expect(ofWorld(type).map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(['Delete']);
});

test('may read and write items of its table, write its log, and no more', () => {
  const actions = ofWorld('AWS::IAM::Policy')
    .flatMap(statementsIn)
    .flatMap(({ Action }) => Action);
  expect(actions.toSorted()).toEqual([
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
  ]);
});

test('may be called by the function of the five agents and no other, and it knows where it is', () => {
  const callers = reader
    .ofType('AWS::IAM::Policy')
    .filter((policy) => JSON.stringify(policy).includes('lambda:InvokeFunctionUrl'));
  expect(callers).toHaveLength(1);
  expect(reader.functionOf(HOST).Properties['Description']).toBe(`Steadfast agents ${AGENTS.join(', ')}`);
  const mayCall = reader.statementsOf(HOST).filter(({ Action }) => String(Action).startsWith('lambda:'));
  expect(mayCall.map(({ Action }) => Action)).toEqual(['lambda:InvokeFunctionUrl', 'lambda:InvokeFunction']);
  expect(Object.keys(reader.environmentOf(HOST))).toEqual(
    expect.arrayContaining(['WORLD_URL', 'WORLD_AUTH']),
  );
});

test('each agent was granted that call, so none gains it by sharing its role', () => {
  const said = stack.node.findAll().flatMap(({ node }) => node.metadata.map(({ data }) => String(data)));
  expect(said.filter((text) => text.includes('shares its role'))).toEqual([]);
});

test('cdk-nag finds nothing in it', () => {
  expect(findingsOf(stack).filter((finding) => finding.includes('Test/World'))).toEqual([]);
});

test('a stage without it says what that means, and orders nothing by itself', () => {
  const prod = makeStack('prod');
  withoutWorld(prod);
  const { all } = new Reader(prod);
  expect(all.filter(({ id }) => id.startsWith('World'))).toEqual([]);
  const schedules = all.filter(({ Type }) => Type === 'AWS::Scheduler::Schedule');
  expect(schedules.map(({ Properties }) => Properties['State'])).toEqual(['DISABLED']);
  expect(prod.node.metadata.map(({ data }) => String(data)).join()).toContain('no outside world');
  expect(
    reader.ofType('AWS::Scheduler::Schedule').map(({ Properties }) => Properties['State']),
  ).not.toContain('DISABLED');
});
