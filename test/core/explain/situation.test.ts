/** What is said of a deployment whose storage keeps no write: before all else, in one sentence. */

import { type Finding, situationText, verdictOf, worstFirst } from '../../../lib/core/explain/situation.ts';

const AT = Date.UTC(2026, 6, 1, 9, 30);

it('executions at risk for reasons of their own are counted in one sentence', () => {
  const risk: Finding = { kind: 'at-risk', why: 'last-try', waiting: 1, runsOutAt: AT + 60_000 };
  const list = 'for the reason of each: npx steadfast list --at-risk.';
  expect(situationText([risk], AT)).toBe(
    `1 execution may not end well or in time, because nothing is left to try after this; it reaches its deadline in 1 min; ${list}`,
  );
  expect(situationText([{ ...risk, waiting: 1_200, atLeast: true }], AT + 120_000)).toBe(
    `At least 1,200 executions may not end well or in time, mostly because nothing is left to try after this; the first reached its deadline 1 min ago; ${list}`,
  );
});

test.each([
  [
    'unclaimed',
    "Agent 'reserve' has taken no work since 2026-07-01 09:30:00Z (1 min); 5 executions wait for it;",
    'see its log',
  ],
  [
    'cannot-tell',
    "Agent 'reserve' has not found out by its probes what was done since 2026-07-01 09:30:00Z (1 min); 5 exe",
    'see what',
  ],
  [
    'breaker',
    "Agent 'reserve' failed and is called again; 5 executions wait for it;",
    'nothing is to be done',
  ],
] as const)(
  'of an agent that all wait for (%s), since when, how many and what to do',
  (why, start, remedy) => {
    const shared: Finding = {
      kind: 'at-risk',
      why,
      agent: 'reserve',
      since: AT,
      waiting: 5,
      runsOutAt: AT + 120_000,
    };
    const said = situationText([shared], AT + 60_000);
    expect(said.startsWith(start)).toBe(true);
    expect(said).toContain(`; the first reaches its deadline in 1 min; ${remedy}`);
  },
);

it('a storage that keeps no write comes first, and is down', () => {
  const failure = { code: 'DiskFull', message: 'the disk is full' };
  const storage: Finding = { kind: 'storage', since: AT, failure };
  const findings = worstFirst([{ kind: 'overdue', since: AT }, storage, { kind: 'at-risk' }]);
  expect(findings[0]).toBe(storage);
  expect(verdictOf([storage])).toBe('down');
  expect(situationText(findings, AT + 60_000)).toBe(
    'No write has been stored since 2026-07-01 09:30:00Z (1 min) (DiskFull: the disk is full); fix that and nothing else: executions continue by themselves with the next write. And 2 more.',
  );
});
