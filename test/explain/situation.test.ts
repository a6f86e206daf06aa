/** If a deployment's storage accepts no write, its situation begins with one sentence about that. */

import {
  type Finding,
  findingText,
  situationText,
  verdictOf,
  worstFirst,
} from '../../lib/explain/situation.ts';
import { situationLines } from '../../lib/view/deployment.ts';

const AT = Date.UTC(2026, 6, 1, 9, 30);

it('executions at risk for reasons of their own are counted in one sentence', () => {
  const risk: Finding = { kind: 'at-risk', why: 'last-try', waiting: 1, runsOutAt: AT + 60_000 };
  const list = 'for the reason of each: npx steadfast list --at-risk.';
  expect(situationText([risk], AT)).toBe(
    `1 execution may not end well or in time, because nothing is left to try after this; it reaches its deadline in 1 min; ${list}`,
  );
  expect(situationText([{ ...risk, waiting: 1_200, atLeast: true }], AT + 120_000)).toBe(
    `≥ 1,200 executions may not end well or in time, mostly because nothing is left to try after this; the first reached its deadline 1 min ago; ${list}`,
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

it('refused connections are counted, and hinder no other work', () => {
  const full: Finding = { kind: 'connections', since: AT, calls: 12 };
  expect(situationText([full], AT + 60_000)).toBe(
    'The server refused 12 connections since 2026-07-01 09:30:00Z (1 min); allow its process more open files (ulimit -n), or let fewer callers wait at once.',
  );
  expect(verdictOf([full])).toBe('degraded');
});

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

describe('an agent whose processes die', () => {
  const lost: Finding = { kind: 'lost', agent: 'pay', since: AT, lastAt: AT, calls: 1 };

  it('once is said, and the deployment is healthy', () => {
    expect(verdictOf([lost])).toBe('healthy');
    expect(findingText(lost, AT + 60_000)).toBe(
      "1 attempt of agent 'pay' ended without a report since 2026-07-01 09:30:00Z (1 min), as its process died or went silent; a supervisor probes or repeats each that has a try left; what has ended for want of one: npx steadfast list --status bad.",
    );
  });

  it('again and again is degraded, and says since when, how often, when last and what to do', () => {
    const often = { ...lost, calls: 7, lastAt: AT + 50_000 };
    expect(verdictOf([often])).toBe('degraded');
    expect(findingText(often, AT + 60_000)).toBe(
      "7 attempts of agent 'pay' ended without a report since 2026-07-01 09:30:00Z (1 min), as their processes died or went silent, the latest 10 s ago; fix agent 'pay', or set 'isolate: true' where it is declared: then a death is known at once; a supervisor probes or repeats each that has a try left; what has ended for want of one: npx steadfast list --status bad.",
    );
  });

  it('names the places to read and the next action, as far as they are known', () => {
    const logged = findingText({ ...lost, calls: 7, executionId: 'e-1' }, AT);
    expect(logged).toContain('; see what it logged last (npx steadfast logs e-1), fix agent ');
    const failure = { code: 'process-died', message: 'exit code 7' };
    const here = { ...lost, calls: 7, failure, file: 'agents/pay.ts', isAlone: true } as const;
    expect(findingText(here, AT)).toMatch(/ \(exit code 7\); fix agents\/pay\.ts; a supervisor probes/);
  });

  it.each([
    [
      { calls: 1, oneOf: ['a', 'pay'] },
      'healthy',
      "once since 2026-07-01 09:30:00Z (1 min) (signal SIGKILL), by one of those at work in it: 'a', 'pay'; nothing is to be done: an agent at work in another end gets processes of its own",
    ],
    [
      { calls: 3, oneOf: ['pay'], lastAt: AT + 50_000 },
      'degraded',
      "3 times since 2026-07-01 09:30:00Z (1 min), the latest 10 s ago (signal SIGKILL), by what was at work in it: 'pay'; an agent at work in two of them has processes of its own now",
    ],
    [
      { calls: 2, agent: 'pay' },
      'degraded',
      "twice since 2026-07-01 09:30:00Z (1 min) (signal SIGKILL), by what agent 'pay' did after its attempt; fix its code, or set 'isolate: true'",
    ],
    [{ calls: 1, oneOf: [] }, 'healthy', 'while no agent was at work'],
    [{ calls: 2, oneOf: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'degraded', "'e' and 1 more"],
  ] as const)(
    'may share it with others: how often, since when, who, what to do (%#)',
    (more, verdict, said) => {
      const failure = { code: 'process-died', message: 'signal SIGKILL' };
      const worker: Finding = { kind: 'worker', since: AT, lastAt: AT, failure, ...more };
      expect(verdictOf([worker])).toBe(verdict);
      expect(findingText(worker, AT + 60_000)).toContain(said);
    },
  );
});

it('a command is named as the reader types it', () => {
  const typed = (line: string): string => `npx steadfast ${line} --url http://127.0.0.1:4600`;
  const asked: Finding = { kind: 'asked', waiting: 2, since: AT };
  const risk: Finding = { kind: 'at-risk', why: 'late', waiting: 2 };
  const untold: Finding = { kind: 'at-risk', why: 'cannot-tell', agent: 'pay', waiting: 2 };
  for (const one of [asked, risk, untold])
    expect(findingText(one, AT, typed)).toMatch(/npx steadfast [^;]* --url http:\/\/127\.0\.0\.1:4600/);
});

it('nothing continues by itself while no supervisor is at work', () => {
  const off: Finding = { kind: 'schedule-off', since: AT, waiting: 5, address: 'http://127.0.0.1:4510' };
  const pay: Finding = { kind: 'breaker', agent: 'pay', since: AT, waiting: 5 };
  const lines = situationLines({ status: 'down', findings: [off, pay] }, AT + 60_000);
  expect(lines[0]).toContain('; 5 executions are open; enable it (curl ');
  expect(lines[1]).toMatch(
    /they continue by themselves once it answers \(at once: npx steadfast agents try-now pay\), once a supervisor is at work again\.$/,
  );
  expect(situationLines({ status: 'degraded', findings: [pay] }, AT)[0]).toMatch(
    /once it answers \(at once: npx steadfast agents try-now pay\)\.$/,
  );
});

describe('causes other than a fault of the service', () => {
  it('is a bug: whose, since when, how often, and that its code is fixed, not its service', () => {
    const failure = {
      code: 'bug',
      message: "a bug in agent 'book': TypeError: x is not a function (agents/book.ts:4)",
    };
    const bug: Finding = { kind: 'bug', agent: 'book', since: AT, lastAt: AT + 50_000, calls: 16, failure };
    expect(verdictOf([bug])).toBe('degraded');
    expect(findingText(bug, AT + 60_000)).toBe(
      "A bug in agent 'book': TypeError: x is not a function (agents/book.ts:4); it has ended at least 16 attempts since 2026-07-01 09:30:00Z (1 min), the latest 10 s ago; its service is not to blame: deploy a fixed version of 'book'; what still has attempts left continues by itself, the others: npx steadfast list --code bug.",
    );
  });

  it('names failures that began soon after a start, with its time', () => {
    const finding: Finding = { kind: 'lost', agent: 'pay', since: AT, calls: 4, startedAt: AT - 12_000 };
    expect(findingText(finding, AT + 60_000)).toContain(' (1 min), 12 s after the start of 2026-');
  });

  it.each(['breaker', 'unanswered'] as const)(
    'blames no service for a process that ends itself: %s',
    (kind) => {
      const failure = { code: 'process-died', message: 'the process of the attempt died' };
      const said = findingText({ kind, agent: 'pay', since: AT, waiting: 2, failure }, AT);
      expect(said).toContain('its service is not to blame');
      expect(said).not.toContain('fix its service');
    },
  );

  it.each(['429 (its service asks to wait 7 s)', 'Too Many Requests', 'ThrottlingException'])(
    'is our rate: %s',
    (message) => {
      const finding: Finding = {
        kind: 'breaker',
        agent: 'pay',
        since: AT,
        waiting: 2,
        failure: { code: 'TransientError', message },
      };
      const said = findingText(finding, AT + 60_000);
      expect(said).toContain(message);
      expect(said).toContain("set the agent's 'rate' (agentSettings) to less");
      expect(said).not.toContain('fix its service');
    },
  );
});
