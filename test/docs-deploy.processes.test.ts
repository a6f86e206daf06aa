/**
 * The code of docs/DEPLOY.md (stages, pipeline, two constructs in one stack) and of docs/EVENTS.md (rules)
 * synthesises, and does what the pages say.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS } from '../lib/aws/names.ts';
import { steadfastIn } from '../cli/dev/project.ts';
import { read as pageOf, written } from './snippets/blocks.ts';
import { deployFiles, shownFiles } from './snippets/deploy.ts';

const commands = [...pageOf('docs/DEPLOY.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(
  ([, block = '']) => block.trim().split('\n'),
);
const pipeline = shownFiles.get('.github/workflows/deploy.yml') ?? '';

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
}

let root: string;
beforeAll(() => {
  root = written('deploy', deployFiles);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/**
 * Synthesises without bundling. @returns a function from a stack's name to its template, account and region
 */
function synthesise(app: string): (stack: string) => Template & { readonly environment: string } {
  const outdir = join(root, `${app}.out`);
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', `bin/${app}.ts`], {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      // `test/infra/foreign.test.ts` checks CloudFormation's own rules: they take seconds.
      CDK_VALIDATION: 'false',
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({
        'aws:cdk:bundling-stacks': [],
        'aws:cdk:enable-path-metadata': true,
      }),
    },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const read = (file: string): unknown => JSON.parse(readFileSync(join(outdir, file), 'utf8'));
  const { artifacts } = read('manifest.json') as {
    artifacts: Record<string, { environment: string; properties: { templateFile: string } }>;
  };
  return (stack) => {
    const artifact = artifacts[stack];
    if (artifact === undefined)
      throw new Error(`no stack ${stack}; there are ${Object.keys(artifacts).join(', ')}`);
    return { ...(read(artifact.properties.templateFile) as Template), environment: artifact.environment };
  };
}

const ofType = ({ Resources }: Template, type: string): Resource[] =>
  Object.values(Resources).filter(({ Type }) => Type === type);
const stays = ({ Resources }: Template): string[] => [
  ...new Set(
    Object.values(Resources)
      .filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy.startsWith('Retain'))
      .map(({ Type }) => Type),
  ),
];

test('the files of the page are these', () => {
  expect([...shownFiles.keys()]).toEqual([
    'bin/app.ts',
    'lib/shop-stack.ts',
    'lib/deploy-stack.ts',
    '.github/workflows/deploy.yml',
    'lib/tell-people.ts',
  ]);
});

