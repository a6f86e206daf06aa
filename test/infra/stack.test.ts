import { Capture, Match } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Duration } from 'aws-cdk-lib/core';
import { MIN_RETENTION_HOURS } from '../../lib/aws/names.ts';
import type { StartsPerSecond } from '../../lib/infra/state-table.ts';
import { MIN_RETENTION_MS } from '../../lib/core/records/retention.ts';
import { FOUND } from './fixture.ts';
import { FATES, makeStack, Reader, replicaOf, statementsIn } from './template.ts';

const AGENTS = ['pay', 'ship', 'mail'] as const;
const dev = new Reader(makeStack());

const fate = (reader: Reader): unknown[] => {
  const table = reader.one('AWS::DynamoDB::GlobalTable', 'State');
  return [table.DeletionPolicy, replicaOf(table)['DeletionProtectionEnabled']];
};
const agentsOf = (path: string): unknown => dev.environmentOf(path)['STEADFAST_AGENTS'];

describe('the state table', () => {
  test('has the keys and the indexes that the store reads', () => {
    dev.template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: Match.arrayWith([
        { AttributeName: 'wakeShard', AttributeType: 'S' },
        { AttributeName: 'wakeAt', AttributeType: 'N' },
        { AttributeName: 'listKey', AttributeType: 'S' },
        { AttributeName: 'startedAt', AttributeType: 'N' },
      ]),
      GlobalSecondaryIndexes: [
        { IndexName: 'wake', Projection: { ProjectionType: 'INCLUDE' } },
        { IndexName: 'list', Projection: { ProjectionType: 'INCLUDE' } },
        { IndexName: 'ended', Projection: { ProjectionType: 'INCLUDE' } },
        ...['code', 'tag1', 'tag2', 'tag3'].map((IndexName) => ({
          IndexName,
          Projection: { ProjectionType: 'KEYS_ONLY' },
        })),
        // Nothing writes them: a release that needs an index uses one of them instead of making a new one.
        ...['spare1', 'spare2'].map((IndexName) => ({
          IndexName,
          Projection: { ProjectionType: 'INCLUDE' },
        })),
      ].map((index) => Match.objectLike(index)),
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      // One region: a table of the older type could not get another one later.
      Replicas: [
        {
          Region: { Ref: 'AWS::Region' },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ].map((replica) => Match.objectLike(replica)),
    });
  });

  test('goes with a dev stack; stays and cannot be deleted in prod', () => {
    const prod = new Reader(makeStack({ removalPolicy: FATES.prod }));
    expect(fate(dev)).toEqual(['Delete', false]);
    expect(fate(prod)).toEqual(['Retain', true]);
  });
});

test('a stack that is kept cannot be deleted by mistake, unless that is said otherwise', () => {
  const isProtected = (props: object): boolean | undefined => makeStack(props).terminationProtection;
  expect(isProtected({ removalPolicy: FATES.prod })).toBe(true);
  expect(isProtected({ removalPolicy: FATES.prod, terminationProtection: false })).toBe(false);
  expect(isProtected({ removalPolicy: FATES.dev })).toBe(false);
});

test('what is charged for is tagged by stack and agent, for cost allocation', () => {
  const tagsOf = ({ Properties }: { Properties: Record<string, unknown> }): Record<string, string> =>
    Object.fromEntries(
      (Properties['Tags'] as { Key: string; Value: string }[]).map(({ Key, Value }) => [Key, Value]),
    );
  const all = ['AWS::Lambda::Function', 'AWS::SQS::Queue', 'AWS::Logs::LogGroup', 'AWS::S3::Bucket'].flatMap(
    (type) => dev.ofType(type),
  );
  for (const one of all) expect(tagsOf(one)).toMatchObject({ 'steadfast:stack': 'Test' });
  expect(tagsOf(dev.functionOf('Agents/pay'))).toMatchObject({ 'steadfast:agent': 'pay' });
  expect(tagsOf(dev.functionOf('Supervisor'))).not.toHaveProperty('steadfast:agent');
});

