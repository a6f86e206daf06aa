/** The commands that show a deployment's state: agents, health, a running execution. */

import type { ExecutionView } from '../../lib/api/answers.ts';
import type { AgentView } from '../../lib/api/agent-answers.ts';
import { FIRST_PAUSE_MS, LAST_PAUSE_MS, printChanges } from '../../cli/changes-shown.ts';
import { agentsText, healthText } from '../../lib/view/deployment.ts';
import { eachFakeApi, ok, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);

test('agents: queues, breakers and latest failures; what could not be asked is a question mark', async () => {
  const now = Date.now();
  const items: AgentView[] = [
    {
      name: 'charge-card',
      effect: 'probed',
      workflows: ['order'],
      queue: { waiting: 3, underWork: 2, delayed: 1 },
      breaker: { status: 'half-open', since: now - 90_000, trialUntil: now + 9_000 },
      lastError: { code: 'TransientError', message: '503', at: now - 10_000 },
    },
    { name: 'notify', effect: 'idempotent', workflows: ['order'], breaker: { status: 'closed' } },
  ];
  const agents = { items, missing: [], examined: 0 };
  api.answers.push(ok(agents));
  const { exitCode, out } = await cli('agents');
  expect([exitCode, api.asked.at(-1)?.path]).toEqual([0, '/agents']);
  const [head, first, second] = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(head).toEqual(['AGENT', 'WAITING', 'IN PROGRESS', 'DELAYED', 'BREAKER', 'LAST ERROR']);
  expect(first?.slice(0, 4)).toEqual(['charge-card', '3', '2', '1']);
  expect(first?.[4]).toMatch(/^half-open for 1 min.*, a trial is under way$/);
  expect(first?.[5]).toMatch(/ ago: 503$/);
  expect(agentsText(agents, now)).toContain(
    'half-open for 1 min 30 s, a trial is under way  10 s ago: 503\n',
  );
  expect(second).toEqual(['notify', '?', '?', '?', 'closed']);
});

test('agents: those that are not deployed, who needs them and what to do', async () => {
  const missing = [
    { name: 'pay-trip', waiting: 3, planned: 5 },
    { name: 'tell', waiting: 1, planned: 0 },
    { name: 'write', waiting: 0, planned: 1 },
  ];
  api.answers.push(ok({ items: [], missing, examined: 7 }));
  const again = 'Deploy it again until they have ended; the waiting executions continue within a minute.';
  expect((await cli('agents')).out.split('\n')).toEqual([
    'No agents.',
    `No agent 'pay-trip' is deployed: 3 executions wait for it now; 5 of 7 examined open executions have it in their plan. ${again}`,
    `No agent 'tell' is deployed: 1 execution waits for it now. ${again}`,
    `No agent 'write' is deployed: 1 of 7 examined open executions have it in their plan. ${again}`,
    '',
  ]);
});

test('health: a missing agent is named, and exit code 4', async () => {
  const findings = [
    { kind: 'missing', agent: 'pay-trip', waiting: 3 },
    { kind: 'missing', agent: 'tell\u001b[2J', waiting: 1 },
  ];
  const health = { status: 'down', says: '', findings, oldestOverdueMs: 0, workflows: 1, shards: [] };
  api.answers.push(ok({ ...health, missing: { 'pay-trip': 3, tell: 1 } }, 503));
  expect(await cli('health')).toEqual({
    exitCode: 4,
    out: "down: Agent 'pay-trip' is not deployed; 3 executions wait for it; deploy it again: what waits for it continues within a minute.\nAgent 'tell\\u001b[2J' is not deployed; 1 execution waits for it; deploy it again: what waits for it continues within a minute.\n",
    err: '',
  });
});

