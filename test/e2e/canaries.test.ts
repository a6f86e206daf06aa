/**
 * S17: what is given to the system as data is in no log line, no metric, no message, no event and no refusal. Canaries
 * go in wherever anything goes in, through the real functions, which log all that they can.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../lib/local/cloud.ts';

let folder: string;
let cloud: Cloud;
const lines: string[] = [];
const refusals: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-canaries-'));
  const { assembly } = await synthesize({
    outdir: join(folder, 'cdk.out'),
    folders: ['test/e2e/workflows'],
    only: ['canary'],
    validation: false,
  });
  cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: true,
    environment: { POWERTOOLS_LOG_LEVEL: 'DEBUG' },
    onLog: ({ line }) => lines.push(line),
  });
}, 60_000);
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 30_000);

interface Answer {
  readonly status: number;
  // The test looks into it; what is not there fails it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${cloud.apiUrl}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  if (response.status >= 400) refusals.push(answer);
  return { status: response.status, body: JSON.parse(answer) };
}

const WAYS = ['done', 'error', 'transient', 'permanent', 'bad-output', 'nothing-known'] as const;

const begin = async (way: string): Promise<string> => {
  const given = {
    input: { secret: 'canary-in-an-input', way },
    idempotencyKey: `canary-in-a-key-${way}`,
    tags: { tag: 'canary-in-a-tag' },
  };
  const { status, body } = await ask('POST', '/workflows/canary/executions', given);
  expect(status).toBe(202);
  return body.executionId;
};

/** Waits until it has ended, asks somebody, or has been tried and probed. */
async function stopped(id: string): Promise<ExecutionView> {
  for (;;) {
    const { body } = await ask('GET', `/executions/${id}`);
    const asks = /"status":"waiting"|"token":/.test(JSON.stringify(body));
    if (body.endedAt !== undefined || asks || body.steps[0].attempts.length >= 3) return body;
    await pause(100);
  }
}

const canariesIn = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => text.match(/canary-in-[a-z-]+/g) ?? [])),
];

it('no canary is found outside of the table and of what an authorised reader is shown', async () => {
  for (const { name } of cloud.control.schedules()) cloud.control.tick(name).catch(() => undefined);
  const ids = await Promise.all(WAYS.map(begin));
  const views = await Promise.all(ids.map(stopped));
  // They did get in.
  expect(canariesIn(views.map((view) => JSON.stringify(view)))).toEqual(
    expect.arrayContaining(['canary-in-an-error']),
  );

  const token = /"token":"([^"]+)"/.exec(JSON.stringify(views[0]))?.[1] ?? '';
  expect(token).not.toBe('');
  const secret = token.split('.').at(-1) as string;
  const callback = `/callbacks/${token}`;
  await ask('POST', `${callback}/complete`, { output: { secret: 5, other: 'canary-in-a-refused-output' } });
  await ask('POST', `${callback}/fail`, { code: 'canary in a refused code', message: 'canary-in-a-message' });
  await ask('POST', `${callback}/complet`, {});
  await ask('POST', `/callbacks/${token}0/complete`, { output: { secret: 'canary-in-a-wrong-token' } });
  expect((await ask('POST', `${callback}/beat`)).status).toBe(200);
  expect(
    (await ask('POST', `${callback}/complete`, { output: { secret: 'canary-in-a-callback' } })).status,
  ).toBe(200);
  await ask('POST', `${callback}/complete`, { output: { secret: 'canary-in-a-second-answer' } });

  const start = '/workflows/canary/executions';
  await ask('POST', start, { input: { secret: 7, way: 'canary-in-an-enum' } });
  await ask('POST', start, {
    input: { secret: 'canary-in-an-input', way: 'done' },
    idempotencyKey: 'canary-in-a-key-error',
  });
  await ask('POST', start, '{"input":{"secret":"canary-in-broken-json"');
  await ask('POST', start, { input: {}, tags: { tag: `canary-in-a-long-tag${'x'.repeat(300)}` } });
  await ask('POST', start, { input: {} }, { 'idempotency-key': `canary-in-a-header${'x'.repeat(300)}` });
  await ask('POST', `/executions/${ids[1]}/cancel`, {
    reason: 'canary-in-a-reason',
    commandId: 'canary-in-a-command',
  });
  await ask('GET', `/executions?cursor=canary-in-a-cursor`);
  await Promise.all(ids.slice(0, 1).map((id) => ask('GET', `/executions/${id}?wait=20s`)));
  for (const path of ['/executions?workflow=canary', '/incidents', '/agents', '/health'])
    await ask('GET', path);

  expect(lines.length).toBeGreaterThan(50);
  expect(lines.some((line) => line.includes('"_aws"'))).toBe(true);
  expect(refusals.length).toBeGreaterThan(9);
  const queues = join(folder, 'data', 'queues');
  const messages = readdirSync(queues).map((file) => readFileSync(join(queues, file), 'utf8'));
  expect(messages.join('')).toContain('kept');
  const events = cloud.control.events().map((event) => JSON.stringify(event));
  expect(events.length).toBeGreaterThan(0);
  const places = { lines, refusals, messages, events };
  expect(
    Object.entries(places).flatMap(([place, texts]) => canariesIn(texts).map((it) => `${place}: ${it}`)),
  ).toEqual([]);
  for (const texts of Object.values(places))
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
}, 60_000);
