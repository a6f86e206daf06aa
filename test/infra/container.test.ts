/**
 * An agent in a container: instead of a function, a service with exactly the function's permissions, and an
 * image.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ApplicationLogLevel } from 'aws-cdk-lib/aws-lambda';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Duration, Stack } from 'aws-cdk-lib/core';
import type { ContainerSettings } from '../../lib/infra/agent-container.ts';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import { bundleContainers } from '../../lib/infra/bundle-container.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { FOUND, project } from './fixture.ts';
import { findingsOf, makeApp, Reader } from './template.ts';

const [pay, ...others] = FOUND.agents;
/** An agent whose timeout of six hours is too long for a function. */
const found = {
  ...FOUND,
  agents: [{ ...pay!, timeoutMs: 6 * 3_600_000, runsIn: 'container' as const }, ...others],
};

function deployed(
  settings: Partial<ContainerSettings> | 'none' = {},
  rest: AgentSettings = {},
  key = false,
): { stack: Stack; steadfast: Steadfast; read: () => Reader } {
  const stack = new Stack(makeApp(), 'Test');
  const vpc = new Vpc(stack, 'Net', { maxAzs: 2, natGateways: 1, flowLogs: { all: {} } }) as IVpc;
  const steadfast = new Steadfast(stack, 'Steadfast', {
    workflows: found,
    agentSettings: { pay: settings === 'none' ? rest : { ...rest, container: { vpc, ...settings } } },
    ...(key ? { encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }) } : {}),
  });
  return { stack, steadfast, read: () => new Reader(stack) };
}

const AT = 'Agents/pay/Container';

