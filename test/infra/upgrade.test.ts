/**
 * Resources that contain data or are known outside survive an upgrade. CloudFormation replaces a resource if
 * its logical id changes, or a property that cannot change in place: a table would be empty, a queue would
 * lose its messages, a topic its subscribers, an API its address.
 *
 * If this test fails, change the construct back. If the replacement is intended, write into OPERATIONS.md
 * what happens to a running deployment, and only then change the list.
 */

import type { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Stack } from 'aws-cdk-lib/core';
import { INDEXES, SPARE_INDEXES, type TableIndex } from '../../lib/aws/names.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { FOUND } from './fixture.ts';
import { FATES, makeApp, makeStack, Reader, type Resource } from './template.ts';

interface Stateful {
  /** The properties whose change replaces it. */
  readonly replacedBy: readonly string[];
  /** The consequence for a running deployment. */
  readonly loss: string;
}
/** Types of resources that contain data, or whose name is used outside. */
const STATEFUL: Readonly<Record<string, Stateful>> = {
  'AWS::DynamoDB::GlobalTable': {
    // An index is not replaced but rebuilt, and meanwhile the supervisor is blind.
    replacedBy: ['TableName', 'KeySchema', 'GlobalSecondaryIndexes'],
    loss: 'a new, empty table takes its place: every execution, incident and idempotency key is lost to the deployment',
  },
  'AWS::SQS::Queue': {
    replacedBy: ['QueueName', 'FifoQueue'],
    loss: 'a new, empty queue takes its place: what waits is lost, and of a start queue its senders know the former address',
  },
  'AWS::Events::EventBus': {
    replacedBy: ['Name'],
    loss: 'a new bus takes its place: rules of others stay with the former one, and hear of nothing any more',
  },
  'AWS::Logs::LogGroup': {
    replacedBy: ['LogGroupName'],
    loss: 'a new log group takes its place: what is in the former one goes, or is read by nobody',
  },
  'AWS::SNS::Topic': {
    replacedBy: ['TopicName', 'FifoTopic'],
    loss: 'a new topic takes its place, without subscribers: no alarm reaches anybody',
  },
  'AWS::ApiGatewayV2::Api': {
    replacedBy: ['ProtocolType'],
    loss: 'a new API takes its place, at another address: every caller and every open callback calls the former one',
  },
};

const keys = (hash: string, range: string): object[] => [
  { AttributeName: hash, KeyType: 'HASH' },
  { AttributeName: range, KeyType: 'RANGE' },
];
const index = ({ name, pk, sk, projected }: TableIndex): object => ({
  IndexName: name,
  KeySchema: keys(pk, sk),
  Projection:
    projected.length === 0
      ? { ProjectionType: 'KEYS_ONLY' }
      : { NonKeyAttributes: projected, ProjectionType: 'INCLUDE' },
});

/** The access log's name ends with the first part of the stack's own id. */
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

/**
 * The deployed resources, with logical id, type, and the changes that replace them. One agent represents all.
 */
const DEPLOYED: Readonly<Record<string, object>> = {
  SteadfastStateTable0D45A083: {
    Type: 'AWS::DynamoDB::GlobalTable',
    KeySchema: keys('pk', 'sk'),
    GlobalSecondaryIndexes: [...INDEXES, ...SPARE_INDEXES].map(index),
  },
  SteadfastEvents515822EF: { Type: 'AWS::Events::EventBus', Name: 'TestSteadfastEventsD723B0D7' },
  SteadfastWakeUpsBus7FE02D06: { Type: 'AWS::Events::EventBus', Name: 'TestSteadfastWakeUpsBusB299D727' },
  // Functions find an agent's queue by its name: a change of the prefix replaces the queues of all agents.
  SteadfastAgentspayQueue454D92D3: { Type: 'AWS::SQS::Queue', QueueName: 'Test-2b69d643_pay' },
  SteadfastAgentsDeadLetterQueueCBB8A1D0: { Type: 'AWS::SQS::Queue' },
  SteadfastAgentspayLogs1EB94AAD: { Type: 'AWS::Logs::LogGroup' },
  SteadfastAgentssteadfastbulkQueue6B4E89B7: {
    Type: 'AWS::SQS::Queue',
    QueueName: 'Test-2b69d643_steadfast-bulk',
  },
  SteadfastAgentssteadfastbulkLogs972AB65C: { Type: 'AWS::Logs::LogGroup' },
  SteadfastSchedulerApi850C57D5: { Type: 'AWS::ApiGatewayV2::Api', ProtocolType: 'HTTP' },
  SteadfastSchedulerLogs217C4A2A: { Type: 'AWS::Logs::LogGroup' },
  SteadfastSchedulerAccessLog49928639: { Type: 'AWS::Logs::LogGroup', LogGroupName: ACCESS_LOG },
  SteadfastSupervisorLogs1EC64FE0: { Type: 'AWS::Logs::LogGroup' },
  SteadfastMonitoringTopic54E40E63: { Type: 'AWS::SNS::Topic' },
  SteadfastAuditLogs8385C4A5: { Type: 'AWS::Logs::LogGroup' },
};

/** Adds a trigger: messages in a replaced queue of it would be lost. */
const withTrigger = (stack: SteadfastStack): SteadfastStack => {
  stack.steadfast.startQueue('order');
  return stack;
};
const TRIGGER: Readonly<Record<string, object>> = {
  SteadfastTriggersorderqueueQueueAC5D386D: { Type: 'AWS::SQS::Queue' },
  SteadfastTriggersorderqueueDeadLetterQueueC858D247: { Type: 'AWS::SQS::Queue' },
  SteadfastTriggersorderqueueLogs4CE78127: { Type: 'AWS::Logs::LogGroup' },
};

