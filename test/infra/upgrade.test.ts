/**
 * What holds data or is known outside keeps its identity over an upgrade: CloudFormation replaces a resource whose logical
 * id changes, or one of the properties that it cannot change in place. A table would come back empty, a queue would lose
 * its messages, a topic its subscribers, an API its address.
 *
 * If this test fails, change the construct back. If the replacement is meant, write into OPERATIONS.md what happens to a
 * deployment that is running, and only then change the list.
 */

import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { Stack } from 'aws-cdk-lib/core';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { FATES, makeApp, makeStack, Reader, type Resource } from './template.ts';

/** Types that hold something, and the properties whose change replaces them. */
const REPLACED_BY: Readonly<Record<string, readonly string[]>> = {
  // An index is not replaced but built anew, and while it is, the supervisor is blind.
  'AWS::DynamoDB::Table': ['TableName', 'KeySchema', 'GlobalSecondaryIndexes'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::Events::EventBus': ['Name'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::ApiGatewayV2::Api': ['ProtocolType'],
};

const keys = (hash: string, range: string): object[] => [
  { AttributeName: hash, KeyType: 'HASH' },
  { AttributeName: range, KeyType: 'RANGE' },
];
const index = (name: string, hash: string, range: string): object => ({
  IndexName: name,
  KeySchema: keys(hash, range),
  Projection: { ProjectionType: 'KEYS_ONLY' },
});

/** Its end is the first part of the stack's own id. */
const ACCESS_LOG = {
  'Fn::Join': [
    '',
    [
      '/aws/vendedlogs/apis/Test-Steadfast-D56510DA-',
      {
        'Fn::Select': [
          0,
          { 'Fn::Split': ['-', { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] }] },
        ],
      },
    ],
  ],
};

/** As deployed so far: logical id, type, and what would replace it; of the agents one stands for all. */
const DEPLOYED: Readonly<Record<string, object>> = {
  SteadfastStateTable0D45A083: {
    Type: 'AWS::DynamoDB::Table',
    KeySchema: keys('pk', 'sk'),
    GlobalSecondaryIndexes: [index('wake', 'wakeShard', 'wakeAt'), index('list', 'listKey', 'startedAt')],
  },
  SteadfastEvents515822EF: { Type: 'AWS::Events::EventBus', Name: 'TestSteadfastEventsD723B0D7' },
  // By its name others find it: a change of the prefix replaces the queues of all agents.
  SteadfastAgentspayQueue454D92D3: { Type: 'AWS::SQS::Queue', QueueName: 'Test-2b69d643_pay' },
  SteadfastAgentspayDeadLetterQueue102C0B6C: { Type: 'AWS::SQS::Queue' },
  SteadfastAgentspayLogs1EB94AAD: { Type: 'AWS::Logs::LogGroup' },
  SteadfastSchedulerApi850C57D5: { Type: 'AWS::ApiGatewayV2::Api', ProtocolType: 'HTTP' },
  SteadfastSchedulerLogs217C4A2A: { Type: 'AWS::Logs::LogGroup' },
  SteadfastSchedulerAccessLog49928639: { Type: 'AWS::Logs::LogGroup', LogGroupName: ACCESS_LOG },
  SteadfastSupervisorLogs1EC64FE0: { Type: 'AWS::Logs::LogGroup' },
  SteadfastMonitoringTopic54E40E63: { Type: 'AWS::SNS::Topic' },
  SteadfastAuditLogs8385C4A5: { Type: 'AWS::Logs::LogGroup' },
};

/** A trigger's own: what waits in a queue that is replaced is lost. */
const withTrigger = (stack: SteadfastStack): SteadfastStack => {
  stack.steadfast.startQueue('order');
  return stack;
};
const TRIGGER: Readonly<Record<string, object>> = {
  SteadfastTriggersorderqueueQueueAC5D386D: { Type: 'AWS::SQS::Queue' },
  SteadfastTriggersorderqueueDeadLetterQueueC858D247: { Type: 'AWS::SQS::Queue' },
  SteadfastTriggersorderqueueLogs4CE78127: { Type: 'AWS::Logs::LogGroup' },
};

const identityOf = ({ Type, Properties }: Resource): object => {
  const replacing = (REPLACED_BY[Type] ?? []).filter((name) => name in Properties);
  return { Type, ...Object.fromEntries(replacing.map((name) => [name, Properties[name]])) };
};
const identities = (reader: Reader): Record<string, object> =>
  Object.fromEntries(
    reader.all
      .filter(({ Type }) => Type in REPLACED_BY)
      .map((resource) => [resource.id, identityOf(resource)]),
  );
