/**
 * If the supervisors' schedule is off in the local cloud, every report about the deployment begins with this
 * warning.
 */

import { withSchedules } from '../../cli/local-schedules.ts';
import { Schedules } from '../../local/events/schedules.ts';
import { ManualClock } from '../local/manual-clock.ts';
import { findingText } from '../../lib/explain/situation.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const healthy = { status: 'healthy', says: 'all is well', findings: [], oldestOverdueMs: 0 };
const risk = { kind: 'at-risk', waiting: 2, why: 'late' };
const schedule = (logicalId: string, enabled: boolean): object => ({
  logicalId,
  enabled,
  ...(enabled ? {} : { disabledAt: AT - 60_000 }),
});
const TICK = 'SteadfastSupervisorTick3FA1B2C9';
const others = [schedule('SteadfastAuditTick3FA1B2C9', false), schedule('NightlySupervisorReport', false)];

/** @param schedules the control's answer @param body the API's answer */
function asked(schedules: unknown, body: unknown, path = '/overview') {
  const paths: string[] = [];
  const send = (async (url: string) => {
    paths.push(new URL(url).pathname);
    if (!url.includes('/_local/')) return Response.json(body, { status: 203 });
    if (schedules === undefined) throw new Error('nothing answers');
    return Response.json(schedules);
  }) as typeof fetch;
  const answer = withSchedules(send)(`http://127.0.0.1:4510${path}`);
  return answer.then(async (one) => ({ status: one.status, body: (await one.json()) as unknown, paths }));
}

test.each([
  ['/overview', { health: { ...healthy, findings: [risk] }, sweptAt: AT, open: { count: 3, atLeast: true } }],
  ['/health', { ...healthy, findings: [risk], workflows: 1 }],
])('%s is down, and says so first, and all else as before', async (path, body) => {
  const off = [schedule(TICK, false), ...others];
  const { status, body: told, paths } = await asked(off, body, path);
  expect([status, paths]).toEqual([203, [path, '/_local/schedules']]);
  const { health = told, ...rest } = told as { health?: object };
  const first = {
    kind: 'schedule-off',
    address: 'http://127.0.0.1:4510',
    since: AT - 60_000,
    ...(path === '/overview' ? { sweptAt: AT, waiting: 3, atLeast: true } : {}),
  };
  expect(health).toMatchObject({
    status: 'down',
    says: expect.stringMatching(
      /^The supervisors' schedule has been off since 2026-01-02 03:03:05Z .*; enable it \(curl -X POST http:\/\/127\.0\.0\.1:4510\/_local\/schedules\/supervisor\/enable\): .* And 1 more\.$/,
    ),
    findings: [first, risk],
    oldestOverdueMs: 0,
  });
  expect(rest).toMatchObject(path === '/overview' ? { sweptAt: AT, open: { count: 3 } } : { workflows: 1 });
});

test.each([
  ['it ticks', [schedule(TICK, true), ...others], { health: healthy }, '/overview'],
  ['no control answers', undefined, { health: healthy }, '/overview'],
  ['it answers something else', { error: 'no such call' }, { health: healthy }, '/overview'],
  ['the API refuses', [schedule(TICK, false)], { error: { code: 'forbidden' } }, '/health'],
])('nothing is added where %s', async (_, schedules, body, path) => {
  expect((await asked(schedules, body, path)).body).toEqual(body);
});

test('nothing is asked beside any other call', async () => {
  expect((await asked([schedule(TICK, false)], { items: [] }, '/agents')).paths).toEqual(['/agents']);
});

test('a schedule is off since it was first disabled, and that ends when it is enabled', () => {
  const clock = new ManualClock();
  const rule = { ruleName: 'sweep', logicalId: TICK, scheduleExpression: 'rate(1 minute)' };
  const disabled = new Set(['nightly']);
  const bus = {
    isEnabled: (name: string) => !disabled.has(name),
    setEnabled: (name: string, on: boolean) => (on ? disabled.delete(name) : disabled.add(name)),
  };
  const rules = [rule, { ...rule, ruleName: 'nightly' }];
  const schedules = new Schedules(rules as never, bus as never, clock, { region: '', accountId: '' });
  const since = (): unknown[] => schedules.list().map((one) => one.disabledAt);
  const begun = clock.now();
  clock.advance(1_000);
  schedules.setEnabled('sweep', false);
  clock.advance(1_000);
  schedules.setEnabled('sweep', false);
  expect(since()).toEqual([begun + 1_000, begun]);
  schedules.setEnabled('sweep', true);
  expect(since()).toEqual([undefined, begun]);
});

test('the sentence says since when no sweep was seen', () => {
  expect(
    findingText({ kind: 'schedule-off', sweptAt: AT, address: 'http://127.0.0.1:4510' }, AT + 180_000),
  ).toBe(
    "The supervisors' schedule is off, no sweep since 2026-01-02 03:04:05Z (3 min); enable it (curl -X POST http://127.0.0.1:4510/_local/schedules/supervisor/enable): nothing that waits for a time or a retry, or whose agent died, continues without it.",
  );
});
