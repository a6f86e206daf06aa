/** Lists by filter on the command line, and `status`. */

import { Command } from 'commander';
import type { Overview } from '../../lib/api/deployment-answers.ts';
import { addLists } from '../../cli/lists.ts';
import { overviewText } from '../../cli/print-overview.ts';
import { ioOf } from '../../cli/io.ts';
import { instantOf } from '../../lib/view/text.ts';
import { type Answer, eachFakeApi, ok, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);
const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const item = (executionId: string, more: object = {}) => ({
  executionId,
  workflow: 'order',
  plan: 'p1',
  status: 'succeeded',
  startedAt: AT,
  endedAt: AT + 65_000,
  ...more,
});
const page = (items: readonly object[], more: object = {}): Answer =>
  ok({ items, orderedBy: 'startedAt', ...more });

describe('list', () => {
  test('prints a table', async () => {
    api.answers.push(page([item('e1')]));
    const { out } = await cli('list', '--workflow', 'order', '--status', 'succeeded', '--limit', '5');
    expect(out).toBe(
      'EXECUTION  WORKFLOW  STATUS     STARTED               TOOK\n' +
        'e1         order     succeeded  2026-01-02 03:04:05Z  1 min 5 s\n',
    );
    expect(api.asked[0]?.path).toBe('/executions?workflow=order&status=succeeded&limit=5');
  });

  test('says with which code one failed, and in which order too many are', async () => {
    const failed = item('e2', { status: 'failed', code: 'card-declined' });
    api.answers.push(page([item('e1'), failed], { orderedBy: 'wakeAt' }));
    expect((await cli('list')).out.split('\n').slice(0, 4)).toEqual([
      'EXECUTION  WORKFLOW  STATUS     STARTED               TOOK       CODE',
      'e1         order     succeeded  2026-01-02 03:04:05Z  1 min 5 s',
      'e2         order     failed     2026-01-02 03:04:05Z  1 min 5 s  card-declined',
      'More than 10,000 are open, listed by due time.',
    ]);
  });

  test('says why an open one does not simply run', async () => {
    const open = { endedAt: undefined };
    const risk = { why: 'breaker', agent: 'pay', step: 'pay' };
    api.answers.push(
      page([
        item('e1', { ...open, status: 'waiting', step: 'ship' }),
        item('e2', { ...open, status: 'waiting' }),
        item('e3', { ...open, status: 'running', asked: { count: 2 } }),
        item('e4', { ...open, status: 'waiting', risk, step: 'pay', riskSince: AT }),
        item('e5', { ...open, status: 'running' }),
      ]),
    );
    const [head = '', ...rows] = (await cli('list')).out.split('\n');
    expect(rows.slice(0, 5).map((row) => row.slice(head.indexOf('BECAUSE')).trim())).toEqual([
      "a person is asked about 'ship'",
      'a person is asked',
      'a person is asked below it',
      'its agent is failing (pay)',
      '',
    ]);
  });

  test('counts by cause where there are several', async () => {
    const ended = ['lost', 'card-declined', 'card-declined'].map((code, at) =>
      item(`e${at}`, { status: 'failed', code }),
    );
    api.answers.push(page(ended));
    expect((await cli('list', '--status', 'bad')).out).toContain('\nBy cause: 2 card-declined, 1 lost\n');
    api.answers.push(page(ended.slice(1)));
    expect((await cli('list', '--status', 'bad')).out).not.toContain('By cause');
  });

  test('asks by every filter', async () => {
    const asked = async (...args: string[]): Promise<string | undefined> => {
      api.answers.push(page([]));
      expect((await cli('list', ...args)).out).toBe('No executions.\n');
      return api.asked.at(-1)?.path;
    };
    expect(await asked('--at-risk')).toBe('/executions?atRisk=true&limit=20');
    expect(await asked('--status', 'bad', '--code', 'a b', '--plan', 'p')).toBe(
      '/executions?status=bad&code=a+b&plan=p&limit=20',
    );
    expect(await asked('--workflow', 'order', '--key', 'k/1')).toBe(
      '/executions?workflow=order&key=k%2F1&limit=20',
    );
    expect(await asked('--since', '2026-01-02T03:04:05Z', '--until', '2026-01-03')).toBe(
      `/executions?since=${AT}&until=${Date.UTC(2026, 0, 3)}&limit=20`,
    );
    const agoOf = async (time: string): Promise<number> =>
      Date.now() - Number(/since=(\d+)/.exec((await asked('--since', time)) ?? '')?.[1]);
    expect(Math.abs((await agoOf('2h')) - 7_200_000)).toBeLessThan(60_000);
    expect(await agoOf('00:00')).toBeLessThan(25 * 3_600_000);
  });

  it('reckons a time from the clock of the API, not from that of the terminal', async () => {
    const hour = 3_600_000;
    for (const command of [['list'], ['bulk', 'cancel', '--dry-run']]) {
      api.answers.push({ ...page([]), at: Date.now() + 10 * hour });
      await cli(...command, '--since', '2h');
      const { path, body } = api.asked.at(-1) ?? { path: '', body: undefined };
      const { since } = Object(Object(body).filter) as { readonly since?: number };
      const at = since ?? Number(/since=(\d+)/.exec(path)?.[1]);
      expect(Math.abs(at - Date.now() - 8 * hour)).toBeLessThan(60_000);
    }
  });

  // At 03:04 at night, "since 22:30" means the evening before, as in the console.
  test.each([
    ['22:30', new Date(2026, 0, 1, 22, 30)],
    ['3:04', new Date(2026, 0, 2, 3, 4)],
    ['03:05', new Date(2026, 0, 1, 3, 5)],
    ['90s', new Date(2026, 0, 2, 3, 2, 35)],
    ['2026-01-02T01:00', new Date(2026, 0, 2, 1)],
    [String(AT), new Date(AT)],
  ])('takes %s for the latest such time', (text, wanted) => {
    expect(instantOf(text, new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe(wanted.getTime());
  });

  test.each(['yesterday', '2', '5x', '2026', '9', '99:99', '24:00', '9:60', '2026-02-30', '2026-01-31 soon'])(
    'refuses the time %j, and says what is wanted',
    async (time) => {
      const { exitCode, err } = await cli('list', '--since', time);
      expect([exitCode, api.asked]).toEqual([2, []]);
      expect(err).toContain('2h (ago), 09:30 (the latest)');
    },
  );

  test('follows the cursor over short and empty pages, up to the limit', async () => {
    api.answers.push(page([], { cursor: 'a:' }), page([item('e1')], { cursor: 'a:1' }));
    api.answers.push(page([item('e2')], { cursor: 'a:2' }));
    const { out } = await cli('list', '--limit', '2', '--json');
    const items = [item('e1'), item('e2')];
    expect(JSON.parse(out)).toEqual({ items, more: true, orderedBy: 'startedAt' });
    expect(api.asked.map(({ path }) => path)).toEqual([
      '/executions?limit=2',
      '/executions?limit=2&cursor=a%3A',
      '/executions?limit=1&cursor=a%3A1',
    ]);
  });
});

const ann = { kind: 'local', name: 'ann' } as const;
const overview: Overview = {
  at: AT,
  health: {
    status: 'degraded',
    says: '',
    findings: [
      {
        kind: 'breaker',
        agent: 'pay',
        since: AT - 240_000,
        failure: { code: 'TransientError', message: 'it answered 500' },
        waiting: 2,
        runsOutAt: AT + 3_600_000,
      },
      { kind: 'missing', agent: 'gone', waiting: 2 },
    ],
    oldestOverdueMs: 0,
  },
  open: { count: 1_204, atRisk: 3, byStatus: { running: 1_200, waiting: 4 } },
  oldestOverdue: { executionId: 'e1', workflow: 'order', wakeAt: AT - 2_000 },
  endedWithoutSuccess: {
    since: AT - 86_400_000,
    count: 9,
    started: { count: 10_000, atLeast: true },
    byStatus: { failed: 9 },
    byCode: [
      { code: 'card-declined', count: 7 },
      { code: 'lost', count: 2 },
    ],
  },
  lately: { since: AT - 3_600_000, started: 160, endedWithoutSuccess: 16 },
  inbox: {
    count: 5,
    byKind: { recovery: 2, approval: 3 },
    next: { executionId: 'e2', kind: 'approval', deadlineAt: AT + 1_800_000 },
  },
  workflows: [
    {
      workflow: 'order',
      open: 1_204,
      waiting: 4,
      paused: 0,
      atRisk: 3,
      endedWithoutSuccess: 9,
      lately: { started: 10_000, endedWithoutSuccess: 16, atLeast: true },
      plans: [
        { plan: 'p1', open: 1_200, isCurrent: true },
        { plan: 'p0', open: 4, isCurrent: false },
      ],
      pause: { at: AT - 2_000, by: ann, reason: 'the bank is away' },
    },
  ],
  breakers: [
    { agent: 'pay', breaker: { status: 'open', since: AT - 60_000, until: AT + 5_000 } },
    {
      agent: 'ship',
      breaker: {
        status: 'paused',
        since: AT - 60_000,
        pause: { at: AT - 60_000, by: ann, reason: 'a move' },
      },
    },
  ],
  missing: [{ agent: 'gone', waiting: 2 }],
  sweptAt: AT - 1_500,
};

describe('status', () => {
  test('is one screen, each number with the command that lists it', async () => {
    api.answers.push(ok(overview));
    const { exitCode, out } = await cli('status');
    const at = `--url ${api.url}`;
    expect([exitCode, api.asked[0]?.path, out]).toEqual([
      5,
      '/overview',
      [
        `health                 degraded: Agent 'pay' has been failing since 2026-01-02 03:00:05Z (4 min) (TransientError: it answered 500); 2 executions wait for it; the first reaches its deadline in 1 h; fix its service and nothing else: they continue by themselves once it answers (at once: npx steadfast agents try-now pay ${at}).`,
        "                       Agent 'gone' is not deployed; 2 executions wait for it; deploy it again: what waits for it continues within a minute.",
        'swept                  a supervisor last found work 1.5 s ago',
        "breaker                agent 'pay': open for 1 min, 5 s more",
        "breaker                agent 'ship': paused for 1 min by local:ann: a move",
        "missing                agent 'gone' is not deployed; 2 wait for it",
        `at risk                3: npx steadfast list --at-risk ${at}`,
        `open                   1,204: 1,200 running, 4 waiting: npx steadfast list --status open ${at}`,
        'overdue longest        e1 (order), for 2 s',
        `ended without success  9 in the last 1 d (≥ 10,000 were started in that time): 7 card-declined, 2 lost: npx steadfast list --status bad --since 24h ${at}`,
        '                       16 of 160 (10 %) of those started in the last 1 h',
        `inbox                  5: 2 recovery, 3 approval; e2 expires first, in 30 min: npx steadfast incidents ${at}`,
        "paused                 starts of 'order': paused for 2 s by local:ann: the bank is away",
        `old plan               4 of 'order': npx steadfast list --plan p0 ${at}`,
        '',
        'WORKFLOW  OPEN   WAITING  PAUSED  AT RISK  ENDED WITHOUT SUCCESS  LAST HOUR         OLD PLANS',
        'order     1,204  4        0       3        9                      ≥ 16 of ≥ 10,000  4 of 1',
        '',
        `For one workflow: npx steadfast list --workflow <name> --status open ${at} (or --at-risk, or --status bad --since 24h)`,
        '',
      ].join('\n'),
    ]);
  });

  test('--json is the answer itself; what is not well is exit code 4', async () => {
    const bad = { ...overview, health: { ...overview.health, status: 'down', oldestOverdueMs: 300_000 } };
    api.answers.push(ok(bad));
    const { exitCode, out } = await cli('status', '--json');
    expect([exitCode, JSON.parse(out)]).toEqual([4, bad]);
  });

  test('of an empty system says so', () => {
    const none: Overview = {
      ...overview,
      health: { status: 'healthy', says: '', findings: [], oldestOverdueMs: 0 },
      open: { count: 0, atRisk: 0, byStatus: {} },
      endedWithoutSuccess: { since: AT - 86_400_000, count: 0, byStatus: {}, byCode: [] },
      inbox: { count: 0, byKind: {} },
      workflows: [],
      breakers: [],
      missing: [],
    };
    const { oldestOverdue: _, sweptAt: _swept, lately: _lately, ...empty } = none;
    expect(overviewText(empty, (line) => line)).toBe(
      'health                 healthy: Nothing is overdue or at risk, and each agent that is needed is there.\nat risk                0\nopen                   0\nended without success  0 in the last 1 d\ninbox                  0\n',
    );
    const waits = { count: 5, since: AT - 34_000 };
    const text = (one: Overview['waits']): string =>
      overviewText({ ...empty, waits: one ?? waits }, (line) => line);
    expect(text(waits)).toMatch(
      /^waiting clients +5 calls wait for the end of an execution since .* \(34 s\); there/m,
    );
    const refused = { calls: 1_200, since: AT - 33_000, at: AT - 1_000 };
    expect(text({ ...waits, refused })).toMatch(
      /\(34 s\); at least 1,200 more were answered at once since .* \(33 s\), the last 1 s ago, because no more may wait at a time; .* ask less often/,
    );
    // Refused calls are still shown when those who waited are gone.
    expect(text({ count: 0, refused })).toMatch(/0 calls wait for the end of an execution; at least 1,200 /);
    const counts = { workflow: 'park', open: 10_000, waiting: 9_000, paused: 0, atRisk: 0 };
    const many: Overview = {
      ...empty,
      open: { count: 10_000, atLeast: true, atRisk: 0, byStatus: { waiting: 9_000 } },
      workflows: [
        { ...counts, endedWithoutSuccess: 0, plans: [{ plan: 'p', open: 10_000, isCurrent: false }] },
      ],
    };
    const bounded = overviewText(many, (line) => line);
    expect(bounded).toMatch(/^open +≥ 10,000: ≥ 9,000 waiting: /m);
    // Executions at risk are searched separately, and "at least 0 paused" would say nothing.
    expect(bounded).toMatch(/^at risk +0$/m);
    expect(bounded).toMatch(/^park +≥ 10,000 +≥ 9,000 +– +0 +0 +≥ 10,000 of 1$/m);
    expect(bounded).toMatch(/^old plan +≥ 10,000 of 'park': /m);
  });

  test.each([
    ['', '\u001b[H\u001b[2J', 3],
    [', with --json a line each', '\n', 3],
  ])('--watch prints it again every five seconds%s', async (json, between, parts) => {
    const slept: number[] = [];
    let out = '';
    const io = ioOf({ out: (text: string) => (out += text), err: () => '', env: {}, isTTY: true });
    const program = new Command().option('--url <url>', '', api.url).option('--json').exitOverride();
    addLists(
      program,
      { io, exitCode: 0 },
      {
        now: () => AT,
        sleep: async (ms) => {
          slept.push(ms);
          if (slept.length === 2) throw new Error('interrupted');
        },
      },
    );
    api.answers.push(ok(overview), ok(overview));
    const args = ['status', '--watch', ...(json === '' ? [] : ['--json'])];
    await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow('interrupted');
    expect(slept).toEqual([5_000, 5_000]);
    expect(out.split(between)).toHaveLength(parts);
  });
});
