/** What planted bugs showed that no other test asks of `decide`: a claim answers its message, and a token is a token. */

import * as fc from 'fast-check';
import { decide } from '../../../lib/core/decide.ts';
import { effectiveState } from '../../../lib/core/execution/effective-state.ts';
import { agentSteps, isBefore } from '../../../lib/core/plan/plan.ts';
import type { Decision } from '../../../lib/core/records/decision.ts';
import type { Event, Report } from '../../../lib/core/records/events.ts';
import type { Message } from '../../../lib/core/records/message.ts';
import { isForward, isLeased, isSatisfied } from '../../../lib/core/records/state.ts';
import { wayBack } from '../../../lib/core/step/point-of-no-return.ts';
import { openWork } from '../../../lib/core/step/ready.ts';
import { check } from '../../core/check.ts';
import { type Case, cases, NOW } from '../../core/states.ts';

const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };
const evaluate: Event = { type: 'evaluate', by: 'agent', affected: [], fresh: true, readAt: NOW, ...inputs };
const names = fc.constantFrom('a', 'b', 'c', 'd', 'e');

function everywhere(
  events: (given: Case) => fc.Arbitrary<Event>,
  judge: (given: Case, event: Event, decision: Decision) => void,
): void {
  const pairs = cases.chain((given) => events(given).map((event): [Case, Event] => [given, event]));
  check(
    fc.property(pairs, ([given, event]) => {
      const decision = decide(given.plan, given.state, event);
      judge({ ...given, state: effectiveState(given.plan, given.state) }, event, decision);
    }),
    1_500,
  );
}

/** Messages that differ in one thing from one that is true. */
function nearlyTrue({ plan, state }: Case): fc.Arbitrary<Event> {
  const known = openWork(plan, effectiveState(plan, state)).map(({ step, mode, attempt }) => ({
    v: 1 as const,
    execution: 'e-1',
    step: step.name,
    mode,
    attempt,
    seq: state.steps[step.name]?.version ?? 0,
    agent: step.agent,
  }));
  const any = { v: 1 as const, execution: 'e-1', step: 'a', mode: 'execute' as const, attempt: 1, seq: 0 };
  const change = fc.constantFrom<Partial<Message>>(
    {},
    { attempt: 0 },
    { attempt: 1 },
    { attempt: 2 },
    { attempt: 9 },
    { mode: 'execute' as const },
    { mode: 'probe' as const },
    { mode: 'undo' as const },
  );
  return fc
    .tuple(fc.constantFrom(...(known.length === 0 ? [{ ...any, agent: 'agent-a' }] : known)), change)
    .map(([{ agent, ...message }, changed]) => ({
      type: 'deliver' as const,
      agent,
      token: 'fresh',
      processDeadlineAt: NOW + 600_000,
      readAt: NOW,
      ...inputs,
      message: { ...message, ...changed },
    }));
}

describe('a claim', () => {
  it('is of the attempt that its message is about, and in its mode (S13)', () => {
    let claims = 0;
    everywhere(nearlyTrue, (_, event, { next }) => {
      if (event.type !== 'deliver' || next.kind !== 'perform') return;
      claims += 1;
      const { mode, attempt, undoAttempt } = next.step;
      expect(mode).toBe(event.message.mode);
      expect(mode === 'undo' ? undoAttempt : attempt).toBe(event.message.attempt);
    });
    expect(claims).toBeGreaterThan(50);
  });
});

describe('an undo', () => {
  it('is not due while a lost attempt of anything behind it may still act (S10)', () => {
    let undos = 0;
    check(
      fc.property(cases, ({ plan, state }) => {
        const execution = { ...state.execution, status: 'compensating' as const };
        for (const { step, mode, dueAt } of openWork(plan, { ...state, execution })) {
          if (mode !== 'undo') continue;
          for (const other of agentSteps(plan).filter(({ name }) => isBefore(plan, step.name, name))) {
            const record = state.steps[other.name];
            if (record?.mayHaveActed !== true) continue;
            undos += 1;
            expect(dueAt).toBeGreaterThanOrEqual(record.processDeadlineAt + other.settleMs);
          }
        }
      }),
      3_000,
    );
    expect(undos).toBeGreaterThan(20);
  });
});

