/** How it is, from the command line: agents and health. */

import type { AgentView } from '../../lib/api/answers.ts';
import { agentsText, healthText } from '../../lib/cli/print-deployment.ts';
import { type Answer, type FakeApi, fakeApi, type Ran, steadfast } from './fake-api.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await fakeApi();
});
afterEach(async () => {
  await api.stop();
});

const ok = (body: unknown, status = 200): Answer => ({ status, body });
const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);

test('agents: queues, breakers and latest failures; what could not be asked is a question mark', async () => {
  const now = Date.now();
  const items: AgentView[] = [
    {
      name: 'charge-card',
      effect: 'probed',
      workflows: ['order'],
      queue: { waiting: 3, underWork: 2, delayed: 1 },
      breaker: { status: 'half-open', since: now - 60_000, trialUntil: now + 9_000 },
      lastError: { code: 'TransientError', message: '503', at: now - 10_000 },
    },
    { name: 'notify', effect: 'idempotent', workflows: ['order'], breaker: { status: 'closed' } },
  ];
  const agents = { items, missing: [], examined: 0 };
  api.answers.push(ok(agents));
  const { exitCode, out } = await cli('agents');
  expect([exitCode, api.asked.at(-1)?.path]).toEqual([0, '/agents']);
  const [head, first, second] = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(head).toEqual(['AGENT', 'WAITING', 'UNDER WORK', 'DELAYED', 'BREAKER', 'LAST ERROR']);
  expect(first?.slice(0, 4)).toEqual(['charge-card', '3', '2', '1']);
  expect(first?.[4]).toMatch(/^half-open for 1 min.*, a trial is under way$/);
  expect(first?.[5]).toMatch(/ ago: 503$/);
  expect(agentsText(agents, now)).toContain('half-open for 1 min, a trial is under way  10 s ago: 503\n');
  expect(second).toEqual(['notify', '?', '?', '?', 'closed']);
});

test('agents: those that are not deployed, who needs them and what to do', async () => {
  const missing = [
    { name: 'pay-trip', waiting: 3, planned: 5 },
    { name: 'tell', waiting: 1, planned: 0 },
    { name: 'write', waiting: 0, planned: 1 },
  ];
  api.answers.push(ok({ items: [], missing, examined: 7 }));
  const again = 'Deploy it again until they have ended; what waits for it goes on within a minute.';
  expect((await cli('agents')).out.split('\n')).toEqual([
    'No agents.',
    `No agent 'pay-trip' is deployed: 3 executions wait for it now; 5 of 7 open executions looked at have it in their plan. ${again}`,
    `No agent 'tell' is deployed: 1 execution waits for it now. ${again}`,
    `No agent 'write' is deployed: 1 of 7 open executions looked at have it in their plan. ${again}`,
    '',
  ]);
});

test('health: a missing agent is named, and exit code 4', async () => {
  const health = { status: 'agent-missing', oldestOverdueMs: 0, workflows: 1, shards: [] };
  api.answers.push(ok({ ...health, missing: { 'pay-trip': 3, tell: 1 } }, 503));
  expect(await cli('health')).toEqual({
    exitCode: 4,
    out: `agent-missing: executions stand still because of agent 'pay-trip' (3), agent 'tell' (1), not deployed; deploy again what they need ("agents" says more)\n`,
    err: '',
  });
});

test('health: ok is exit code 0, overdue is an answer and exit code 4', async () => {
  const health = { status: 'ok', oldestOverdueMs: 0, workflows: 1, shards: [{ shard: 0, overdueMs: 0 }] };
  api.answers.push(ok(health));
  expect(await cli('health')).toEqual({
    exitCode: 0,
    out: [
      'ok: 1 workflow, nothing is overdue for long',
      '',
      'SHARD  OVERDUE  LAST RECEIPT  DUE  FAILED',
      '0',
      '',
    ].join('\n'),
    err: '',
  });
  api.answers.push(ok({ ...health, status: 'overdue', oldestOverdueMs: 180_000 }, 503));
  const overdue = await cli('health');
  expect(overdue.exitCode).toBe(4);
  expect(overdue.out).toContain('3 min ago, so no supervisor is at work');
});

test('health tells what those who watch left behind', async () => {
  const now = 1_700_000_000_000;
  const receipt = { sweptAt: now - 20_000, due: 12, failed: 1, oldestOverdueMs: 800 };
  const pass = { startedAt: now - 60_000, scanned: 40, healed: 0, removed: 0, failed: 0 };
  const audit = { auditedAt: now - 3_600_000, pass, whole: { ...pass, healed: 2, removed: 3, endedAt: now } };
  const shards = [{ shard: 0, overdueMs: 1_000, receipt }];
  const health = { status: 'ok', oldestOverdueMs: 1_000, workflows: 2, shards, audit } as const;
  const text = healthText(health, now);
  expect(text).toContain('0      1 s      20 s ago      12   1\n');
  expect(text).toContain(
    'audit: ran 1 h ago; last whole pass: 40 records, 2 healed, 3 removed, 0 failed; this pass: 40 records',
  );
  api.answers.push(ok(health));
  expect((await cli('health')).out).toContain('2 healed, 3 removed');
});