describe('an agent in a container', () => {
  test('has a service and no function, and a queue that hides messages for a short time', () => {
    const reader = deployed({ desiredCount: 3, concurrency: 4, stopTimeout: Duration.seconds(60) }).read();
    const functions = reader.ofType('AWS::Lambda::Function').map(({ id }) => id);
    expect(functions.filter((id) => id.includes('Agentspay'))).toEqual([]);
    expect(reader.one('AWS::SQS::Queue', 'Agents/pay/Queue').Properties).toMatchObject({
      VisibilityTimeout: 60,
    });
    const service = reader.one('AWS::ECS::Service', `${AT}/Service`).Properties;
    expect(service).toMatchObject({ DesiredCount: 3, LaunchType: 'FARGATE' });
    // Without it, a deployment leaves the number to autoscaling.
    const [free] = deployed({}).read().ofType('AWS::ECS::Service');
    expect(free?.Properties).not.toHaveProperty('DesiredCount');
    expect(service['DeploymentConfiguration']).toMatchObject({
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      MinimumHealthyPercent: 100,
    });
    const [container] = reader.one('AWS::ECS::TaskDefinition', `${AT}/Task`).Properties[
      'ContainerDefinitions'
    ] as { Environment: { Name: string; Value: unknown }[]; StopTimeout: number }[];
    expect(container).toMatchObject({
      StopTimeout: 60,
      LinuxParameters: { InitProcessEnabled: true },
      LogConfiguration: { LogDriver: 'awslogs' },
    });
    const environment = Object.fromEntries(
      (container?.Environment ?? []).map(({ Name, Value }) => [Name, Value]),
    );
    expect(environment).toMatchObject({
      STEADFAST_WORKER_CONCURRENCY: '4',
      STEADFAST_STOP_WITHIN_MS: '50000',
      STEADFAST_WAKE_SHARDS: '4',
    });
    expect(environment['STEADFAST_AGENTS']).toBe('pay,ship');
    expect(JSON.stringify(environment['STEADFAST_QUEUES'])).toMatch(/_"\]\]\}$/);
  });

  test('logs from the level on that is set of it, as Powertools in it reads it', () => {
    const levelOf = (rest: AgentSettings): unknown => {
      const [container] = deployed({}, rest).read().one('AWS::ECS::TaskDefinition', `${AT}/Task`).Properties[
        'ContainerDefinitions'
      ] as { Environment: { Name: string; Value: unknown }[] }[];
      return container?.Environment.find(({ Name }) => Name === 'POWERTOOLS_LOG_LEVEL')?.Value;
    };
    expect(levelOf({})).toBeUndefined();
    expect(levelOf({ logLevel: ApplicationLogLevel.DEBUG })).toBe('DEBUG');
    expect(levelOf({ logLevel: ApplicationLogLevel.FATAL })).toBe('CRITICAL');
    const own = { POWERTOOLS_LOG_LEVEL: 'TRACE' };
    expect(levelOf({ logLevel: ApplicationLogLevel.DEBUG, environment: own })).toBe('TRACE');
  });

  test('may do what its function could, with its own queue as a worker needs it', () => {
    const ofTask = deployed().read().one('AWS::IAM::Policy', `${AT}/Task/TaskRole`);
    const actions = (
      ofTask.Properties['PolicyDocument'] as { Statement: { Action: string | string[] }[] }
    ).Statement.flatMap(({ Action }) => Action).sort();
    expect([...new Set(actions)]).toEqual([
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'ecs:UpdateTaskProtection',
      'events:PutEvents',
      's3:GetObject',
      's3:PutObject',
      'sqs:ChangeMessageVisibility',
      'sqs:DeleteMessage',
      'sqs:ReceiveMessage',
      'sqs:SendMessage',
    ]);
    expect(JSON.stringify(ofTask.Properties)).not.toContain('"*"');
  });

  test('may use the key of everything at rest', () => {
    const policy = deployed({}, {}, true).read().one('AWS::IAM::Policy', `${AT}/Task/TaskRole`);
    expect(JSON.stringify(policy.Properties)).toContain('kms:Decrypt');
  });

  test('shares the cluster of its network, for which Container Insights is charged once', () => {
    const stack = new Stack(makeApp(), 'Test');
    const [one, two] = ['One', 'Two'].map((id) => new Vpc(stack, id, { maxAzs: 2 }) as IVpc);
    const agents = found.agents.map((agent) => ({ ...agent, runsIn: 'container' as const }));
    const { agents: made } = new Steadfast(stack, 'Steadfast', {
      workflows: { ...found, agents },
      agentSettings: {
        pay: { container: { vpc: one! } },
        ship: { container: { vpc: one! } },
        mail: { container: { vpc: two! } },
      },
    });
    const reader = new Reader(stack);
    const services = reader.ofType('AWS::ECS::Service');
    expect(services).toHaveLength(made.size);
    expect(reader.ofType('AWS::ECS::Cluster')).toHaveLength(2);
    expect(new Set(services.map(({ Properties }) => JSON.stringify(Properties['Cluster']))).size).toBe(2);
  });

  test('passes cdk-nag', () => {
    expect(findingsOf(deployed().stack)).toEqual([]);
  });

  test('without a service of ours is run by any role that is granted the work', () => {
    const { stack, steadfast, read } = deployed('none');
    const role = new Role(stack, 'Mine', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    const environment = steadfast.grantWork('pay', role);
    expect(Object.keys(environment).sort()).toEqual([
      'STEADFAST_AGENTS',
      'STEADFAST_BUS',
      'STEADFAST_DEPLOYMENT',
      'STEADFAST_QUEUES',
      'STEADFAST_RETENTION_MS',
      'STEADFAST_TABLE',
      'STEADFAST_VALUES',
      'STEADFAST_WAKE_BUS',
      'STEADFAST_WAKE_SHARDS',
    ]);
    const reader = read();
    expect(reader.ofType('AWS::ECS::Service')).toEqual([]);
    const mine = reader.ofType('AWS::IAM::Policy').find(({ id }) => id.startsWith('Mine'));
    expect(JSON.stringify(mine)).toMatch(
      /dynamodb:PutItem[^]*sqs:ReceiveMessage|sqs:ReceiveMessage[^]*dynamodb:PutItem/,
    );
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      'a stop beyond what Fargate gives',
      () => deployed({ stopTimeout: Duration.minutes(5) }),
      /stopTimeout.*120 s/,
    ],
    ['no attempts at all', () => deployed({ concurrency: 0 }), /concurrency is 0/],
    ['settings of a function', () => deployed({}, { memorySize: 512 }), /memorySize.*container/],
    [
      'a container for what runs in a function',
      () => {
        const stack = new Stack(makeApp(), 'Test');
        const container = { vpc: new Vpc(stack, 'Net') as IVpc };
        return new Steadfast(stack, 'Steadfast', { workflows: FOUND, agentSettings: { pay: { container } } });
      },
      /runsIn: 'container'/,
    ],
  ])('is refused %s', (_what, make, message) => {
    expect(make).toThrow(message);
  });
});

test('the folder of an image holds the worker, the agent and the Dockerfile, and is the same each time', async () => {
  const workflows = await discoverWorkflows({
    root: join(import.meta.dirname, '..', '..'),
    folders: ['test/e2e/workflows'],
    only: ['encode'],
  });
  const folders = [1, 2].map(() => bundleContainers(workflows, project()).get('encode')!);
  const contents = folders.map((folder) =>
    Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')])),
  );
  expect(Object.keys(contents[0]!).sort()).toEqual([
    'Dockerfile',
    'attempt.mjs',
    'index.mjs',
    'index.mjs.map',
    'main.mjs',
  ]);
  expect(contents[0]).toEqual(contents[1]);
  expect(existsSync(join(folders[0]!, 'workflow.ts'))).toBe(false);
  // A task finds its credentials at an address; a function has them in its environment.
  expect(contents[0]!['index.mjs']).toContain('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  expect(contents[0]!['main.mjs']).toContain('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
});
