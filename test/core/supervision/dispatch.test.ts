/** The messages that an evaluation sends: those of a worker, and how many an agent gets at once (S16). */

import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Admission } from '../../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { evaluate as supervise } from '../../../lib/core/evaluate.ts';
import { send } from '../../../lib/core/supervision/dispatch.ts';
import { firstMessage as message, evaluate, type Evaluation, named } from '../evaluations.ts';
import { planOf, recordOf, stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';

const plan = planOf(named('a', { agent: 'x' }), named('b'), named('c', { after: ['a'] }));
const retrying = (name: string, more: Partial<Step> = {}): Step =>
  recordOf(name, 'retrying', { attempt: 1, changedAt: NOW - 10, ...more });

describe('a worker sends', () => {
  const sent = (
    records: readonly Step[],
    more: Partial<Evaluation> = {},
    of: Plan = plan,
    on: Partial<Execution> = {},
  ) => send(of, stateOf(records, on), evaluate('agent', more));
  const names = (...given: Parameters<typeof sent>): string[] =>
    sent(...given).sends.map(({ message: { step } }) => step);

  it('what may be done, to the agent of each step, and nothing else follows', () => {
    expect(sent([])).toEqual({
      sends: [
        { agent: 'x', message: { ...message, step: 'a' }, delayMs: 0 },
        { agent: 'worker', message: { ...message, step: 'b' }, delayMs: 0 },
      ],
      next: { kind: 'idle' },
      notes: [],
    });
  });

  it('whose it is with each, where its workflow says so', () => {
    const { sends } = sent([], {}, plan, { fairGroup: 'a1' });
    expect(sends.map(({ group }) => group)).toEqual(['a1', 'a1']);
  });

  it('what its own step concerns: itself and what depends on it', () => {
    expect(names([], { affected: ['b'] })).toEqual(['b']);
    expect(names([], { affected: ['c'] })).toEqual([]);
    expect(names([recordOf('a', 'done')], { affected: ['a'] })).toEqual(['c']);
    expect(names([recordOf('a', 'done')], { affected: ['x', 'a'] })).toEqual(['c']);
  });

  it('of an undo what the step depends on, however far', () => {
    const undo = { kind: 'retry', attempts: 1, firstMs: 1, maxMs: 1 } as const;
    const chain = planOf(
      named('a', { undo }),
      named('b', { after: ['a'] }),
      named('c', { after: ['b'], undo }),
      named('d', { undo }),
    );
    const done = ['a', 'b', 'd'].map((name) => recordOf(name, 'done'));
    const undone = [...done, recordOf('c', 'compensated')];
    const compensating = { status: 'compensating' } as const;
    expect(names(undone, { affected: ['c'] }, chain, compensating)).toEqual(['a']);
    expect(names(undone, { affected: ['x', 'c'] }, chain, compensating)).toEqual(['a']);
    expect(names(undone, { affected: 'all' }, chain, compensating)).toEqual(['a', 'd']);
    expect(names(undone, { affected: ['d'] }, chain, compensating)).toEqual(['d']);
  });

  it('what is due within fifteen minutes, to come when it is due', () => {
    const due = (retryAt: number) =>
      sent([retrying('b', { retryAt, version: 7 })], { affected: ['b'] }).sends;
    const delayed = (delayMs: number) => [
      { agent: 'worker', message: { ...message, step: 'b', attempt: 2, seq: 7 }, delayMs },
    ];
    expect(due(NOW - 5)).toEqual(delayed(0));
    expect(due(NOW + 900_000)).toEqual(delayed(900_000));
    expect(due(NOW + 900_001)).toEqual([]);
  });

  it('nothing that is held back before its time', () => {
    const held = (retryAt: number) =>
      names([retrying('b', { retryAt, deferred: { mode: 'execute', why: 'breaker', at: NOW - 5 } })], {
        affected: ['b'],
      });
    expect(held(NOW + 1)).toEqual([]);
    expect(held(NOW)).toEqual(['b']);
  });

  it('the plan with it where the plan is long', () => {
    const long = (count: number) =>
      send(
        planOf(...Array.from({ length: count }, (_, at) => named(`s${at}`))),
        stateOf([]),
        evaluate('agent'),
      ).sends[0];
    expect(long(36)?.message).not.toHaveProperty('plan');
    expect(long(37)?.message.plan).toBe('p');
  });
});

describe('what a supervisor may send to an agent now', () => {
  const four = planOf(named('a', { agent: 'x' }), named('b'), named('c'), named('d', { after: ['c'] }));
  const state = (more: Partial<Execution> = {}): Snapshot => stateOf([], { wakeAt: NOW, ...more });
  const admission = (sends: number, more: Partial<Admission> = {}): Admission => ({
    sends,
    notBefore: { why: 'unclaimed', at: NOW + 2_000 },
    ...more,
  });
  const notBefore = { why: 'breaker' as const, since: NOW - 60_000, at: NOW + 20_000 };
  const admittedBy = (
    admissions: Readonly<Record<string, Admission>> | undefined,
    on: Partial<Execution> = {},
    more = {},
  ) =>
    supervise(
      four,
      state(on),
      evaluate('supervisor', { ...(admissions === undefined ? {} : { admissions }), ...more }),
    );

  it('is asked for, with what is meant for it, once for all', () => {
    const asked = (agents: object) => ({ sends: [], next: { kind: 'ask', agents }, notes: [] });
    expect(admittedBy({})).toEqual(asked({ x: 1, worker: 2 }));
    expect(admittedBy({ x: admission(1) })).toEqual(asked({ worker: 2 }));
    expect(admittedBy({ x: admission(1, { notBefore }) })).toEqual(asked({ worker: 2 }));
    expect(admittedBy(undefined).sends).toHaveLength(3);
    expect(admittedBy({}, {}, { affected: [] }).next).toEqual({ kind: 'idle' });
  });

  it('is nothing while its service is dead: it is held back until it may be back', () => {
    const { write, notes, next } = admittedBy({ x: admission(1), worker: admission(9, { notBefore }) });
    // The breaker's end, and 15 s: half of the spread of 30 s, because the random number is 0.5.
    const retryAt = NOW + 20_000 + 1 + 15_000;
    expect(write?.step).toMatchObject({
      name: 'b',
      retryAt,
      deferred: { mode: 'execute', why: 'breaker', at: NOW, since: NOW - 60_000 },
    });
    expect(notes).toMatchObject([
      { what: 'deferred', step: 'b', detail: 'breaker', agent: 'worker', ms: retryAt - NOW },
    ]);
    expect(next).toEqual({ kind: 'evaluate', fresh: true, affected: 'all' });
  });

  it('excludes work that waits for a time of its own: its agent’s turn comes after that, in time (S10, S12, F4)', () => {
    const step = named('a', { undo: { kind: 'retry', attempts: 3, firstMs: 1, maxMs: 1 } });
    const admissions = { worker: admission(0, { notBefore }) };
    const heldBack = (record: Step, wakeAt: number, more: Partial<Execution> = {}) =>
      supervise(planOf(step), stateOf([record], { wakeAt, ...more }), evaluate('supervisor', { admissions }));
    const backUntil = NOW + 20_000 + 1 + 15_000;
    const far = NOW + 600_000;
    const deferred = { mode: 'execute', why: 'breaker', at: NOW, since: NOW - 60_000 };
    // Another supervisor assumes that the message was sent, and evaluates a pickup time after it is due. Both
    // write, and one write conflicts.
    const tried = heldBack(retrying('a', { retryAt: far }), far + 30_000);
    expect(tried.write).toMatchObject({ step: { retryAt: far, deferred }, execution: { wakeAt: far } });
    expect(tried.notes).toMatchObject([{ what: 'deferred', ms: far - NOW }]);
    const soon = heldBack(retrying('a', { retryAt: NOW + 1 }), NOW - 1).write;
    expect(soon).toMatchObject({ step: { retryAt: backUntil }, execution: { wakeAt: NOW - 1 } });
    // A lost attempt may still act until then.
    const lost = recordOf('a', 'compensating', { undoAttempt: 1, retryAt: far });
    const undone = heldBack(lost, NOW, { status: 'compensating' });
    expect(undone.write).toMatchObject({ step: { retryAt: far, deferred: { ...deferred, mode: 'undo' } } });
    const due = heldBack(retrying('a', { retryAt: NOW }), NOW).write;
    expect(due).toMatchObject({ step: { retryAt: backUntil } });
    expect(due?.execution).toBeUndefined();
  });

  describe('while its queue is busy for long', () => {
    // Four times the pickup time.
    const far = 120_000;
    const later = { why: 'unclaimed', at: NOW + 500_000 } as const;
    const one = planOf(named('a', { agent: 'x' }));
    const turn = (busyMs: number, waitedMs: number, of = one, sends = 0) => {
      const admissions = {
        x: admission(sends, { notBefore: later, busyUntil: NOW + busyMs }),
        worker: admission(9),
      };
      const overdue = stateOf([], { wakeAt: NOW, startedAt: NOW - waitedMs });
      return supervise(of, overdue, evaluate('supervisor', { admissions }));
    };

    it('is nothing: it is deferred for as long as it has waited, or until its turn', () => {
      const { write, sends, next, notes } = turn(far + 1, far + 1);
      expect([write?.execution, sends, next]).toEqual([
        undefined,
        [],
        { kind: 'evaluate', fresh: true, affected: 'all' },
      ]);
      expect(write?.step).toMatchObject({
        name: 'a',
        retryAt: NOW + far + 1,
        deferred: { mode: 'execute', why: 'unclaimed', at: NOW },
      });
      expect(notes).toMatchObject([{ what: 'deferred', step: 'a', detail: 'unclaimed', ms: far + 1 }]);
      expect(turn(far + 1, 600_000).write?.step?.retryAt).toBe(later.at);
    });

    it('has waited since it was due, and if it was deferred there since it came to be', () => {
      const admissions = { x: admission(0, { notBefore: later, busyUntil: NOW + 600_000 }) };
      const deferred = (why: 'unclaimed' | 'breaker') => ({
        deferred: { mode: 'execute', why, at: NOW } as const,
      });
      const after = (more: Partial<Step>) => {
        const record = retrying('a', { changedAt: NOW - 400_000, ...more });
        return supervise(one, stateOf([record], { wakeAt: NOW }), evaluate('supervisor', { admissions }))
          .write;
      };
      expect(after({ retryAt: NOW - 60_000 })).not.toHaveProperty('step');
      expect(after({ retryAt: NOW - 60_000, ...deferred('breaker') })).not.toHaveProperty('step');
      expect(after({ retryAt: NOW - 200_000 })?.step?.retryAt).toBe(NOW + 200_000);
      expect(after({ retryAt: NOW - 60_000, ...deferred('unclaimed') })?.step?.retryAt).toBe(NOW + 400_000);
    });

    it('is evaluated every horizon, if that costs less or may be needed', () => {
      const put = (...given: Parameters<typeof turn>) => {
        const { write, sends } = turn(...given);
        expect(write).not.toHaveProperty('step');
        return [sends.length, (write?.execution?.wakeAt ?? 0) - NOW];
      };
      expect(put(far, 600_000)).toEqual([0, 30_000]);
      expect(put(600_000, far)).toEqual([0, 30_000]);
      // Work that is not overdue keeps its own time, and a permitted message is sent.
      expect(put(600_000, 10_000)).toEqual([0, 20_000]);
      expect(put(600_000, 600_000, one, 1)).toEqual([1, 30_000]);
      // Two steps are not deferred: their claims would come at the same moment and both write the execution's
      // record.
      const two = planOf(named('a', { agent: 'x' }), named('b', { agent: 'x' }));
      expect(put(600_000, 600_000, two)).toEqual([0, 30_000]);
    });
  });
});