test('health: healthy is exit code 0, down 4 and degraded 5, and each is an answer', async () => {
  const well = { status: 'healthy', says: '', findings: [], oldestOverdueMs: 0, workflows: 1 };
  const health = { ...well, shards: [{ shard: 0, overdueMs: 0 }] };
  api.answers.push(ok(health));
  expect(await cli('health')).toEqual({
    exitCode: 0,
    out: [
      'healthy: Nothing is overdue or at risk, and each agent that is needed is there.',
      '',
      'SHARD  OVERDUE  LAST RECEIPT  DUE  FAILED',
      '0',
      '',
    ].join('\n'),
    err: '',
  });
  const findings = [
    { kind: 'overdue', since: Date.now() - 200_000, waiting: 2, runsOutAt: Date.now() - 9_000 },
  ];
  api.answers.push(ok({ ...health, status: 'down', findings }, 503));
  const overdue = await cli('health');
  expect(overdue.exitCode).toBe(4);
  expect(overdue.out).toMatch(
    /^down: No supervisor is at work: nothing that is due has been evaluated since .* \(3 min.*\); 2 executions wait; the first reached its deadline .* ago; see the supervisor's log and its schedule\.$/m,
  );
  const risk = { kind: 'at-risk', why: 'late', waiting: 2 };
  api.answers.push(
    ok({ ...health, status: 'degraded', findings: [risk], shards: [{ shard: 0, overdueMs: 808 }] }),
  );
  const late = (await cli('health')).out;
  expect(late).toContain(`npx steadfast list --at-risk --url ${api.url}.\n`);
  expect(late).not.toContain('808 ms');
  const paused = { kind: 'paused', agent: 'pay', reason: 'a move', waiting: 2, atLeast: true };
  api.answers.push(ok({ ...health, status: 'degraded', findings: [paused] }));
  const held = await cli('health');
  expect(held.exitCode).toBe(5);
  expect(held.out).toMatch(/^degraded: Agent 'pay' is paused: a move; ≥ 2 executions wait for it; resume it/);
});

test('health tells what those who watch left behind', async () => {
  const now = 1_700_000_000_000;
  const receipt = { sweptAt: now - 20_000, due: 12, failed: 1, oldestOverdueMs: 800 };
  const pass = { startedAt: now - 60_000, scanned: 40, healed: 0, removed: 0, failed: 0 };
  const audit = { auditedAt: now - 3_600_000, pass, whole: { ...pass, healed: 2, removed: 3, endedAt: now } };
  const shards = [{ shard: 0, overdueMs: 6_000, receipt }];
  const well = { status: 'healthy', says: '', findings: [] } as const;
  const health = { ...well, oldestOverdueMs: 6_000, workflows: 2, shards, audit };
  const text = healthText(health, now);
  expect(text).toContain('0      6 s      20 s ago      12   1\n');
  expect(text).toContain(
    'audit: ran 1 h ago; last complete pass: 40 records, 2 healed, 3 removed, 0 failed; this pass: 40 records',
  );
  api.answers.push(ok(health));
  expect((await cli('health')).out).toContain('2 healed, 3 removed');
});

describe('an execution that is watched', () => {
  const view = (status: 'running' | 'succeeded' | 'failed', more: object = {}): ExecutionView =>
    ({
      executionId: 'e1',
      workflow: 'flow',
      status,
      startedAt: 1,
      steps: [],
      incidents: [],
      ...more,
    }) as never;

  test('is printed when it has changed, read ever more seldom while it does not, until it has ended', async () => {
    const slept: number[] = [];
    const printed: ExecutionView[] = [];
    const first = Array.from({ length: 8 }, () => view('running'));
    const views = [...first, view('running', { wakeAt: 5 }), view('succeeded', { endedAt: 9 })];
    const asked = { get: async () => views.shift() ?? view('failed') };
    const clock = {
      now: () => 0,
      async sleep(ms: number) {
        slept.push(ms);
      },
    };
    const end = await printChanges({ api: asked, id: 'e1', print: (each) => printed.push(each), clock });
    expect([end.status, printed.map(({ status, wakeAt }) => [status, wakeAt])]).toEqual([
      'succeeded',
      [
        ['running', undefined],
        ['running', 5],
        ['succeeded', undefined],
      ],
    ]);
    expect(slept.slice(0, 3)).toEqual([FIRST_PAUSE_MS, 1.5 * FIRST_PAUSE_MS, 2.25 * FIRST_PAUSE_MS]);
    expect(slept.slice(7)).toEqual([LAST_PAUSE_MS, FIRST_PAUSE_MS]);
  });

  test('has a line of JSON for each change, and the exit code of its end', async () => {
    const end = view('failed', { endedAt: 9 });
    api.answers.push(ok(end), ok(end));
    expect(await cli('show', 'e1', '--watch', '--json')).toEqual({
      exitCode: 4,
      out: `${JSON.stringify(end)}\n`,
      err: '',
    });
    expect((await cli('show', 'e1', '--watch')).out).toMatch(/^execution +e1$/m);
  });
});
