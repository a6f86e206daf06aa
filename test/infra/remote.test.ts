/**
 * Agents in other languages: what synthesis reads and refuses, their permissions, the contents of their
 * image.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Stack } from 'aws-cdk-lib/core';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import { bundleContainers } from '../../lib/infra/bundle-container.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { type Discovery } from '../../lib/infra/discovery.ts';
import { DiscoveryError } from '../../lib/infra/discovery.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { FOUND, project } from './fixture.ts';
import { findingsOf, makeApp, Reader, type Statement, statementsIn } from './template.ts';

const ARN = 'arn:aws:lambda:eu-west-1:111111111111:function:parcels:live';
const INDEX = join(import.meta.dirname, '..', '..', 'lib', 'index.ts');

/** A project of one workflow whose agent's file has this target. */
const written = (target: string, runsIn = ''): Record<string, string> => ({
  'examples/parcels/workflow.ts': `
    import { agent, workflow } from ${JSON.stringify(INDEX)};
    const any = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const;
    export const book = agent('book', { input: any, output: any, effect: 'idempotent', ${runsIn} });
    export const parcels = workflow('parcels', { input: any, within: '1h' }, (w) => void w.step('book', book, {}));`,
  'examples/parcels/agents/book.ts': `
    import { remoteAgent } from ${JSON.stringify(INDEX)};
    import { book } from '../workflow.ts';
    export const handler = remoteAgent(book, ${target});`,
});
const CONTAINER = "runsIn: 'container'";
const found = (files: Record<string, string>): Promise<Discovery> =>
  discoverWorkflows({ root: project(files), folders: ['examples'] });

describe('synthesis', () => {
  test.each([
    ['lambda', '{ lambda: true }', ''],
    ['url', "{ url: 'https://parcels.example/agent' }", ''],
    ['command', "{ command: ['python3', 'book/main.py'] }", CONTAINER],
  ])('reads of an agent’s file that its work is done by a %s', async (remote, target, runsIn) => {
    expect((await found(written(target, runsIn))).agents).toMatchObject([{ name: 'book', remote }]);
  });

  test('refuses a command in a function, with the file and what to do', async () => {
    const refused = await found(written("{ command: ['python3'] }")).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DiscoveryError);
    expect(String(refused)).toMatch(
      /examples\/parcels\/agents\/book\.ts.*cannot be loaded: remote agent 'book': a command runs in a container alone: .*runsIn: 'container'/,
    );
  });

  test('loads no other agent’s file', async () => {
    const files = {
      ...written('{ lambda: true }'),
      'examples/parcels/agents/book.ts': "throw new Error('loaded'); export const handler = 1;",
    };
    expect((await found(files)).agents[0]).not.toHaveProperty('remote');
  });
});

const [pay, ...others] = FOUND.agents;

function deployed(
  settings: (scope: Stack) => AgentSettings,
  agent: Partial<Discovery['agents'][number]> = { remote: 'lambda' },
): { stack: Stack; steadfast: Steadfast; read: () => Reader } {
  const stack = new Stack(makeApp(), 'Test');
  const steadfast = new Steadfast(stack, 'Steadfast', {
    workflows: { ...FOUND, agents: [{ ...pay!, ...agent }, ...others] },
    agentSettings: { pay: settings(stack) },
  });
  return { stack, steadfast, read: () => new Reader(stack) };
}
const named = (stack: Stack): IFunction => LambdaFunction.fromFunctionArn(stack, 'Parcels', ARN);
const invokes = (statements: readonly Statement[]): Statement[] =>
  statements.filter(({ Action }) => JSON.stringify(Action).includes('lambda:'));

describe('a Lambda function that does the work of an agent', () => {
  test('may be invoked by that agent alone, as it is named and in no other version', () => {
    const { stack, read } = deployed((scope) => ({ remoteFunction: named(scope) }));
    const reader = read();
    expect(invokes(reader.statementsOf('Agents/pay'))).toEqual([
      { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: ARN },
    ]);
    expect(reader.environmentOf('Agents/pay')).toMatchObject({ STEADFAST_REMOTE_FUNCTION: ARN });
    expect(invokes(reader.statementsOf('Agents/ship'))).toEqual([]);
    expect(reader.environmentOf('Agents/ship')).not.toHaveProperty('STEADFAST_REMOTE_FUNCTION');
    expect(findingsOf(stack)).toEqual([]);
  });

  test('is called by an agent in a container as well', () => {
    const reader = deployed(
      (scope) => ({
        remoteFunction: named(scope),
        container: { vpc: new Vpc(scope, 'Net', { maxAzs: 2 }) as IVpc },
      }),
      { remote: 'lambda', runsIn: 'container' },
    ).read();
    expect(
      invokes(statementsIn(reader.one('AWS::IAM::Policy', 'Agents/pay/Container/Task/TaskRole'))),
    ).toHaveLength(1);
    expect(
      JSON.stringify(reader.one('AWS::ECS::TaskDefinition', 'Agents/pay/Container/Task').Properties),
    ).toContain('STEADFAST_REMOTE_FUNCTION');
  });

  test('is called by a worker of your own', () => {
    const { stack, steadfast, read } = deployed((scope) => ({ remoteFunction: named(scope) }), {
      remote: 'lambda',
      runsIn: 'container',
    });
    const role = new Role(stack, 'Mine', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    expect(steadfast.grantWork('pay', role)).toMatchObject({ STEADFAST_REMOTE_FUNCTION: ARN });
    const mine = read()
      .ofType('AWS::IAM::Policy')
      .filter(({ id }) => id.startsWith('Mine'));
    expect(invokes(mine.flatMap(statementsIn))).toMatchObject([{ Resource: ARN }]);
  });

  test('has to be named', () => {
    expect(() => deployed(() => ({}))).toThrow(/agent 'pay': .*set agentSettings\['pay'\]\.remoteFunction/);
  });

  test.each([undefined, 'url' as const])('is refused of an agent that does not call one (%s)', (remote) => {
    const agent = remote === undefined ? {} : { remote };
    expect(() => deployed((scope) => ({ remoteFunction: named(scope) }), agent)).toThrow(
      /agent 'pay': remoteFunction is for .*lambda: true/,
    );
  });
});

test('the image of an agent holds the folder that is named like it', async () => {
  const files = {
    ...written("{ command: ['python3', 'book/main.py'] }", CONTAINER),
    'examples/parcels/agents/book/main.py': 'print()\n',
    'examples/parcels/agents/book/__pycache__/main.pyc': '',
  };
  const folder = bundleContainers(await found(files), project()).get('book')!;
  expect(readFileSync(join(folder, 'book', 'main.py'), 'utf8')).toBe('print()\n');
  expect(existsSync(join(folder, 'book', '__pycache__'))).toBe(false);
  expect(readFileSync(join(folder, 'Dockerfile'), 'utf8')).toMatch(
    /\nCOPY \*\.mjs .*\nCOPY book \.\/book\/\n/,
  );
  // The book's folder is beside the code, as it is beside the agent's file in the sources.
  expect(readFileSync(join(folder, 'index.mjs'), 'utf8')).toContain('book/main.py');
});