describe('an execution past its deadline', () => {
  it('is stopped by whoever looks, unless all is done or something has failed (L1)', () => {
    let stopped = 0;
    everywhere(
      () => fc.constant(evaluate),
      ({ plan, state }, _, { write }) => {
        const { status, deadlineAt } = state.execution;
        if (!isForward(status) || deadlineAt > NOW || wayBack(plan, state) !== 'free') return;
        const records = plan.steps.map((step) => state.steps[step.name]);
        if (records.every(isSatisfied) || records.some((one) => one?.status === 'failed')) return;
        stopped += 1;
        expect(write?.execution).toMatchObject({ status: 'compensating', cause: { kind: 'deadline' } });
      },
    );
    expect(stopped).toBeGreaterThan(20);
  });
});

describe('under a token that is not the current one', () => {
  const failure = { code: 'x', message: 'y' };
  const reports = fc.constantFrom<Report>(
    { kind: 'done', codeReturned: true, output: 1 },
    { kind: 'failed', codeReturned: true, permanent: true, failure },
    { kind: 'failed', codeReturned: true, permanent: false, failure },
    { kind: 'unknown', codeReturned: true, failure },
    { kind: 'found', codeReturned: true, verdict: 'done', output: 1 },
    { kind: 'found', codeReturned: true, verdict: 'not-done' },
    { kind: 'compensated', codeReturned: true },
  );

  it('no report counts, whatever has become of the step (S5)', () => {
    const strange = fc.tuple(names, reports, fc.boolean()).map(
      ([step, report, onTime]): Event => ({
        type: 'report',
        step,
        token: 'stranger',
        report,
        onTime,
        priorProcessDeadlineAt: 0,
        ...inputs,
      }),
    );
    everywhere(
      () => strange,
      (_, __, { write }) => expect(write).toBeUndefined(),
    );
  });
});

describe('a lease', () => {
  it('that was ended is not renewed, whoever asks (S4)', () => {
    const heartbeats = names.map(
      (step): Event => ({ type: 'heartbeat', step, token: `token-${step}`, ...inputs }),
    );
    everywhere(
      () => heartbeats,
      ({ state }, event, { write }) => {
        if (event.type === 'heartbeat' && !isLeased(state.steps[event.step])) expect(write).toBeUndefined();
      },
    );
  });

  it('is ended a second after its end at the earliest, for clocks differ (S4)', () => {
    const lateness = fc.integer({ min: 0, max: 2_000 });
    let ended = 0;
    check(
      fc.property(cases, lateness, ({ plan, state }, lateMs) => {
        const entries = Object.values(state.steps).map((step) => [
          step.name,
          isLeased(step) ? { ...step, leaseUntil: NOW - lateMs } : step,
        ]);
        const late = { ...state, steps: Object.fromEntries(entries) };
        const { write } = decide(plan, late, { ...evaluate, by: 'supervisor' });
        if (!isLeased(state.steps[write?.step?.name ?? ''])) return;
        ended += 1;
        expect(lateMs).toBeGreaterThanOrEqual(1_000);
      }),
      1_500,
    );
    expect(ended).toBeGreaterThan(50);
  });
});

describe('a cancel', () => {
  it('stops an execution also while a person is asked (L1)', () => {
    const cancel: Event = { type: 'cancel', commandId: 'k', reason: 'why', ...inputs };
    let waiting = 0;
    everywhere(
      () => fc.constant(cancel),
      ({ plan, state }, _, { write }) => {
        if (state.execution.status !== 'waiting' || wayBack(plan, state) !== 'free') return;
        waiting += 1;
        expect(write?.execution).toMatchObject({ status: 'compensating', cause: { kind: 'cancel' } });
      },
    );
    expect(waiting).toBeGreaterThan(20);
  });
});

describe('the announcement of an end', () => {
  it('tells nothing of its payload (S17)', () => {
    let told = 0;
    everywhere(
      () => fc.constant(evaluate),
      (_, __, { announce }) => {
        if (announce === undefined) return;
        told += 1;
        const always = ['endedAt', 'executionId', 'startedAt', 'status', 'workflow'];
        const fields = Object.keys(announce);
        expect(fields).toEqual(expect.arrayContaining(always));
        expect(fields.filter((field) => ![...always, 'cause', 'standing'].includes(field))).toEqual([]);
        const effects = (announce.standing?.first ?? []).flatMap((effect) => Object.keys(effect));
        expect(effects.filter((field) => !['step', 'effect', 'executionId'].includes(field))).toEqual([]);
      },
    );
    expect(told).toBeGreaterThan(20);
  });
});
