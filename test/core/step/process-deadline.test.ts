/**
 * The write after the death of an attempt's process, during its lease and later: it ends only this process's
 * part of the process deadline (S5, S10, S12).
 */

import { decide } from '../../../lib/core/decide.ts';
import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { CLOCKS_DIFFER_MS } from '../../../lib/core/step/process-deadline.ts';
import { afterDeath, reported } from '../../../lib/core/step/report.ts';
import { always, changesOf, inputs, planOf, probed, stalling, stateOf, step, heldAs } from '../one-step.ts';
import { NOW } from '../states.ts';

const HOUR = 3_600_000;
const NOW_DEAD_AT = NOW + CLOCKS_DIFFER_MS;
const death = (token = 't') => ({ type: 'process-died', step: 'it', token, ...inputs }) as const;
/** A step whose lease has ended; its process may live for another hour. */
const lost = (status: Step['status'], more: Partial<Step> = {}): Step => {
  const record = heldAs('execute', { processDeadlineAt: NOW + HOUR, mayHaveActed: true, ...more });
  const { leaseUntil: _, ...rest } = record;
  return { ...rest, status };
};
const died = (record: Step, token?: string, of = step) =>
  changesOf(record, afterDeath(of, record, death(token)));
const written = { version: 8, writeId: 'w-new' };

describe('the death of a process under its lease is the end of its attempt', () => {
  const said = { failure: { code: 'process-died', message: expect.any(String) } };
  const dead = { processDeadlineAt: NOW_DEAD_AT };
  const TO_EXECUTE = heldAs('execute', { processDeadlineAt: NOW + HOUR });

  it('to execute: its outcome is unknown, and the next waits as after a failure', () => {
    expect(died(TO_EXECUTE)).toEqual({
      ...always(TO_EXECUTE, 'unknown', said),
      ...dead,
      status: 'retrying',
      stage: 1,
      stageAttempt: 0,
      mayHaveActed: true,
      retryAt: NOW + 5_000,
    });
  });

  it('to execute what can be asked for: it is', () => {
    expect(died(TO_EXECUTE, 't', probed)).toMatchObject({ status: 'unknown', retryAt: NOW, ...dead });
  });

  it('that stood still until its lease ended: that is why', () => {
    const still = { leaseUntil: NOW, heartbeatAt: NOW - 1_000 };
    const ended = died({ ...TO_EXECUTE, ...still }, 't', stalling(10_000));
    expect(ended).toMatchObject({ failure: { code: 'no-progress' }, ...dead });
    const before = died({ ...TO_EXECUTE, ...still, leaseUntil: NOW + 1 }, 't', stalling(10_001));
    expect(before).toMatchObject(said);
  });

  it('to probe: it cannot tell, and nothing of the attempt that it asks about has changed', () => {
    const probe = heldAs('probe', { actedToken: 'acted', processDeadlineAt: NOW + HOUR });
    expect(died(probe, 't', probed)).toEqual({
      ...always(probe, 'cannot-tell', said),
      status: 'unknown',
      probes: 1,
      retryAt: NOW + 500,
    });
  });

  it('to undo: the next begins when nothing of it goes on', () => {
    const undo = heldAs('undo', { processDeadlineAt: NOW + HOUR });
    expect(died(undo)).toMatchObject({ ...dead, retryAt: NOW_DEAD_AT + step.settleMs });
  });
});

describe('the death of a process after its lease', () => {
  it.each([
    'retrying',
    'waiting',
    'unknown',
    'fenced',
    'done',
    'failed',
    'compensating',
    'compensation-failed',
  ] as const)('lowers the deadline of a step that is %s, and nothing else', (status) => {
    const record = lost(status, { retryAt: NOW + 7, deferred: { mode: 'execute', why: 'breaker', at: 1 } });
    expect(died(record)).toEqual({ ...written, processDeadlineAt: NOW_DEAD_AT });
  });

  it.each(['ready', 'answered', 'skipped', 'tolerated', 'compensated'] as const)(
    'says nothing about a step that is %s',
    (status) => {
      expect(died(lost(status))).toBeUndefined();
    },
  );

  it('counts while it is asked what the attempt did', () => {
    const asked = { token: 'probe', actedToken: 't', leaseUntil: NOW + 9_000, mode: 'probe' } as const;
    const record = { ...lost('probing'), ...asked };
    expect(died(record)).toEqual({ ...written, processDeadlineAt: NOW_DEAD_AT });
    expect(died({ ...lost('unknown'), token: 'probe', mode: 'probe', actedToken: 't' })).toBeDefined();
  });

  it('is of no interest twice, or where the deadline is nearer than that anyhow', () => {
    expect(died(lost('failed', { processDeadlineAt: NOW_DEAD_AT }))).toBeUndefined();
    expect(died(lost('failed', { processDeadlineAt: NOW - 1 }))).toBeUndefined();
  });

  it('of an attempt that is unknown, or no longer distinguishable, changes nothing (S5)', () => {
    expect(died(lost('failed'), 'stranger')).toBeUndefined();
    const together = [{ deadlineAt: NOW + HOUR }, { token: 't', deadlineAt: NOW }];
    expect(died(lost('failed', { processes: together }), 'stranger')).toBeUndefined();
  });

  it('brings what waits for the deadline nearer, and nothing else', () => {
    const awaits = (ms: number): Partial<Step> => ({ retryAt: NOW + HOUR + ms });
    expect(died(lost('compensating', awaits(step.settleMs)))).toEqual({
      ...written,
      processDeadlineAt: NOW_DEAD_AT,
      retryAt: NOW_DEAD_AT + step.settleMs,
    });
    expect(died(lost('compensating', awaits(0)))).toEqual({ ...written, processDeadlineAt: NOW_DEAD_AT });
  });
});

