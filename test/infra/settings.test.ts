/** The settings of single agents and of a deployment. */

import { type IVpc, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { ApplicationLogLevel, Code, Function, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { SteadfastProps } from '../../lib/infra/steadfast-props.ts';
import { FOUND } from './fixture.ts';
import { FATES, findingsOf, makeApp, makeStack, Reader, replicaOf, statementsIn } from './template.ts';

const withPay = (pay: AgentSettings): Reader => new Reader(makeStack({ agentSettings: { pay } }));
const mappingOf = (reader: Reader, name: string): Record<string, unknown> =>
  reader
    .ofType('AWS::Lambda::EventSourceMapping')
    .find(({ Properties }) => JSON.stringify(Properties['EventSourceArn']).includes(`Agents${name}Queue`))!
    .Properties;

/** A user's stack with a function that may become an agent's. */
function foreign(): { stack: Stack; own: (timeout?: Duration) => Function } {
  const stack = new Stack(makeApp(), 'Test');
  const own = (timeout?: Duration): Function =>
    new Function(stack, 'Own', {
      code: Code.fromInline('exports.handler = async () => {};'),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      ...(timeout === undefined ? {} : { timeout }),
    });
  return { stack, own };
}

const addSteadfast = (stack: Stack, props: Partial<SteadfastProps>): Steadfast =>
  new Steadfast(stack, 'Steadfast', { workflows: FOUND, ...props });

test('every function knows whether queues are fair', () => {
  const [first, ...others] = FOUND.workflows;
  const workflows: typeof FOUND = { ...FOUND, workflows: [{ ...first!, isFair: true }, ...others] };
  const fair = new Reader(makeStack({ workflows }));
  const usual = new Reader(makeStack());
  for (const name of ['Agents/pay', 'Agents/mail', 'Scheduler', 'Supervisor']) {
    expect(fair.environmentOf(name)).toMatchObject({ STEADFAST_FAIR: 'true' });
    expect(usual.environmentOf(name)).not.toHaveProperty('STEADFAST_FAIR');
  }
});

describe('a single agent', () => {
  test('has its own rate, which no other has', () => {
    const reader = withPay({ rate: '50/s' });
    expect(reader.environmentOf('Agents/pay')).toMatchObject({ STEADFAST_RATE: '50/s' });
    expect(reader.environmentOf('Agents/mail')).not.toHaveProperty('STEADFAST_RATE');
    expect(() => withPay({ rate: '501/s' })).toThrow(
      "agent 'pay': the rate '501/s' is too high; at most 500/s is allowed",
    );
    expect(() => withPay({ rate: 'fast' })).toThrow("agent 'pay': 'fast' is not a rate");
  });

  test('has its own memory, concurrency, batch and environment; the others stay as they are', () => {
    const reader = withPay({
      memorySize: 1_024,
      maxConcurrency: 7,
      batchSize: 3,
      reservedConcurrency: 9,
      environment: { BANK: 'https://bank.example' },
    });
    expect(reader.functionOf('Agents/pay').Properties).toMatchObject({
      MemorySize: 1_024,
      ReservedConcurrentExecutions: 9,
    });
    expect(mappingOf(reader, 'pay')).toMatchObject({
      BatchSize: 3,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 7 },
    });
    expect(reader.environmentOf('Agents/pay')).toMatchObject({ BANK: 'https://bank.example' });
    expect(reader.functionOf('Agents/mail').Properties).toMatchObject({ MemorySize: 384 });
    expect(mappingOf(reader, 'mail')).toMatchObject({
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 50 },
    });
  });

  test.each<[AgentSettings, string]>([
    [{ maxConcurrency: 1 }, "agent 'pay': maxConcurrency is 1; allowed: 2 to 1000"],
    [{ batchSize: 11 }, "agent 'pay': batchSize is 11; allowed: 1 to 10"],
    [
      { reservedConcurrency: 49 },
      "agent 'pay': reservedConcurrency is 49, less than its maxConcurrency of 50",
    ],
    [
      { environment: { STEADFAST_BUS: 'x' } },
      "agent 'pay': the environment variable STEADFAST_BUS is set by",
    ],
  ])('is refused what cannot work: %j', (settings, message) => {
    expect(() => withPay(settings)).toThrow(message);
  });

  test('that does not exist is named, with those that do', () => {
    expect(() => makeStack({ agentSettings: { fly: {} } })).toThrow(
      "settings for an agent 'fly', which does not exist; there are pay, ship, mail",
    );
  });

  test('may be in a network, and its role may then do what Lambda needs for that', () => {
    const { stack } = foreign();
    const vpc = new Vpc(stack, 'Vpc') as IVpc;
    const securityGroups = [new SecurityGroup(stack, 'Group', { vpc })];
    addSteadfast(stack, { agentSettings: { pay: { vpc, securityGroups } } });
    const reader = new Reader(stack);
    expect(reader.functionOf('Agents/pay').Properties).toHaveProperty('VpcConfig');
    expect(reader.functionOf('Agents/ship').Properties).not.toHaveProperty('VpcConfig');
    const actions = (path: string): unknown[] => reader.statementsOf(path).flatMap(({ Action }) => Action);
    expect(actions('Agents/pay')).toContain('ec2:CreateNetworkInterface');
    expect(actions('Agents/ship')).not.toContain('ec2:CreateNetworkInterface');
    expect(findingsOf(stack).filter((finding) => finding.includes('Steadfast/'))).toEqual([]);
  });
});

