/** P8, S9: which work is deferred, in random states on random events, and the writes. */

import * as fc from 'fast-check';
import { notCharged, MAX_NOT_CHARGED_MS, deferral, overdueAt } from '../../../lib/core/step/defer.ts';
import { agentStep } from '../../../lib/core/plan/plan.ts';
import {
  type LeasedStep,
  isLeased,
  type NotBefore,
  type Step,
  type Mode,
} from '../../../lib/core/records/state.ts';
import { blankStep } from '../../../lib/core/decisions/change.ts';
import { everywhere, evaluations, reported, toBlockedAgents } from '../events.ts';
import { NOW } from '../states.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { changesOf, planOf, recordOf, see, inputs, stateOf } from '../one-step.ts';
import { undoableOf } from '../small-steps.ts';

describe('a piece of work that is held back (P8)', () => {
  it('is charged no attempt, keeps its status or becomes one that retries, and waits (S9)', () => {
    let deferrals = 0;
    everywhere(
      ({ state }, _, { write, sends, notes }) => {
        if (!notes.some(({ what }) => what === 'deferred')) return;
        deferrals += 1;
        const before = state.steps[write?.step?.name ?? ''];
        const after = write?.step as Step;
        const status = before?.status ?? 'ready';
        expect(after.status).toBe(status === 'ready' ? 'retrying' : status);
        const charges = [
          'attempt',
          'stage',
          'stageAttempt',
          'undoAttempt',
          'probes',
          'mayHaveActed',
        ] as const;
        for (const field of charges)
          expect(after[field]).toBe(before?.[field] ?? (field === 'mayHaveActed' ? false : 0));
        expect(after.retryAt).toBeGreaterThan(NOW);
        expect(isLeased(after)).toBe(false);
        expect(sends).toEqual([]);
        // A deferral changes the execution in two ways only: it brings a wake time forward that would be too
        // late, and notes that the execution is at risk (S12).
        const { execution } = state;
        const wakeAt = write?.execution?.wakeAt ?? execution.wakeAt ?? 0;
        const own = write?.execution ?? execution;
        const { version, writeId } = own;
        const { riskSince = own === execution ? undefined : NOW } = execution;
        const { risk } = own;
        expect(own).toEqual({ ...execution, wakeAt, version, writeId, riskSince, risk });
        if (write?.execution !== undefined) expect(wakeAt).toBeLessThanOrEqual(after.retryAt ?? 0);
      },
      (given) => fc.oneof(toBlockedAgents(given), evaluations),
    );
    expect(deferrals).toBeGreaterThan(3);
  });

  it('is sent to an agent by nobody while its service is held, and by a supervisor no more than its pace allows', () => {
    let held = 0;
    everywhere(
      (_, event, { sends }) => {
        if (event.type !== 'evaluate' || event.admissions === undefined) return;
        for (const [agent, admission] of Object.entries(event.admissions)) {
          const count = sends.filter((send) => send.agent === agent).length;
          if (admission.notBefore !== undefined) held += 1;
          expect(count).toBeLessThanOrEqual(admission.notBefore === undefined ? admission.sends : 0);
        }
      },
      () => evaluations,
    );
    expect(held).toBeGreaterThan(10);
  });

  it('comes to be of an attempt that failed, uncharged, only where repeating it is safe (S6)', () => {
    let notChargedCount = 0;
    everywhere(
      ({ plan, state }, event, { write }) => {
        const before = state.steps[write?.step?.name ?? ''];
        if (event.type !== 'report' || write?.step?.deferred === undefined || before === undefined) return;
        notChargedCount += 1;
        expect(event.notBefore?.since).toBe(NOW - 60_000);
        const effect = agentStep(plan, before.name)?.effect;
        const unknown = event.report.kind === 'unknown' && before.mode === 'execute';
        if (unknown && effect === 'probed') expect(write.step.status).toBe('unknown');
        expect(write.step.stage).toBe(before.stage);
        expect(write.step.stageAttempt).toBe(before.stageAttempt - (before.mode === 'execute' ? 1 : 0));
        expect(write.step.attempts).toHaveLength(before.attempts.length + 1);
      },
      () => reported,
      2_500,
    );
    expect(notChargedCount).toBeGreaterThan(1);
  });
});

it('a service that has been dead for a day is no longer an excuse', () => {
  const held = { leaseUntil: NOW, token: 't', mode: 'probe' } as const;
  const record: LeasedStep = { ...blankStep('a', { life: 'life1', epoch: 1 }), status: 'probing', ...held };
  const notChargedOf = (since: number) =>
    notCharged(record, { notBefore: { why: 'breaker', since, at: NOW }, now: NOW, random: 0, writeId: 'w' });
  expect(notChargedOf(NOW - MAX_NOT_CHARGED_MS)).toMatchObject({ deferred: { mode: 'probe' } });
  expect(notChargedOf(NOW - MAX_NOT_CHARGED_MS - 1)).toBeUndefined();
});

