/**
 * A fault that is planted in the template of `steadfast verify`'s own stack makes the whole command end with
 * 1 and print the row that names it, and no other; one that is planted in a permission fails the rows of
 * what was refused. What the game day breaks heals though the command is killed.
 */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENTRIES } from '../../../cli/verify/checks/all.ts';
import { localPorts } from '../../../cli/verify/local.ts';
import { type LocalStack, startLocalStack } from '../../../cli/verify/local-stack.ts';
import type { Ports } from '../../../cli/verify/ports.ts';
import { run } from '../../../cli/verify/run.ts';
import { ended, until } from '../../../cli/verify/starting.ts';
import { ioOf } from '../../../cli/io.ts';
import { run as command } from '../../../cli/main.ts';
import { resolveTemplate } from '../../../local/template/template.ts';
import type { Json } from '../../../local/template/json.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const STACK = 'Steadfast-verify';
const folder = mkdtempSync(join(tmpdir(), 'steadfast-planted-'));
const assembly = join(folder, 'cdk.out');

type Resource = { Type: string; Properties: Record<string, unknown> };
type Template = { Resources: Record<string, Resource> };
let template: Template;

beforeAll(async () => {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'cli/verify/stack/app.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CDK_VALIDATION: 'false',
      CDK_OUTDIR: assembly,
      CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:enable-path-metadata': true }),
    },
  });
  template = JSON.parse(readFileSync(join(assembly, `${STACK}.template.json`), 'utf8')) as Template;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = {
  stackName: STACK,
  region: 'us-east-1',
  accountId: '000000000000',
  gatewayUrl: 'http://127.0.0.1:1',
  apiUrl: () => 'http://127.0.0.1:2',
  functionUrl: () => 'http://127.0.0.1:3',
};

/** What a local cloud of this template answers about it; nothing runs. */
function answersOf(changed: Template): (path: string, url: string) => readonly [number, unknown] {
  const { resources } = resolveTemplate(changed as unknown as Json, place);
  return (path, url) => {
    if (path === '/_local/') return [200, { gatewayUrl: url, outputs: {} }];
    if (path === '/_local/resources') return [200, [...resources.values()]];
    if (path === '/_local/denials') return [200, []];
    if (path === '/health') return [200, { status: 'ok', oldestOverdueMs: 0 }];
    // CloudWatch, of whatever metric is asked for.
    if (path === '/') return [200, { MetricDataResults: [{ Values: [1] }] }];
    return [404, { error: { code: 'unknown-route', message: 'none' } }];
  };
}