describe('starts a second', () => {
  const tableOf = (startsPerSecond?: StartsPerSecond): Record<string, unknown> =>
    new Reader(makeStack(startsPerSecond === undefined ? {} : { startsPerSecond })).one(
      'AWS::DynamoDB::GlobalTable',
      'State',
    ).Properties;
  const warmOf = (properties: Record<string, unknown>): unknown[] =>
    [
      properties,
      ...(properties['GlobalSecondaryIndexes'] as (Record<string, unknown> & { IndexName: string })[]),
    ].flatMap(({ IndexName = 'table', WarmThroughput: warm }) =>
      warm === undefined ? [] : [[IndexName, Object(warm)]],
    );

  test('are what table and indexes are warm for, where that is more than they take on their first day', () => {
    expect(warmOf(tableOf())).toEqual([]);
    expect(warmOf(tableOf({ warm: 285 }))).toEqual([]);
    expect(warmOf(tableOf({ warm: 1_000 }))).toEqual([
      ['table', { WriteUnitsPerSecond: 14_000 }],
      ['wake', { WriteUnitsPerSecond: 6_000 }],
    ]);
  });

  test('bound what the table writes', () => {
    expect(tableOf({ most: 2_000 })).toMatchObject({
      WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 28_000 },
    });
    expect(tableOf()).not.toHaveProperty('WriteOnDemandThroughputSettings');
    expect(() => tableOf({ most: 0 })).toThrow('startsPerSecond.most is 0; allowed: a number above 0');
    expect(() => tableOf({ warm: 9, most: 8 })).toThrow('most is 8, less than warm, which is 9');
  });
});

describe('an agent', () => {
  test.each(AGENTS)('%s: its queue gives up to the dead-letter queue of all after five receives', (name) => {
    const dead = dev.one('AWS::SQS::Queue', 'Agents/DeadLetterQueue');
    expect(dev.one('AWS::SQS::Queue', `Agents/${name}/Queue`).Properties).toMatchObject({
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': [dead.id, 'Arn'] }, maxReceiveCount: 5 },
      SqsManagedSseEnabled: true,
    });
    expect(dead.Properties).toMatchObject({
      MessageRetentionPeriod: 14 * 86_400,
      SqsManagedSseEnabled: true,
    });
  });

  test('its queue takes nothing in plain text; one policy says so of all of them', () => {
    const [policy, ...others] = dev
      .ofType('AWS::SQS::QueuePolicy')
      .filter(({ Metadata }) => Metadata?.['aws:cdk:path']?.includes('/Agents/'));
    expect(others).toEqual([]);
    const queues = dev
      .ofType('AWS::SQS::Queue')
      .filter(({ Metadata }) => Metadata?.['aws:cdk:path']?.includes('/Agents/'));
    expect(policy?.Properties['Queues']).toHaveLength(queues.length);
    expect(policy?.Properties['Queues']).toEqual(
      expect.arrayContaining(queues.map(({ id }) => ({ Ref: id }))),
    );
    expect(statementsIn(policy!)).toEqual([
      {
        Action: 'sqs:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Resource: '*',
      },
    ]);
  });

  test.each([
    ['pay', 21 + 15],
    ['ship', 840 + 15],
    ['mail', 60 + 15],
  ])(
    '%s: its function outlives its author’s limit by 15 s, its messages stay hidden six times as long',
    (name, s) => {
      expect(dev.functionOf(`Agents/${name}`).Properties['Timeout']).toBe(s);
      expect(dev.one('AWS::SQS::Queue', `Agents/${name}/Queue`).Properties['VisibilityTimeout']).toBe(6 * s);
    },
  );

  test('takes one message at a time, says which failed, and has a limit to its concurrency', () => {
    const mappings = dev.ofType('AWS::Lambda::EventSourceMapping');
    expect(mappings).toHaveLength(AGENTS.length + 1);
    for (const { Properties, Metadata } of mappings) {
      expect(Properties).toMatchObject({
        BatchSize: 1,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: {
          MaximumConcurrency: Metadata?.['aws:cdk:path']?.includes('steadfast-bulk') === true ? 10 : 50,
        },
      });
    }
  });

  test('is refused when no Lambda function can last as long', () => {
    const agents = [{ ...FOUND.agents[0]!, timeoutMs: 886_000 }];
    expect(() => makeStack({ workflows: { ...FOUND, agents } })).toThrow(
      "agent 'pay': a timeout of 886 s is too long for a Lambda function; at most 885 s are allowed",
    );
  });

  test('has the names of the agents it works with in its environment, and no others', () => {
    expect(agentsOf('Agents/pay')).toBe('pay,ship');
    expect(agentsOf('Agents/mail')).toBe('mail');
    expect(agentsOf('Scheduler')).toBe('pay,ship,mail,steadfast-bulk');
    expect(agentsOf('Supervisor')).toBe('pay,ship,mail,steadfast-bulk');
    expect(agentsOf('Agents/steadfast-bulk')).toBe('pay,ship,mail,steadfast-bulk');
  });
});