describe('a function of your own', () => {
  test('gets the queue, the environment, the permissions and the long chain', () => {
    const { stack, own } = foreign();
    const settings = { pay: { function: own(Duration.seconds(100)) } };
    addSteadfast(stack, { agentSettings: settings });
    const reader = new Reader(stack);
    const made = reader.ofType('AWS::Lambda::Function').find(({ id }) => id.startsWith('Own'))!;
    const { Variables } = made.Properties['Environment'] as { Variables: object };
    expect(Object.keys(Variables)).toEqual(
      expect.arrayContaining(['STEADFAST_TABLE', 'STEADFAST_QUEUES', 'STEADFAST_DEPLOYMENT']),
    );
    expect(made.Properties).toMatchObject({ RecursiveLoop: 'Allow' });
    expect(mappingOf(reader, 'pay')).toMatchObject({ FunctionName: { Ref: made.id } });
    expect(reader.one('AWS::SQS::Queue', 'Agents/pay/Queue').Properties['VisibilityTimeout']).toBe(600);
    const policy = reader.ofType('AWS::IAM::Policy').find(({ id }) => id.startsWith('Own'))!;
    const actions = statementsIn(policy).flatMap(({ Action }) => Action);
    expect(actions).toEqual(
      expect.arrayContaining(['sqs:ReceiveMessage', 'dynamodb:PutItem', 'sqs:SendMessage']),
    );
    expect(() => reader.functionOf('Agents/pay')).toThrow('0 resources');
  });

  test('is refused when it ends before an attempt, or when settings are meant for it', () => {
    const { stack, own } = foreign();
    const refused = (id: string, pay: AgentSettings) => () =>
      new Steadfast(stack, id, { workflows: FOUND, agentSettings: { pay } });
    const mine = own(Duration.seconds(30));
    expect(refused('A', { function: mine })).toThrow(
      "agent 'pay': your own function has a timeout of 30 s; an attempt needs 36 s",
    );
    expect(refused('B', { function: mine, memorySize: 512 })).toThrow(
      "agent 'pay': memorySize: set it on your own",
    );
  });

  test('that is imported is described in a warning', () => {
    const { stack } = foreign();
    const imported = Function.fromFunctionAttributes(stack, 'Imported', {
      functionArn: 'arn:aws:lambda:us-east-1:123456789012:function:mine',
      sameEnvironment: true,
    });
    const steadfast = addSteadfast(stack, { agentSettings: { pay: { function: imported } } });
    const warnings = steadfast.agent('pay').node.metadata.map(({ data }) => String(data));
    expect(warnings).toEqual([
      expect.stringMatching(/imported function mine .*STEADFAST_TABLE.*RecursiveLoop Allow.* 36 s or more/),
    ]);
  });
});