describe('of several attempts that may be alive (S10)', () => {
  const two = (older: number, latest: number): Partial<Step> => ({
    processDeadlineAt: Math.max(older, latest),
    processes: [
      { token: 'older', deadlineAt: older },
      { token: 't', deadlineAt: latest },
    ],
  });

  it('the death of the latest leaves the share of an earlier one as it is', () => {
    expect(died(lost('failed', two(NOW + 2 * HOUR, NOW + HOUR)))).toEqual({
      ...written,
      processes: two(NOW + 2 * HOUR, NOW_DEAD_AT).processes,
    });
    expect(died(lost('failed', two(NOW + 9_000, NOW + HOUR)))).toEqual({
      ...written,
      ...two(NOW + 9_000, NOW_DEAD_AT),
    });
  });

  it('the death of an earlier one lowers its own, also while the latest works', () => {
    const record = heldAs('execute', two(NOW + 2 * HOUR, NOW + HOUR));
    expect(died(record, 'older')).toEqual({ ...written, ...two(NOW_DEAD_AT, NOW + HOUR) });
  });

  it('when both are dead, nothing is waited for', () => {
    const first = afterDeath(step, lost('failed', two(NOW + 2 * HOUR, NOW + HOUR)), death('older')) as Step;
    expect(died({ ...first, version: 7, writeId: 'w-old' })).toEqual({
      ...written,
      ...two(NOW_DEAD_AT, NOW_DEAD_AT),
      version: 8,
    });
  });

  it('one whose code has returned forgets no earlier one', () => {
    const report = { kind: 'compensated', codeReturned: true } as const;
    const after = (more: Partial<Step>) =>
      changesOf(more, reported(step, heldAs('undo', more), { token: 't', report, ...inputs }));
    expect(after(two(NOW + 2 * HOUR, NOW + HOUR))).toMatchObject({
      processes: two(NOW + 2 * HOUR, NOW).processes,
    });
    expect(after(two(NOW + 9_000, NOW + HOUR))).toMatchObject(two(NOW + 9_000, NOW));
  });
});

describe('a death as a decision', () => {
  const plan = planOf(step);
  const decided = (record: Step, execution: Partial<Execution> = {}, token = 't'): Decision =>
    decide(plan, stateOf([record], execution), death(token));

  it('under the lease writes the step, evaluates, and says whose it was', () => {
    const { write, next, notes } = decided(heldAs('execute'));
    expect(write?.step).toMatchObject({ status: 'retrying' });
    expect(write?.execution).toBeUndefined();
    expect(next).toEqual({ kind: 'evaluate', fresh: true, affected: ['it'] });
    expect(notes).toEqual([
      {
        what: 'process-died',
        executionId: 'e-1',
        step: 'it',
        attempt: 1,
        detail: 'execute',
        failure: { code: 'process-died', message: 'the process of the attempt died' },
      },
    ]);
  });

  it('after the lease brings the wake time to when nothing of it goes on (S12, F4)', () => {
    const far = { wakeAt: NOW + HOUR };
    const { write, next } = decided(lost('failed', { nextStage: 2 }), far);
    expect(write?.step).toMatchObject({ status: 'failed', processDeadlineAt: NOW_DEAD_AT });
    expect(write?.execution).toMatchObject({ status: 'running', wakeAt: NOW_DEAD_AT + step.settleMs });
    expect(next).toEqual({ kind: 'evaluate', fresh: true, affected: ['it'] });
    const sooner = decided(lost('failed', { nextStage: 2 }), { wakeAt: NOW + 1 });
    expect(sooner.write?.execution).toMatchObject({ wakeAt: NOW + 1 });
  });

  it('is not made for an execution that has ended (S1), a step outside the plan, or an unknown attempt', () => {
    const nothing = { sends: [], next: { kind: 'idle' }, notes: [] };
    expect(decided(lost('failed'), { status: 'failed' })).toEqual(nothing);
    expect(decided(lost('failed'), {}, 'stranger')).toEqual(nothing);
    expect(decide(plan, stateOf([]), death())).toEqual(nothing);
    expect(decide(plan, stateOf([lost('failed')]), { ...death(), step: 'other' })).toEqual(nothing);
  });
});