describe('functions', () => {
  const roles = [
    'Scheduler',
    'Supervisor',
    'Audit',
    ...[...AGENTS, 'steadfast-bulk'].map((name) => `Agents/${name}`),
  ];

  test.each(roles)('%s: its own log group with an end, JSON logs, arm64, the newest runtime', (path) => {
    const group = dev.one('AWS::Logs::LogGroup', `${path}/Logs`);
    expect(group.Properties['RetentionInDays']).toBe(30);
    expect(dev.functionOf(path).Properties).toMatchObject({
      LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: group.id } },
      Architectures: ['arm64'],
      Runtime: 'nodejs24.x',
    });
  });

  test('only the scheduler and the agents may run in a long chain', () => {
    const allowed = roles.filter((path) => dev.functionOf(path).Properties['RecursiveLoop'] === 'Allow');
    expect(allowed).toEqual(roles.filter((path) => !['Supervisor', 'Audit'].includes(path)));
  });

  test('nothing but an agent’s queue has a name of our choice, so that a second copy fits into the account', () => {
    const named = dev.all.filter(({ Properties }) =>
      ['TableName', 'QueueName', 'RoleName'].some((key) => key in Properties),
    );
    const queues = [...AGENTS, 'steadfast-bulk'].map((name) =>
      dev.one('AWS::SQS::Queue', `Agents/${name}/Queue`),
    );
    expect(named).toEqual(queues);
  });
});

describe('the API', () => {
  test('asks for a signature on every route, and every route ends in the scheduler', () => {
    const routes = dev.ofType('AWS::ApiGatewayV2::Route');
    const integration = dev.ofType('AWS::ApiGatewayV2::Integration');
    expect(integration).toHaveLength(1);
    for (const { Properties } of routes) {
      expect(Properties).toMatchObject({
        AuthorizationType: 'AWS_IAM',
        Target: { 'Fn::Join': ['', ['integrations/', { Ref: integration[0]!.id }]] },
      });
    }
    expect(routes.map(({ Properties }) => Properties['RouteKey'])).toEqual(
      expect.arrayContaining([
        '$default',
        'POST /workflows/{name}/executions',
        'POST /callbacks/{token}/fail',
      ]),
    );
  });

  test('may call the scheduler from its routes and from $default', () => {
    const sources = dev
      .ofType('AWS::Lambda::Permission')
      .filter(({ Properties }) => Properties['Principal'] === 'apigateway.amazonaws.com')
      .map(({ Properties }) => JSON.stringify(Properties['SourceArn']).match(/"([^"]*)"\]\]\}$/)?.[1]);
    expect(new Set(sources)).toEqual(new Set(['/*/$default', '/*/*/*']));
  });

  test('logs each access, but no path, query or body: a callback’s token is in its path', () => {
    const format = new Capture();
    dev.template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      AutoDeploy: true,
      AccessLogSettings: { Format: format },
    });
    expect(Object.keys(JSON.parse(format.asString()) as object)).toContain('route');
    expect(format.asString()).not.toMatch(/path|query|body/i);
  });

  test('can be opened to a role as a whole, or for starting one workflow', () => {
    const stack = makeStack();
    const roleOf = (id: string) =>
      new Role(stack, id, { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    stack.steadfast.grantStart(roleOf('Shop'), 'order');
    stack.steadfast.grantInvoke(roleOf('Operator'));
    const policies = new Reader(stack).ofType('AWS::IAM::Policy');
    const resourceOf = (id: string) =>
      JSON.stringify(statementsIn(policies.find((policy) => policy.id.startsWith(id))!)[0]?.Resource);
    expect(resourceOf('Shop')).toContain('/$default/POST/workflows/order/executions');
    expect(resourceOf('Operator')).toContain('/$default/*/*');
  });
});

