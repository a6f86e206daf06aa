/** Chaos's audit of the table, its limits and its verdict. */

import type { AgentStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { detectionLimitMs, healBoundMs } from '../../../proof/chaos/bounds.ts';
import { type Facts, report } from '../../../proof/chaos/report.ts';
import { auditTable, interruptionsIn, type TableContent } from '../../../proof/chaos/table-audit.ts';
import { callbackAsked } from '../../core/one-step.ts';
import { record as stepRecord } from './failure-evidence.ts';
import { TALLY } from './tally.ts';

const retry = (attempts: number) => ({ kind: 'retry' as const, attempts, firstMs: 500, maxMs: 5_000 });
const planStep = (name: string, agent: string): AgentStep => ({
  name,
  kind: 'agent',
  agent,
  input: {},
  after: [],
  effect: 'probed',
  timeoutMs: 20_000,
  leaseMs: 5_000,
  pickupMs: 5_000,
  settleMs: 1_000,
  recovery: [retry(4)],
  undo: retry(10),
});
const PLAN: Plan = {
  v: 1,
  workflow: 'flow',
  withinMs: 900_000,
  steps: [planStep('charge', 'charge-card')],
  output: {},
};

const step = (more: Partial<Step> = {}): Step => stepRecord('charge', 'done', { life: 'life1', ...more });
const snapshot = (more: Partial<Execution> = {}, record: Partial<Step> = {}): Snapshot => ({
  execution: {
    id: 'x',
    life: 'life1',
    workflow: 'flow',
    plan: 'p',
    status: 'succeeded',
    version: 3,
    writeId: 'w',
    epoch: 1,
    input: {},
    inputHash: 'h',
    startedAt: 0,
    endedAt: 1,
    deadlineAt: 900_000,
    commands: [],
    dispatches: {},
    ...more,
  },
  steps: { charge: step(record) },
});
const content = (...snapshots: Snapshot[]): TableContent => ({ snapshots, plans: new Map([['p', PLAN]]) });
const KEY = { key: 'order-1', executionIds: ['x'] };

describe('the audit of the table', () => {
  it('finds nothing in a plain success, also when its start was repeated', () => {
    const audited = auditTable(content(snapshot()), [{ key: 'order-1', executionIds: ['x', 'x'] }]);
    expect(audited).toEqual({ stuck: [], lost: [], doubled: [], findings: [] });
  });

  it.each<[string, Snapshot, RegExp]>([
    ['an open execution', snapshot({ status: 'running', wakeAt: 5 }), /running.*charge done/],
    ['an end that nobody was told of', snapshot({ wakeAt: 5 }), /succeeded, its end was not announced/],
  ])('calls %s stuck', (_, planted, line) => {
    expect(auditTable(content(planted), [KEY]).stuck).toEqual([expect.stringMatching(line)]);
  });

  it.each<[string, Snapshot, RegExp]>([
    ['an open execution without a wake time', snapshot({ status: 'running' }), /open without a wake time/],
    ['a step held after the end', snapshot({}, { leaseUntil: 9 }), /charge is held after the end/],
    [
      'an approval in the inbox after the end',
      { ...snapshot(), questions: { ok: callbackAsked('ok') } },
      /ok is in the inbox after the end/,
    ],
    ['an attempt beyond the recovery', snapshot({}, { attempt: 6 }), /charge had 6 attempts of 5/],
    ['an undo beyond its retries', snapshot({}, { undoAttempt: 12 }), /charge had 12 undos of 11/],
    ['a success without its step', snapshot({}, { status: 'retrying' }), /succeeded, but charge is retrying/],
    [
      'a compensation that is not one',
      snapshot({ status: 'compensated' }, { status: 'compensation-failed' }),
      /compensated, but charge is compensation-failed/,
    ],
    ['an execution without its plan', snapshot({ plan: 'gone' }), /its plan gone is not in the table/],
  ])('finds %s', (_, planted, line) => {
    expect(auditTable(content(planted), [KEY]).findings).toEqual([expect.stringMatching(line)]);
  });

  it('finds an on-failure step that was tried too often, and takes a tolerated step for settled', () => {
    const plan = { ...PLAN, onFailure: [planStep('tell', 'notify')] };
    const plans = new Map([['p', plan]]);
    const told = { ...snapshot({ status: 'compensated' }, { name: 'tell', attempt: 6 }) };
    const steps = { charge: step({ status: 'compensated' }), tell: told.steps['charge']! };
    const { findings } = auditTable({ snapshots: [{ ...told, steps }], plans }, [KEY]);
    expect(findings).toEqual([expect.stringMatching(/tell had 6 attempts of 5/)]);
    expect(auditTable(content(snapshot({}, { status: 'tolerated' })), [KEY]).findings).toEqual([]);
  });

  it('allows what the recovery allows', () => {
    expect(auditTable(content(snapshot({}, { attempt: 5, undoAttempt: 11 })), [KEY]).findings).toEqual([]);
  });

  it('misses an execution of a key, a second one, and one that nobody started', () => {
    const started = [
      { key: 'order-1', executionIds: ['x', 'y'] },
      { key: 'order-2', executionIds: [] },
    ];
    const audited = auditTable(content(snapshot(), snapshot({ id: 'stranger' })), started);
    expect(audited.lost).toEqual([expect.stringContaining('order-2')]);
    expect(audited.doubled).toEqual([
      expect.stringContaining('x and y'),
      expect.stringContaining('stranger'),
    ]);
  });

  it('reads the interruptions from the histories', () => {
    const lost = {
      number: 1,
      mode: 'execute' as const,
      claimedAt: 10,
      endedAt: 70,
      outcome: 'unknown' as const,
    };
    const attempts = [
      { ...lost, failure: { code: 'lease-ended', message: '' } },
      { ...lost, number: 2, failure: { code: 'timeout', message: '' } },
    ];
    expect(interruptionsIn(content(snapshot({}, { attempts })))).toEqual([
      { executionId: 'x', step: 'charge', target: 'charge-card', claimedAt: 10, recordedAt: 70 },
    ]);
  });
});

describe('the bounds', () => {
  it('follow from the plan', () => {
    expect(detectionLimitMs(PLAN)).toBe(15_000);
    expect(healBoundMs(PLAN)).toBe(68_000 + 36_000 + 22_000);
    expect(healBoundMs({ ...PLAN, onFailure: [planStep('tell', 'notify')] })).toBe(126_000 + 22_000);
  });
});

const SUSPENDED = { number: 1, mode: 'execute', claimedAt: 1_000, outcome: 'unknown' } as const;
const interrupted = (endedAt: number): Step['attempts'][number] => ({
  ...SUSPENDED,
  endedAt,
  failure: { code: 'lease-ended', message: '' },
});
const facts = (more: Partial<Facts> = {}): Facts => ({
  minutes: 5,
  seed: 1,
  seconds: 330,
  healSeconds: 20,
  table: content(snapshot({}, { attempts: [interrupted(9_000)] })),
  entries: (['charge', 'reservation', 'shipment', 'mail'] as const).map((kind, seq) => ({
    seq,
    at: 0,
    service: 'payment',
    kind,
    id: kind,
    reference: 'r',
    executionId: 'x',
    ...(kind === 'mail' ? { subject: 'on-its-way' as const } : {}),
  })),
  keys: [KEY],
  clientProblems: [],
  tally: TALLY,
  strikes: [{ kind: 'kill', target: 'charge-card', pid: 1, at: 2_000 }],
  claims: [{ executionId: 'x', step: 'charge', pid: 1, at: 1_010 }],
  withoutSupervisor: [],
  deadLetters: [],
  events: [],
  machine: { processors: 2, load: 1, lateMs: 12 },
  ...more,
});

describe('the report', () => {
  it('of a good run has no failures and the figures of the contract', () => {
    const { summary, failures, lines } = report(facts());
    expect([failures, lines]).toEqual([[], []]);
    expect(summary).toMatchObject({
      executions: 1,
      succeeded: 1,
      totalKills: 120,
      lost: 0,
      doubled: 0,
      stuck: 0,
      detectMs: { p50: 7_000, p99: 7_000, n: 1, max: 7_000, limit: 15_000 },
      secondsWithoutSupervisor: 0,
    });
  });

  it('counts a lost and a doubled effect', () => {
    const { entries } = facts();
    expect(report(facts({ entries: entries.slice(1) })).summary.lost).toBe(1);
    const twice = [...entries, { ...entries[0]!, id: 'another' }];
    expect(report(facts({ entries: twice })).failures).toEqual(['1 doubled']);
  });

  it('lets a failed execution keep nothing, unless its undo failed and says so', () => {
    const failed = (code: string): Facts => {
      const cause = { kind: 'failure' as const, at: 0, failure: { code, message: 'why' } };
      return facts({ table: content(snapshot({ status: 'failed', cause })) });
    };
    expect(report(failed('declined')).summary.lost).toBe(4);
    expect(report(failed('compensation-failed'))).toMatchObject({ failures: [], lines: ['note     x: why'] });
  });

  it('fails by a late detection, and says when only the death of the supervisor made it late', () => {
    const table = content(
      snapshot({}, { attempts: [interrupted(42_000)] }),
      snapshot({ id: 'y' }, { attempts: [interrupted(9_000)] }),
    );
    const keys = [KEY, { key: 'order-2', executionIds: ['y'] }];
    const entries = facts().entries.flatMap((entry) => [entry, { ...entry, executionId: 'y' }]);
    const claims = ['x', 'y'].map((executionId, at) => ({ executionId, step: 'charge', pid: at, at: 1_010 }));
    const kill = { kind: 'kill' as const, target: 'charge-card', at: 2_000 };
    const strikes = [
      { ...kill, pid: 0 },
      { ...kill, pid: 1 },
    ];
    const late = report(facts({ table, keys, entries, claims, strikes }));
    expect(late.failures).toEqual(['detection p99 is 40000 ms, the limit is 15000 ms']);
    expect(late.lines).toEqual([expect.stringMatching(/late +x charge: kill of charge-card .*40000 ms$/)]);
    const alone = report(
      facts({
        table,
        keys,
        entries,
        claims,
        strikes: [...strikes, { kind: 'kill', target: 'supervisor', pid: 9, at: 20_000 }],
        withoutSupervisor: [{ from: 20_100, to: 40_000 }],
      }),
    );
    expect(alone.failures).toEqual([expect.stringContaining('7000 ms while there was a supervisor')]);
    expect(alone.summary.detectMs.supervised).toEqual({ p50: 7_000, p99: 7_000, n: 1 });
    expect(alone.summary.secondsWithoutSupervisor).toBe(20);
  });

  it('fails by a fault that never struck and by too few kills, but not in a short run', () => {
    const tally = { ...TALLY, kills: { ...TALLY.kills, supervisor: 0, scheduler: 1 }, throttled: 0 };
    expect(report(facts({ tally })).failures).toEqual([
      '81 kills, 100 are asked for',
      'no kill of supervisor struck, so it was not tested',
      'no throttling struck, so it was not tested',
    ]);
    expect(report(facts({ tally, minutes: 0.5 })).failures).toEqual([]);
  });

  it('asks for a write refused by an index only where there were transactions to refuse', () => {
    const none = { ...TALLY, refusedIndexes: 0 };
    expect(report(facts({ tally: none })).failures).toEqual([
      'no write refused by an index struck, so it was not tested',
    ]);
    expect(report(facts({ tally: { ...none, transactions: 0 } })).failures).toEqual([]);
  });

  it('explains a dead letter by its execution', () => {
    const { failures, lines } = report(facts({ deadLetters: ['{"v":1,"execution":"x","step":"charge"}'] }));
    expect(failures).toEqual([]);
    expect(lines).toEqual([expect.stringContaining('its execution is succeeded')]);
  });
});
