/**
 * A deployment that AWS would refuse halfway is refused at synthesis; every accepted one is within all
 * limits.
 */

import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Stack } from 'aws-cdk-lib/core';
import type { AgentSettings } from '../../lib/infra/agent-settings.ts';
import type { Discovery, FoundAgent } from '../../lib/infra/discovery.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import type { Json } from '../../local/template/json.ts';
import { FOUND } from './fixture.ts';
import { resolved } from './named-permissions.ts';
import { makeApp, makeStack, Reader, type Resource, statementsIn } from './template.ts';

/** The longest possible name. */
const agentName = (folder: string, n: number): string => `${folder}-${n}-`.padEnd(48, 'x');

/** Folders with one workflow each, with this many agents that all send to each other. */
function foldersOf(counts: Readonly<Record<string, number>>, only = Object.keys(counts)): Discovery {
  const folders = only.map((folder) => ({
    folder,
    agents: Array.from({ length: counts[folder] ?? 0 }, (_, n) => agentName(folder, n)),
  }));
  return {
    root: '/nowhere',
    triggers: [],
    warnings: [],
    workflows: folders.map(({ folder, agents }) => ({
      name: folder,
      file: `/nowhere/${folder}/workflow.ts`,
      exportName: 'it',
      agents,
    })),
    agents: folders.flatMap(({ folder, agents }) =>
      agents.map((name): FoundAgent => {
        const file = `/nowhere/${folder}/agents/${name}.ts`;
        return { name, timeoutMs: 20_000, file, peers: agents };
      }),
    ),
  };
}

const messageOf = (build: () => unknown): string => {
  try {
    build();
  } catch (error) {
    return String(error);
  }
  return '';
};
const synthesised = (workflows: Discovery, id = 'Test'): Reader =>
  new Reader(new SteadfastStack(makeApp(), id, { workflows }));

test('100 agents are refused with the stacks that hold them, and these do', () => {
  const counts = { a: 30, b: 25, c: 20, d: 15, e: 10 };
  const message = messageOf(() => synthesised(foldersOf(counts)));
  expect(message).toMatch(
    /the workflows need \d{3} resources, and a CloudFormation stack can have 500; deploy them as 2 stacks:/,
  );
  const parts = [...message.matchAll(/-c steadfast:only=([a-e,]+)/g)].map(([, list = '']) => list.split(','));
  expect(parts).toHaveLength(2);
  expect(parts.flat().sort()).toEqual(Object.keys(counts));
  for (const part of parts) {
    const reader = synthesised(foldersOf(counts, part));
    expect(reader.all.length).toBeLessThanOrEqual(500);
  }
});

test('a folder that no stack holds is named, with how many agents it has', () => {
  const message = messageOf(() => synthesised(foldersOf({ small: 2, large: 80 })));
  expect(message).toMatch(
    /large alone has 80 agents, and beside \d+ other resources there is room for \d+ of its \d+/,
  );
});

/** The most agents of one folder that fit into a stack. */
const FULL = 66;