describe('a deployment', () => {
  test('can be kept, protected and restorable apart from each other', () => {
    const reader = new Reader(
      makeStack({ removalPolicy: FATES.prod, deletionProtection: false, pointInTimeRecovery: false }),
    );
    const table = reader.one('AWS::DynamoDB::GlobalTable', 'State');
    expect(table.DeletionPolicy).toBe('RetainExceptOnCreate');
    expect(replicaOf(table)).toMatchObject({
      DeletionProtectionEnabled: false,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
    });
  });

  test('with a key of its own uses it for all that is at rest', () => {
    const { stack } = foreign();
    const encryptionKey = new Key(stack, 'Key', {
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    addSteadfast(stack, { encryptionKey });
    const reader = new Reader(stack);
    const key = reader.ofType('AWS::KMS::Key')[0]!;
    const arn = { 'Fn::GetAtt': [key.id, 'Arn'] };
    const table = reader.one('AWS::DynamoDB::GlobalTable', 'State');
    expect(table.Properties).toMatchObject({ SSESpecification: { SSEEnabled: true, SSEType: 'KMS' } });
    expect(replicaOf(table)).toMatchObject({ SSESpecification: { KMSMasterKeyId: arn } });
    const keyed = (type: string, property: string): unknown[] =>
      reader.ofType(type).map(({ Properties }) => Properties[property]);
    for (const queue of keyed('AWS::SQS::Queue', 'KmsMasterKeyId')) expect(queue).toEqual(arn);
    for (const group of keyed('AWS::Logs::LogGroup', 'KmsKeyId')) expect(group).toEqual(arn);
    for (const path of ['Scheduler', 'Supervisor', 'Agents/pay']) {
      expect(reader.matrixOf(path)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^kms:GenerateDataKey /),
          expect.stringMatching(/^kms:Decrypt /),
        ]),
      );
    }
    // Roles use the key through these two services only: it may be shared.
    const uses = reader
      .ofType('AWS::IAM::Policy')
      .flatMap(statementsIn)
      .filter(({ Action }) => JSON.stringify(Action).includes('kms:'));
    expect(uses.length).toBeGreaterThan(5);
    for (const use of uses)
      expect(use).toMatchObject({
        Condition: { StringLike: { 'kms:ViaService': ['dynamodb.*', 's3.*', 'sqs.*'] } },
      });
    const statements = (key.Properties['KeyPolicy'] as { Statement: { Principal: object }[] }).Statement;
    expect(JSON.stringify(statements.map(({ Principal }) => Principal))).toMatch(
      /logs\..*cloudwatch\.amazonaws\.com/,
    );
    // In China the logs' own principal has another suffix.
    expect(statements.map(({ Principal }) => Principal)).toContainEqual({
      Service: { 'Fn::Join': ['', ['logs.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]] },
    });
    expect(findingsOf(stack)).toEqual([]);
  });

  test('writes what its log level says, all functions or one: Lambda keeps back what is below it', () => {
    const levels = (props: Partial<SteadfastProps>, path: string): unknown =>
      Object(new Reader(makeStack(props)).functionOf(path).Properties['LoggingConfig'])[
        'ApplicationLogLevel'
      ];
    const { DEBUG, TRACE } = ApplicationLogLevel;
    expect(levels({}, 'Agents/pay')).toBeUndefined();
    const one = { logLevel: TRACE, agentSettings: { pay: { logLevel: DEBUG } } };
    expect(levels(one, 'Agents/pay')).toBe('DEBUG');
    expect(levels(one, 'Agents/ship')).toBe('TRACE');
    expect(levels(one, 'Scheduler')).toBe('TRACE');
  });

  test('calls AWS directly or by the SDK, all functions and workers alike; by anything else it is not made', () => {
    const ways = (transport?: 'direct' | 'sdk'): unknown[] => {
      const reader = new Reader(makeStack(transport === undefined ? {} : { tuning: { transport } }));
      return ['Scheduler', 'Supervisor', 'Agents/pay'].map(
        (path) => (reader.environmentOf(path) as Record<string, unknown>)['STEADFAST_TRANSPORT'],
      );
    };
    expect(ways()).toEqual([undefined, undefined, undefined]);
    expect(ways('sdk')).toEqual(['sdk', 'sdk', 'sdk']);
    expect(() => makeStack({ tuning: { transport: 'fax' as never } })).toThrow('allowed: direct and sdk');
    const stack = new Stack(makeApp(), 'Test');
    const worker = new Role(stack, 'Worker', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    expect(addSteadfast(stack, { tuning: { transport: 'sdk' } }).grantWork('pay', worker)).toMatchObject({
      STEADFAST_TRANSPORT: 'sdk',
    });
  });

  test('is traced when asked to, all functions or none', () => {
    const modes = (tracing?: Tracing): unknown[] =>
      new Reader(makeStack(tracing === undefined ? {} : { tracing }))
        .ofType('AWS::Lambda::Function')
        .map(({ Properties }) => Properties['TracingConfig']);
    expect(new Set(modes())).toEqual(new Set([undefined]));
    expect(modes(Tracing.ACTIVE)).toEqual(modes().map(() => ({ Mode: 'Active' })));
    expect(findingsOf(makeStack({ tracing: Tracing.ACTIVE }))).toEqual([]);
  });
});

describe('the agent of bulk actions', () => {
  test('can be left out: then nothing of it is there, and the API and the supervisor know of none', () => {
    const reader = new Reader(makeStack({ bulkActions: false }));
    const ours = reader.all.filter(({ Metadata }) => Metadata?.['aws:cdk:path']?.includes('steadfast-bulk'));
    expect(ours).toEqual([]);
    for (const path of ['Scheduler', 'Supervisor'])
      expect(reader.environmentOf(path)['STEADFAST_AGENTS']).toBe('pay,ship,mail');
    expect(makeStack({ bulkActions: false }).steadfast.bulkAgent).toBeUndefined();
  });

  test('does not count as an agent of the app, and has settings under its name', () => {
    const stack = makeStack({ agentSettings: { 'steadfast-bulk': { maxConcurrency: 3 } } });
    expect([...stack.steadfast.agents.keys()]).toEqual(['pay', 'ship', 'mail']);
    expect(stack.steadfast.bulkAgent?.agentName).toBe('steadfast-bulk');
    const reader = new Reader(stack);
    expect(mappingOf(reader, 'steadfastbulk')['ScalingConfig']).toEqual({ MaximumConcurrency: 3 });
    expect(reader.environmentOf('Agents/steadfast-bulk')['STEADFAST_AGENTS']).toBe(
      'pay,ship,mail,steadfast-bulk',
    );
  });
});