/** Those of the list that are gone or would be replaced. */
const lost = (reader: Reader): string[] => {
  const now = identities(reader);
  return Object.keys(DEPLOYED).filter((id) => JSON.stringify(now[id]) !== JSON.stringify(DEPLOYED[id]));
};

test.each(['dev', 'prod'] as const)('in %s nothing that holds data is renamed or replaced', (stage) => {
  const stack = withTrigger(makeStack({ removalPolicy: FATES[stage] }));
  const now = identities(new Reader(stack));
  for (const [id, identity] of Object.entries({ ...DEPLOYED, ...TRIGGER }))
    expect({ id, ...now[id] }).toEqual({ id, ...identity });
});

/** Type, or what a queue is for → what becomes of it. */
const fates = (reader: Reader): Record<string, unknown> => {
  const kindOf = ({ Type, Metadata }: Resource): string =>
    Type === 'AWS::SQS::Queue'
      ? (/(Agents|Triggers)\/[^/]+\/\w+/.exec(Metadata?.['aws:cdk:path'] ?? '')?.[0].replace(/\/[^/]+/, '') ??
        '')
      : Type;
  const held = reader.all.filter(({ Type }) =>
    ['AWS::Logs::LogGroup', 'AWS::DynamoDB::Table', 'AWS::SQS::Queue'].includes(Type),
  );
  return Object.fromEntries(
    held.map((resource) => [kindOf(resource), [resource.DeletionPolicy, resource.UpdateReplacePolicy]]),
  );
};

test('what waits to be started stays with the table and the logs; a deployment that never was leaves nothing', () => {
  const inUse = ['RetainExceptOnCreate', 'Retain'];
  const gone = ['Delete', 'Delete'];
  const prod = new Reader(withTrigger(makeStack({ removalPolicy: FATES.prod })));
  expect(fates(prod)).toEqual({
    // It is protected against deletion, which a roll back would fail on.
    'AWS::DynamoDB::Table': ['Retain', 'Retain'],
    'AWS::Logs::LogGroup': inUse,
    'Triggers/Queue': inUse,
    'Triggers/DeadLetterQueue': inUse,
    'Agents/Queue': gone,
    'Agents/DeadLetterQueue': gone,
  });
  const open = new Reader(makeStack({ removalPolicy: FATES.prod, deletionProtection: false }));
  expect(fates(open)['AWS::DynamoDB::Table']).toEqual(inUse);
  const dev = fates(new Reader(withTrigger(makeStack())));
  expect(Object.values(dev)).toEqual(Object.keys(dev).map(() => gone));
});

test('a trigger of another name leaves the queues of the former one, and has its own', () => {
  const queuesOf = (name: string): string[] => {
    const stack = makeStack({ removalPolicy: FATES.prod });
    stack.steadfast.startQueue('order', { name });
    return new Reader(stack)
      .ofType('AWS::SQS::Queue')
      .filter(({ id }) => id.includes('Triggers'))
      .map(({ id }) => id);
  };
  const [former, renamed] = [queuesOf('intake'), queuesOf('orders')];
  expect([former.length, renamed.length]).toEqual([2, 2]);
  expect(former.filter((id) => renamed.includes(id))).toEqual([]);
});

test('a construct of another name would be noticed, a table with another key too', () => {
  const stack = new Stack(makeApp(), 'Test');
  const renamed = new Steadfast(stack, 'Renamed', { workflows: FOUND });
  expect(renamed.deploymentName).not.toBe(makeStack().steadfast.deploymentName);
  expect(lost(new Reader(stack))).toEqual(Object.keys(DEPLOYED));
  const rekeyed = makeStack();
  const { own } = rekeyed.steadfast.stateTable;
  (own.node.defaultChild as CfnTable).addPropertyOverride('KeySchema.1.AttributeName', 'other');
  expect(lost(new Reader(rekeyed))).toEqual(['SteadfastStateTable0D45A083']);
});

test('a restored table takes the place of the stack’s own, which stays', () => {
  const reader = new Reader(makeStack({ removalPolicy: FATES.prod, restoredTable: 'restored' }));
  expect(lost(reader)).toEqual([]);
  for (const path of ['Scheduler', 'Supervisor', 'Agents/pay']) {
    expect(reader.environmentOf(path)['STEADFAST_TABLE']).toBe('restored');
    const tables = reader.matrixOf(path).filter((line) => line.startsWith('dynamodb:'));
    expect(tables.filter((line) => !line.includes(':table/restored'))).toEqual([]);
  }
});