/** The resources of an agent in a container, instead of a function's. */
const CONTAINER: Readonly<Record<string, object>> = {
  SteadfastAgentspayContainerLogs7BAFA966: { Type: 'AWS::Logs::LogGroup' },
};

const identityOf = ({ Type, Properties }: Resource): object => {
  const replacing = (STATEFUL[Type]?.replacedBy ?? []).filter((name) => name in Properties);
  return { Type, ...Object.fromEntries(replacing.map((name) => [name, Properties[name]])) };
};
/** One agent represents all. */
const OTHER_AGENTS = /\/Agents\/(ship|mail)\//;

/** Lists what a deployment of this template over the listed one would lose, one line each. */
function losses(reader: Reader, listed = DEPLOYED): string[] {
  const stateful = reader.all.filter(
    ({ Type, Metadata }) => Type in STATEFUL && !OTHER_AGENTS.test(Metadata?.['aws:cdk:path'] ?? ''),
  );
  const now: Readonly<Record<string, object>> = Object.fromEntries(
    stateful.map((resource) => [resource.id, identityOf(resource)]),
  );
  const gone = Object.entries(listed).flatMap(([id, identity]) => {
    if (JSON.stringify(now[id]) === JSON.stringify(identity)) return [];
    const { Type } = identity as { Type: string };
    const why =
      now[id] === undefined
        ? 'has another logical id, or is gone'
        : `would be replaced: ${JSON.stringify(identity)} becomes ${JSON.stringify(now[id])}`;
    return [`${id} (${Type}) ${why}; in a deployment that is running ${STATEFUL[Type]?.loss}`];
  });
  const strangers = Object.entries(now)
    .filter(([id]) => listed[id] === undefined)
    .map(
      ([id, identity]) =>
        `${id} is not in the list, so nothing would notice its loss: ${JSON.stringify(identity)}`,
    );
  return [...gone, ...strangers];
}

test.each(['dev', 'prod'] as const)('in %s nothing that holds data is renamed or replaced', (stage) => {
  const stack = withTrigger(makeStack({ removalPolicy: FATES[stage] }));
  expect(losses(new Reader(stack), { ...DEPLOYED, ...TRIGGER })).toEqual([]);
});

test('an agent that moves into a container keeps its queues', () => {
  const [pay, ...others] = FOUND.agents;
  const agents = [{ ...pay!, runsIn: 'container' as const }, ...others];
  const app = makeApp();
  const vpc = new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
  const stack = new SteadfastStack(app, 'Test', {
    workflows: { ...FOUND, agents },
    agentSettings: { pay: { container: { vpc } } },
  });
  const { SteadfastAgentspayLogs1EB94AAD: _, ...kept } = DEPLOYED;
  expect(losses(new Reader(stack), { ...kept, ...CONTAINER })).toEqual([]);
});

/** The removal policy of each type, and of each queue's purpose. */
const fates = (reader: Reader): Record<string, unknown> => {
  const kindOf = ({ Type, Metadata }: Resource): string =>
    Type === 'AWS::SQS::Queue'
      ? (/(Agents|Triggers)\/.*?(Queue|DeadLetterQueue)(?=\/Resource)/
          .exec(Metadata?.['aws:cdk:path'] ?? '')
          ?.slice(1)
          .join('/') ?? '')
      : Type;
  const held = reader.all.filter(({ Type }) =>
    ['AWS::Logs::LogGroup', 'AWS::DynamoDB::GlobalTable', 'AWS::SQS::Queue'].includes(Type),
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
    // The table is protected against deletion, and a roll back that deletes it would fail.
    'AWS::DynamoDB::GlobalTable': ['Retain', 'Retain'],
    'AWS::Logs::LogGroup': inUse,
    'Triggers/Queue': inUse,
    'Triggers/DeadLetterQueue': inUse,
    'Agents/Queue': gone,
    'Agents/DeadLetterQueue': gone,
  });
  const open = new Reader(makeStack({ removalPolicy: FATES.prod, deletionProtection: false }));
  expect(fates(open)['AWS::DynamoDB::GlobalTable']).toEqual(inUse);
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
  const said = losses(new Reader(stack));
  for (const id of Object.keys(DEPLOYED))
    expect(said).toContainEqual(
      expect.stringMatching(
        `^${id} \\(.*\\) has another logical id, or is gone; in a deployment that is running a new`,
      ),
    );
  expect(said).toHaveLength(2 * Object.keys(DEPLOYED).length);
  const rekeyed = makeStack();
  const { own } = rekeyed.steadfast.stateTable;
  (own.node.defaultChild as CfnGlobalTable).addPropertyOverride('KeySchema.1.AttributeName', 'other');
  expect(losses(new Reader(rekeyed))).toEqual([
    expect.stringMatching(
      /^SteadfastStateTable0D45A083 .* would be replaced: .*; in a deployment that is running a new, empty table/,
    ),
  ]);
});

test('a restored table takes the place of the stack’s own, which stays', () => {
  const reader = new Reader(makeStack({ removalPolicy: FATES.prod, restoredTable: 'restored' }));
  expect(losses(reader)).toEqual([]);
  for (const path of ['Scheduler', 'Supervisor', 'Agents/pay']) {
    expect(reader.environmentOf(path)['STEADFAST_TABLE']).toBe('restored');
    const tables = reader.matrixOf(path).filter((line) => line.startsWith('dynamodb:'));
    expect(tables.filter((line) => !line.includes(':table/restored'))).toEqual([]);
  }
});