describe('the fullest stack', () => {
  const stack = new SteadfastStack(makeApp(), 'T'.repeat(60), { workflows: foldersOf({ full: FULL }) });
  const reader = new Reader(stack);
  const text = JSON.stringify(reader.template.toJSON());
  const of = (type: string): readonly Resource[] => reader.ofType(type);
  const template = resolved(reader.template.toJSON() as Json, stack.stackName);
  const properties = (id: string): Record<string, Json> => template.resources.get(id)?.properties ?? {};

  test('is near the end of its resources, so that the others are what they can be', () => {
    expect(reader.all.length).toBeGreaterThan(480);
    expect(messageOf(() => synthesised(foldersOf({ full: 75 })))).toContain('full alone has 75 agents');
  });

  test('has a template that CloudFormation takes: 1 MB from S3', () => {
    expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
  });

  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
  test('has roles whose own policies together have less than 10,240 characters', () => {
    const byRole = new Map<string, number>();
    for (const { id } of of('AWS::IAM::Policy')) {
      const { Roles, PolicyDocument } = properties(id);
      const role = String([Roles].flat()[0]);
      byRole.set(role, (byRole.get(role) ?? 0) + JSON.stringify(PolicyDocument).length);
    }
    expect(of('AWS::IAM::Policy').flatMap(statementsIn).length).toBeGreaterThan(100);
    expect(Math.max(...byRole.values())).toBeLessThan(10_240);
    expect(of('AWS::IAM::ManagedPolicy')).toEqual([]);
  });

  test('has environments of which Lambda takes 4 KB', () => {
    for (const { id } of of('AWS::Lambda::Function')) {
      const { Variables } = Object(properties(id)['Environment']) as { Variables: Json };
      expect(Buffer.byteLength(JSON.stringify(Variables))).toBeLessThan(4_096);
    }
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html
  test('has a dashboard of at most 500 widgets, with at most 500 metrics each and 2,500 together', () => {
    const [dashboard] = of('AWS::CloudWatch::Dashboard');
    const { DashboardBody } = Object(dashboard?.Properties) as {
      DashboardBody: { 'Fn::Join': [string, unknown[]] };
    };
    const body = DashboardBody['Fn::Join'][1]
      .map((part) => (typeof part === 'string' ? part : 'name'))
      .join('');
    const { widgets } = JSON.parse(body) as {
      widgets: { type: string; properties: { metrics?: unknown[]; alarms?: unknown[] } }[];
    };
    const metrics = widgets.map(({ properties: { metrics: some = [] } }) => some.length);
    expect(widgets.length).toBeLessThanOrEqual(500);
    expect(Math.max(...metrics)).toBeLessThanOrEqual(500);
    expect(metrics.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(2_500);
    const alarms = widgets.map(({ properties: { alarms: some = [] } }) => some.length);
    expect(Math.max(...alarms)).toBeLessThanOrEqual(100);
  });
});

describe('an environment', () => {
  const withPay = (environment: AgentSettings['environment'] = {}): string =>
    messageOf(() => new Reader(makeStack({ agentSettings: { pay: { environment } } })));

  test('beyond 4 KB is refused, quotes and escapes counted as Lambda does', () => {
    expect(withPay({ TEXT: 'x'.repeat(3_000) })).toBe('');
    expect(withPay({ TEXT: 'x'.repeat(4_000) })).toMatch(
      /Agents\/pay\/Function\/Resource: its environment variables take up to 4\d{3} bytes as JSON, and a Lambda function holds 4096/,
    );
    expect(withPay({ TEXT: '"'.repeat(2_000) })).toMatch(/take up to 4\d{3} bytes as JSON/);
  });

  test('is counted with names that AWS chooses at their longest', () => {
    const reader = new Reader(makeStack());
    const { resources } = resolved(reader.template.toJSON() as Json, 'Test');
    const { Variables } = Object(
      resources.get(reader.functionOf('Agents/pay').id)?.properties['Environment'],
    ) as { Variables: Record<string, string> };
    const short = Buffer.byteLength(JSON.stringify({ ...Variables, TEXT: '' }));
    const room = 4_096 - short;
    const first = [0, 20, 40, 60, 80, 100].find((less) => withPay({ TEXT: 'x'.repeat(room - less) }) === '');
    expect(first).toBeGreaterThanOrEqual(20);
    expect(first).toBeLessThanOrEqual(100);
  });

  test('of a function of your own counts too', () => {
    const stack = new Stack(makeApp(), 'Test');
    const own = new Function(stack, 'Own', {
      code: Code.fromInline('exports.handler = async () => {};'),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      environment: { TEXT: 'x'.repeat(4_000) },
    });
    const settings = { workflows: FOUND, agentSettings: { mail: { function: own } } };
    expect(new Steadfast(stack, 'Steadfast', settings).agent('mail').function).toBe(own);
    expect(messageOf(() => new Reader(stack))).toContain('Test/Own/Resource: its environment variables take');
  });
});