/** Runs the whole command against it. @returns its exit code, and the ids of the rows that failed */
async function verified(changed: Template): Promise<readonly [exitCode: number, failed: readonly string[]]> {
  const answers = answersOf(changed);
  const server = createServer((request, response) => {
    const [status, body] = answers(request.url ?? '', urlOf(server));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let text = '';
  const out = (more: string): boolean => {
    text += more;
    return true;
  };
  try {
    const terminal = { out, err: () => true, env: {}, isTTY: false };
    const exitCode = await command(['--url', urlOf(server), 'verify', '--local'], terminal);
    return [exitCode, [...text.matchAll(/^failed +([\w-]+):/gm)].map(([, id = '']) => id)];
  } finally {
    server.close();
  }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Changes the first resource of a type that fits. */
function change(
  type: string,
  act: (resource: Resource) => unknown,
  fits: (resource: Resource) => boolean = () => true,
): Template {
  const copy = structuredClone(template);
  const found = Object.values(copy.Resources).find((each) => each.Type === type && fits(each));
  if (found === undefined) throw new Error(`no ${type} in the template`);
  act(found);
  return copy;
}
const set =
  (properties: object) =>
  ({ Properties }: Resource): unknown =>
    Object.assign(Properties, properties);
const without =
  (name: string) =>
  ({ Properties }: Resource): void => {
    delete Properties[name];
  };
const has =
  (name: string) =>
  ({ Properties }: Resource): boolean =>
    Properties[name] !== undefined;

const FUNCTION = 'AWS::Lambda::Function';
const MAPPING = 'AWS::Lambda::EventSourceMapping';

it('fails no row of the template as it is', async () => {
  expect(await verified(template)).toEqual([0, []]);
});

it.each<[string, string, () => Template]>([
  ['a wrong runtime', 'runtime', () => change(FUNCTION, set({ Runtime: 'nodejs18.x' }))],
  [
    'recursion that is not allowed',
    'recursion-settings',
    () => change(FUNCTION, without('RecursiveLoop'), has('RecursiveLoop')),
  ],
  [
    'visibility that is too short',
    'visibility',
    () => change('AWS::SQS::Queue', set({ VisibilityTimeout: 30 }), has('RedrivePolicy')),
  ],
  ['a mapping that is off', 'mappings', () => change(MAPPING, set({ Enabled: false }))],
  ['a mapping that fails whole batches', 'batches', () => change(MAPPING, without('FunctionResponseTypes'))],
  [
    'a queue without dead letters',
    'dead-letter-queues',
    () => change('AWS::SQS::Queue', without('RedrivePolicy'), has('RedrivePolicy')),
  ],
  [
    'a missing index',
    'indexes',
    () =>
      change(
        'AWS::DynamoDB::Table',
        ({ Properties }) => (Properties['GlobalSecondaryIndexes'] as unknown[]).shift(),
        has('GlobalSecondaryIndexes'),
      ),
  ],
  [
    'a table that forgets nothing',
    'table-keeps',
    () => change('AWS::DynamoDB::Table', without('TimeToLiveSpecification'), has('TimeToLiveSpecification')),
  ],
  [
    'a rule that is off',
    'rules',
    () =>
      change('AWS::Events::Rule', set({ State: 'DISABLED' }), ({ Properties }) =>
        String(Properties['ScheduleExpression']).startsWith('rate(1 minute'),
      ),
  ],
  [
    'a metric with another name',
    'alarm-metrics',
    () => change('AWS::CloudWatch::Alarm', set({ MetricName: 'Sweps' }), has('MetricName')),
  ],
  [
    'an alarm that reaches nobody',
    'alarm-actions',
    () => change('AWS::CloudWatch::Alarm', without('AlarmActions')),
  ],
  [
    'a topic without a subscriber',
    'subscribers',
    () =>
      change('AWS::SNS::Subscription', (resource) => {
        resource.Type = 'AWS::SNS::TopicPolicy';
      }),
  ],
  [
    'a function that logs text',
    'log-settings',
    () =>
      change(
        FUNCTION,
        ({ Properties }) =>
          delete (Properties['LoggingConfig'] as Json & object as Record<string, unknown>)['LogFormat'],
      ),
  ],
])('%s fails the row %s', async (_, id, planted) => {
  expect(await verified(planted())).toEqual([1, [id]]);
});

/** How long a fault lasts here. */
const SHORT_MS = 10_000;

/** So fast does the time pass by which a check gives up. */
const PACE = 60;

const withoutPermission = (): Template =>
  change(
    'AWS::IAM::Policy',
    ({ Properties }) => {
      const { Statement } = Properties['PolicyDocument'] as { Statement: { Action: unknown }[] };
      const effects = Statement.find(({ Action }) => JSON.stringify(Action).includes('dynamodb:DeleteItem'));
      if (effects !== undefined) effects.Action = 'dynamodb:Query';
    },
    ({ Properties }) => /verifyact/i.test(JSON.stringify(Properties['Roles'])),
  );

describe('on a local cloud with a missing permission', () => {
  let stack: LocalStack;

  beforeAll(async () => {
    const broken = join(folder, 'broken');
    cpSync(assembly, broken, { recursive: true });
    writeFileSync(join(broken, `${STACK}.template.json`), JSON.stringify(withoutPermission()));
    const io = ioOf({ out: () => true, err: () => true, env: process.env, isTTY: false });
    stack = await startLocalStack(io, broken);
  });
  afterAll(() => stack.stop());

  it('the rows of the order and of the permissions fail', async () => {
    const beganAt = Date.now();
    const real: Ports = await localPorts({ ...stack, runId: 'planted' });
    const clock = { ...real.clock, now: () => beganAt + (Date.now() - beganAt) * PACE };
    const entries = ENTRIES.filter(({ id }) => ['order', 'child', 'permissions'].includes(id));
    const phases = new Set(['smoke', 'traces'] as const);
    const results = await run(entries, { ...real, clock }, { phases, budget: 5, say: () => {} });
    expect(results.map(({ entry, outcome }) => [entry.id, outcome])).toEqual([
      ['order', 'failed'],
      ['child', 'held'],
      ['permissions', 'failed'],
    ]);
    expect(results[2]?.evidence).toContain('is not authorized to perform: dynamodb:PutItem');
  });

  it('every fault is gone within its time, though the game day was killed in the middle', async () => {
    const ports = await localPorts({ ...stack, runId: 'killed' });
    // A third fault is made, and nothing more is done: not even its end is asked for.
    const program = `
      import { ENTRIES } from './cli/verify/checks/all.ts';
      import { localPorts } from './cli/verify/local.ts';
      import { run } from './cli/verify/run.ts';
      const ports = await localPorts({ apiUrl: '${stack.apiUrl}', runId: 'killed' });
      let made = 0;
      const make = async (fault) => {
        await ports.faults.make({ ...fault, forMs: ${SHORT_MS} });
        made += 1;
        if (made === 3) process.kill(process.pid, 'SIGKILL');
      };
      const phases = new Set(['game-day']);
      const breaking = ENTRIES.filter(({ needs = [] }) => needs.includes('faults'));
      await run(breaking, { ...ports, faults: { ...ports.faults, make } }, { phases, budget: 5, say: () => {} });`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const killed = promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
    const off = async (): Promise<number> => {
      const all = await Promise.all(
        ['schedules', 'mappings', 'functions'].map(async (what) => {
          const answer = await fetch(`${stack.apiUrl}/_local/${what}`);
          return (await answer.json()) as { readonly enabled: boolean }[];
        }),
      );
      return all.flat().filter(({ enabled }) => !enabled).length;
    };
    expect(await off()).toBe(3);
    expect(await until(ports, async () => ((await off()) === 0 ? 'gone' : undefined))).toBe('gone');
    expect((await ended(ports, 'verify-part', { n: 1 }, 'killed')).status).toBe('succeeded');
  });
});