describe('the app of the page', () => {
  let stack: ReturnType<typeof synthesise>;
  beforeAll(() => {
    stack = synthesise('app');
  });

  test('has a stack for each stage, in its account, with settings of its own', () => {
    const [dev, staging, prod] = ['dev', 'staging', 'prod'].map((name) => stack(`Orders-${name}`));
    expect([dev, staging, prod].map((each) => each?.environment)).toEqual([
      'aws://111111111111/eu-central-1',
      'aws://111111111111/eu-central-1',
      'aws://222222222222/eu-central-1',
    ]);
    const alarms = [dev, staging, prod].map((each) => ofType(each!, 'AWS::CloudWatch::Alarm').length > 0);
    expect(alarms).toEqual([false, true, true]);
    const setAside = ofType(prod!, 'AWS::Lambda::Function').flatMap(
      ({ Properties }) => Properties?.['ReservedConcurrentExecutions'] ?? [],
    );
    expect(setAside).toEqual([6]);
    expect(Object.keys(staging?.Outputs ?? {})).toContain('ApiUrl');
  });

  test('names nothing at two stages of an account alike', () => {
    const names = ['dev', 'staging'].map((stage) =>
      Object.values(stack(`Orders-${stage}`).Resources)
        .filter(({ Type }) => Type !== 'AWS::Lambda::Permission')
        .flatMap(({ Properties = {} }) => ['Name', 'QueueName', 'LogGroupName'].map((key) => Properties[key]))
        .filter((one) => one !== undefined)
        .map((one) => JSON.stringify(one)),
    );
    expect(names[0]?.length).toBeGreaterThan(3);
    expect(names[0]?.filter((one) => names[1]?.includes(one))).toEqual([]);
  });

  test('leaves behind what the page says', () => {
    expect(['dev', 'staging'].flatMap((name) => stays(stack(`Orders-${name}`)))).toEqual([]);
    const prod = stack('Orders-prod');
    expect(stays(prod).sort()).toEqual([
      'AWS::DynamoDB::GlobalTable',
      'AWS::KMS::Key',
      'AWS::Logs::LogGroup',
      'AWS::S3::Bucket',
    ]);
    const [table] = ofType(prod, 'AWS::DynamoDB::GlobalTable');
    expect(table?.Properties?.['Replicas']).toEqual([
      expect.objectContaining({ DeletionProtectionEnabled: true }),
    ]);
  });

  test('is refused by dev without a stack, and found with one', () => {
    const assembly = join(root, 'app.out');
    expect(() => steadfastIn(assembly)).toThrow(
      'several stacks hold a Steadfast; choose with --stack one of: Orders-dev, Orders-staging, Orders-prod',
    );
    expect(steadfastIn(assembly, { stack: 'Orders-dev' }).path).toBe('Orders-dev/Steadfast');
  });

  test('lets the jobs of the pipeline deploy, each into its account, and nobody else', () => {
    const jobs = [
      ...pipeline.matchAll(/environment: (\S+)[\s\S]*?role-to-assume: '(\S+)'[\s\S]*?cdk deploy (\S+)/g),
    ];
    expect(jobs.map(([, environment]) => environment)).toEqual(['staging', 'prod']);
    for (const [, environment, arn, deployed = ''] of jobs) {
      const account = /aws:\/\/(\d+)\//.exec(stack(deployed).environment)?.[1];
      const deployStack = stack(environment === 'prod' ? 'Deploy-live' : 'Deploy-test');
      expect(deployStack.environment).toBe(stack(deployed).environment);
      const [role] = ofType(deployStack, 'AWS::IAM::Role');
      expect(arn).toBe(`arn:aws:iam::${account}:role/${String(role?.Properties?.['RoleName'])}`);
      expect(role?.Properties?.['AssumeRolePolicyDocument']).toMatchObject({
        Statement: [
          {
            Action: 'sts:AssumeRoleWithWebIdentity',
            Condition: {
              StringEquals: {
                'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
                'token.actions.githubusercontent.com:sub': [`repo:acme/orders:environment:${environment}`],
              },
            },
          },
        ],
      });
      const [policy] = ofType(deployStack, 'AWS::IAM::Policy');
      const document = policy?.Properties?.['PolicyDocument'] as { Statement: object[] } | undefined;
      expect(document?.Statement).toEqual([
        {
          Action: 'sts:AssumeRole',
          Effect: 'Allow',
          Resource: {
            'Fn::Join': [
              '',
              ['arn:', { Ref: 'AWS::Partition' }, `:iam::${account}:role/cdk-*-${account}-eu-central-1`],
            ],
          },
        },
      ]);
    }
  });

  test('has every stack that a command on the page names', () => {
    const named = [...commands, ...pipeline.split('\n')].flatMap(
      (line) => /cdk (?:deploy|diff|destroy) (\S+)|--stack (\S+)/.exec(line)?.slice(1).find(Boolean) ?? [],
    );
    expect(named.length).toBeGreaterThan(6);
    for (const name of named) expect(stack(name).Resources).toBeDefined();
  });
});

test('the stack with two of them has two outputs with different names', () => {
  const shop = synthesise('shop')('Shop');
  const { Outputs = {} } = shop;
  expect(Object.keys(Outputs)).toEqual([
    expect.stringMatching(/^OrdersApiUrl/),
    expect.stringMatching(/^ReportsApiUrl/),
  ]);
  const types = ofType(shop, 'AWS::Events::Rule').flatMap(
    ({ Properties }) =>
      (Properties?.['EventPattern'] as { 'detail-type'?: string[] } | undefined)?.['detail-type'] ?? [],
  );
  // The news for people (EVENTS.md), by the names of the events.
  const { end: _, ...news } = EVENTS;
  const named = Object.values(news).map(({ detailType }) => detailType);
  expect(types).toEqual(expect.arrayContaining(named));
  expect(ofType(shop, 'AWS::Events::ApiDestination')).toHaveLength(1);
  const assembly = join(root, 'shop.out');
  expect(steadfastIn(assembly, { name: 'Reports' })).toMatchObject({ path: 'Shop/Reports', stack: 'Shop' });
});