const DAY = 86_400_000;
const step = undoableOf('it');
const deferred = (mode: Mode, why: NotBefore['why'] = 'unclaimed'): NotBefore => ({ mode, why, at: NOW });
const workOf = (mode: Mode, more: Partial<Work> = {}): Work => ({
  step,
  mode,
  attempt: 1,
  sinceAt: NOW - 7,
  dueAt: NOW - 7,
  ...more,
});

describe('work that is held back', () => {
  const defer = (mode: Mode, state: Snapshot) =>
    deferral(workOf(mode), state, { why: 'unclaimed', at: NOW + 9 }, inputs).step;

  const retrying = recordOf('it', 'retrying', { changedAt: 5, attempt: 2, stageAttempt: 1 });

  it('of an undo remembers since when, once', () => {
    const done = recordOf('it', 'done');
    expect(defer('undo', stateOf([done])).undoDeferredAt).toBe(NOW);
    expect(defer('undo', stateOf([{ ...done, undoDeferredAt: 5 }])).undoDeferredAt).toBe(5);
    expect(defer('execute', stateOf([retrying]))).not.toHaveProperty('undoDeferredAt');
    const unknown = recordOf('it', 'unknown');
    expect(defer('probe', stateOf([unknown]))).not.toHaveProperty('undoDeferredAt');
  });

  it('says since when its agent is not deployed, however often that was found', () => {
    const why = 'not-deployed';
    const first = { mode: 'undo', why, at: NOW, since: NOW };
    const state = stateOf([recordOf('it', 'done')]);
    const of = (work: Work) => deferral(work, state, { why, at: NOW + 9 }, inputs).step.deferred;
    expect(of(workOf('undo'))).toStrictEqual(first);
    const before = (earlier: Partial<NotBefore>) =>
      of(workOf('undo', { deferred: { mode: 'undo', why, at: NOW - 5, ...earlier } }));
    expect(before({ since: NOW - 9 })).toStrictEqual({ ...first, since: NOW - 9 });
    expect(before({})).toStrictEqual(first);
    expect(before({ why: 'breaker', since: NOW - 9 })).toStrictEqual(first);
  });
});

describe('an undo that is held back', () => {
  const cause = { kind: 'cancel', at: NOW - 5, failure: { code: 'x', message: 'y' } } as const;
  const back = recordOf('it', 'compensating', {
    undoAttempt: 1,
    changedAt: 5,
    retryAt: NOW + 9,
    undoDeferredAt: NOW - DAY,
    deferred: deferred('undo'),
  });
  const state = (record: Step, ...more: Step[]) =>
    stateOf([record, ...more], { status: 'compensating', cause, wakeAt: NOW });

  it('is overdue after a day, while it is', () => {
    const at = (more: Partial<Step>) =>
      overdueAt(recordOf('it', 'compensating', more), { status: 'compensating' });
    const never = Number.POSITIVE_INFINITY;
    expect(at({ deferred: deferred('undo'), undoDeferredAt: 5 })).toBe(5 + DAY);
    expect(at({ deferred: deferred('undo') })).toBe(never);
    expect(at({ deferred: deferred('probe'), undoDeferredAt: 5 })).toBe(never);
    expect(at({ undoDeferredAt: 5 })).toBe(never);
  });

  it('is given up then, in the step’s record alone', () => {
    const { write, ...rest } = see(planOf(step), state(back));
    expect(write).toStrictEqual({ executionId: 'e-1', step: expect.anything() });
    expect(changesOf(back, write?.step)).toStrictEqual({
      status: 'compensation-failed',
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      retryAt: null,
      undoDeferredAt: null,
      deferred: null,
      failure: {
        code: 'undo-overdue',
        message:
          'no agent could undo it for a day: its service does not answer, no process takes its messages, or its agent is not deployed',
      },
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['x'] },
      notes: [{ what: 'undo-given-up', executionId: 'e-1', step: 'it' }],
    });
  });

  const givenUp = (given: Snapshot, plan = planOf(step)) => {
    const after = see(plan, given).write?.step;
    return after?.status === 'compensation-failed' ? after.name : undefined;
  };

  it('is found among those that are not overdue', () => {
    const two = planOf(undoableOf('a'), step);
    expect(givenUp(state(recordOf('a', 'done'), back), two)).toBe('it');
    expect(givenUp(state({ ...back, name: 'a', undoDeferredAt: NOW }, back), two)).toBe('it');
  });

  it('in an execution that goes forward does not give up an attempt', () => {
    const list = planOf({ ...step, tolerate: true });
    const forward = stateOf([{ ...back, status: 'retrying', mayHaveActed: true }], { wakeAt: NOW });
    expect(givenUp(forward, list)).toBeUndefined();
    expect(givenUp(stateOf([{ ...back, status: 'failed', mayHaveActed: true }], { wakeAt: NOW }), list)).toBe(
      'it',
    );
  });
});