describe('the supervisor', () => {
  test('is started twice every minute, each for half of the shards, and a late or failed start is forgotten', () => {
    const once = { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 };
    const { Properties } = dev.one('AWS::Events::Rule', 'Supervisor');
    const target = { Arn: { 'Fn::GetAtt': [dev.functionOf('Supervisor').id, 'Arn'] }, RetryPolicy: once };
    expect(Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Targets: [
        { ...target, Input: '{"part":0,"of":2}' },
        { ...target, Input: '{"part":1,"of":2}' },
      ],
    });
    expect(dev.one('AWS::Lambda::EventInvokeConfig', 'Supervisor').Properties).toMatchObject(once);
  });

  test('has a minute; executions are set aside for it on demand only, for a new account has none to spare', () => {
    const large = new Reader(makeStack({ supervisorConcurrency: 4 }));
    const reserved = 'ReservedConcurrentExecutions';
    expect(dev.functionOf('Supervisor').Properties['Timeout']).toBe(60);
    expect(dev.all.filter(({ Properties }) => reserved in Properties)).toEqual([]);
    expect(large.functionOf('Supervisor').Properties).toMatchObject({ [reserved]: 4 });
  });
});

describe('the audit', () => {
  test('begins a pass a day, or as often as wanted, with a function and a role of its own', () => {
    const rateOf = (reader: Reader) =>
      reader.one('AWS::Events::Rule', 'Audit').Properties['ScheduleExpression'];
    expect(rateOf(dev)).toBe('rate(15 minutes)');
    expect(dev.environmentOf('Audit')['STEADFAST_AUDIT_EVERY_MS']).toBe('86400000');
    expect(rateOf(new Reader(makeStack({ tuning: { auditEvery: Duration.minutes(10) } })))).toBe(
      'rate(10 minutes)',
    );
    expect(dev.functionOf('Audit').id).not.toBe(dev.functionOf('Supervisor').id);
  });
});

describe('retention', () => {
  const kept = (props: object = {}) =>
    new Reader(makeStack(props)).environmentOf('Supervisor')['STEADFAST_RETENTION_MS'];

  test('is 30 days unless said otherwise', () => {
    expect(kept()).toBe(String(30 * 86_400_000));
    expect(kept({ retention: Duration.hours(24) })).toBe(String(86_400_000));
  });

  test('shorter than an idempotency key is remembered is refused', () => {
    expect(() => makeStack({ retention: Duration.hours(23) })).toThrow(
      'retention is 23 hours; allowed: 24 hours or more',
    );
    expect(MIN_RETENTION_HOURS * 3_600_000).toBe(MIN_RETENTION_MS);
  });
});

test('the outputs tell where it is', () => {
  const { Outputs } = dev.template.toJSON() as { Outputs: Record<string, unknown> };
  expect(Object.keys(Outputs)).toEqual([
    'ApiUrl',
    'StateTableName',
    'EventBusName',
    'AlarmTopicArn',
    'DashboardName',
  ]);
});

test('an agent that does not exist is named, with those that do', () => {
  expect(() => makeStack().steadfast.agent('fly')).toThrow(
    "no agent is named 'fly'; there are pay, ship, mail",
  );
});
