/**
 * Properties of decisions about steps without an agent, in random states: S14 a decision is always made, S2
 * it is legal, S12 nothing becomes due before the wake time.
 */

import * as fc from 'fast-check';
import { decide } from '../../../lib/core/decide.ts';
import { RULES } from '../../../lib/core/rules.ts';
import { hasChildren, isReceive, type Plan } from '../../../lib/core/plan/plan.ts';
import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { Event } from '../../../lib/core/decisions/events.ts';
import { type Snapshot, withWrite } from '../../../lib/core/records/snapshot.ts';
import { isForward, isTerminal } from '../../../lib/core/records/state.ts';
import { turnAt } from '../../../lib/core/step/turn.ts';
import { horizonMs } from '../../../lib/core/step/lease.ts';
import { nextWakeAt } from '../../../lib/core/supervision/wake-time.ts';
import { STEP_MOVES } from '../../../lib/core/transitions.ts';
import { plannedOf } from '../../../lib/core/waiting/child.ts';
import { waitEndsAt, waitsUntil } from '../../../lib/core/waiting/waits.ts';
import { check } from '../check.ts';
import { expectLegalMove, type Judge, judgeAll, type Pair, pairsOf } from '../events.ts';
import { type Case, cases, frozen, mixedCases, NOW, receivingCases } from '../states.ts';

const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };
const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'nobody', 'constructor', '__proto__');
const failure = { code: 'x', message: 'y' };
const end = fc.record({
  status: fc.constantFrom('succeeded' as const, 'failed' as const, 'canceled' as const),
  version: fc.integer({ min: 1, max: 12 }),
  clean: fc.boolean(),
});

const callbacks: fc.Arbitrary<Event> = fc
  .tuple(
    names,
    fc.constantFrom(
      { kind: 'complete' as const, output: { n: 1 } },
      { kind: 'fail' as const, failure },
      { kind: 'heartbeat' as const },
    ),
  )
  .map(([step, answer]) => ({ type: 'callback', step, answer, ...inputs }));

const tellings: fc.Arbitrary<Event> = fc
  .tuple(names, fc.integer({ min: -1, max: 4 }), end)
  .map(([step, index, ended]) => ({ type: 'child-ended', step, index, end: ended, ...inputs }));

const GOALS = ['recall', 'leave'] as const;
const doings = ({ plan, state }: Case): fc.Arbitrary<Event> => {
  const families = plan.steps.filter(hasChildren).flatMap((step) => {
    const planned = plannedOf(step, state);
    return 'code' in planned ? [] : [[step.name, planned] as const];
  });
  const nothing = { starts: [], items: 0, tolerated: 0 };
  return fc
    .tuple(
      fc.constantFrom(['a', nothing] as const, ...families),
      fc.constantFrom('started' as const, 'stopped' as const, 'gathered' as const),
      fc.integer({ min: 0, max: 3 }),
      fc.dictionary(fc.constantFrom('0', '1', '2'), end),
    )
    .map(([[step, planned], type, started, ended]) =>
      type === 'gathered'
        ? { type, step, outputs: [[1, null], 'x'], ...inputs }
        : type === 'started'
          ? { type, step, planned, started, ended, ...inputs }
          : { type, step, planned, goal: GOALS[started] ?? 'stop', below: started, ended, ...inputs },
    );
};

const stops: fc.Arbitrary<Event> = fc.boolean().map((undo) => ({ type: 'stop', undo, ...inputs }));
const evaluations: fc.Arbitrary<Event> = fc
  .tuple(fc.constantFrom('agent' as const, 'supervisor' as const), fc.boolean())
  .map(([by, fresh]) => ({ type: 'evaluate', by, affected: 'all', fresh, readAt: NOW, ...inputs }));

const pairs = (of: fc.Arbitrary<Case>): fc.Arbitrary<Pair> =>
  pairsOf(of, (given) => fc.oneof(callbacks, tellings, doings(given), stops, evaluations));
const everywhere = (judge: Judge, of: fc.Arbitrary<Pair>): void => judgeAll(of, 600, judge);

/** Cases of parts of lists, with tolerated failures and lanes. */
const parts: fc.Arbitrary<Case> = fc
  .tuple(cases, fc.integer({ min: 0, max: 2 }))
  .map(([{ plan, state }, tolerated]) => ({ plan: { ...plan, tolerated }, state }));

describe.each([
  ['steps of all kinds', pairs(mixedCases)],
  ['parts of lists', pairs(parts)],
])('a decision about %s', (_, of) => {
  it('is made in every state on every event, the same every time, and changes nothing it was given (S14)', () => {
    everywhere((given, event, decision) => {
      frozen([given, event]);
      expect(decide(given.plan, given.state, event)).toEqual(decision);
    }, of);
  });

  it('writes one version on, by a legal move, to names of the plan alone (S2, S3)', () => {
    everywhere(({ plan, state }, _event, { write }) => {
      if (write?.step !== undefined) {
        const before = state.steps[write.step.name];
        expect(plan.steps.map(({ name }) => name)).toContain(write.step.name);
        expect(write.step.version).toBe((before?.version ?? 0) + 1);
        expect(Object.values(STEP_MOVES[before?.status ?? 'ready']).flat()).toContain(write.step.status);
      }
      if (write?.execution === undefined) return;
      expect(write.execution.version).toBe(state.execution.version + 1);
      expectLegalMove(state, write);
    }, of);
  });

  it('lets an execution that has ended be, but for a child that succeeded and is recalled (S1)', () => {
    everywhere(({ state }, event, { write, sends }) => {
      const { status, parent } = state.execution;
      if (!isTerminal(status) || write === undefined) return;
      expect([write.step, sends]).toEqual([undefined, []]);
      if (write.execution?.status === status) return;
      expect([event.type, status, parent === undefined]).toEqual(['stop', 'succeeded', false]);
      expect(write.execution).toMatchObject({ status: 'compensating', cause: { kind: 'parent' } });
      expect(write.execution).not.toHaveProperty('endedAt');
    }, of);
  });

  it('starts no executions of a step that is over, or while it is being undone', () => {
    everywhere(({ state }, event, { write, next }) => {
      const isStart = event.type === 'started' && write?.step !== undefined;
      if (!isStart && next.kind !== 'start-children') return;
      expect(isForward(state.execution.status)).toBe(true);
    }, of);
  });

  it('that no lease covers brings the wake time forward in the same write (S12)', () => {
    everywhere(({ plan, state }, event, { write }) => {
      if (!['callback', 'child-ended'].includes(event.type) || write === undefined) return;
      const before = state.execution.wakeAt ?? NOW;
      expect(write.step).toBeDefined();
      expect(write.execution?.wakeAt).toBe(Math.min(before, NOW + horizonMs(plan, state)));
    }, of);
  });
});

const receiving = pairsOf(receivingCases, () =>
  evaluations.map((event) => ({ ...event, fresh: true }) as Event),
);

describe('a message', () => {
  it('is waited for by no decision that has not read the mailbox', () => {
    everywhere(({ plan, state }, event, { next, write }) => {
      const isOpen = plan.steps.some((step) => isReceive(step) && waitEndsAt(step, state) !== undefined);
      if (event.type !== 'evaluate' || !isOpen || state.mailbox !== undefined) return;
      expect(next.kind === 'idle' && write === undefined).toBe(false);
    }, receiving);
  });

  it('is taken with step, execution and mailbox, in order, and by the end of the time', () => {
    let taken = 0;
    everywhere(({ plan, state }, _event, { write }) => {
      if (write?.taken === undefined) return;
      taken += 1;
      const { mailbox, message } = write.taken;
      const step = plan.steps.find(({ name }) => name === write.step?.name);
      const { entries = [], version = 0 } = state.mailbox?.mailbox ?? {};
      const name = isReceive(step) ? step.message : '';
      const earlier = entries.filter((one) => one.name === name && one.order < message.order);
      expect(earlier.every(({ id }) => state.mailbox?.messages[id] === null)).toBe(true);
      expect(message).toMatchObject({ name, taken: { step: step?.name, at: NOW } });
      expect(message).not.toHaveProperty('body');
      // Senders' clocks differ, so a message is in time if it, or one that was accepted later, has a time
      // before the deadline.
      const inTime = entries.filter((one) => one.name === name && one.order >= message.order);
      const earliestAt = Math.min(...inTime.map(({ at }) => at));
      expect(earliestAt).toBeLessThanOrEqual((step && waitEndsAt(step, state)) ?? 0);
      expect(write.step).toMatchObject({ status: 'done', output: null, received: { id: message.id } });
      expect(write.execution?.version).toBe(state.execution.version + 1);
      expect(mailbox.version).toBe(version + 1);
      expect(mailbox.entries).toEqual(entries.filter(({ id }) => id !== message.id));
      expect(mailbox).not.toHaveProperty('wakeAt');
    }, receiving);
    expect(taken).toBeGreaterThan(8);
  });
});

describe('the wake time of steps of all kinds (S12)', () => {
  it('is no later than the time until which any of them waits, and H after a start that is due', () => {
    check(
      fc.property(mixedCases, ({ plan, state }) => {
        fc.pre(isForward(state.execution.status));
        const wakeAt = nextWakeAt(RULES[state.execution.status], plan, state, {}, NOW);
        for (const step of plan.steps) {
          const untilAt = waitsUntil(step, state);
          if (untilAt !== undefined)
            expect(wakeAt).toBeLessThanOrEqual(Math.max(untilAt, turnAt(step, state)));
        }
        expect(Number.isFinite(wakeAt)).toBe(true);
      }),
      300,
    );
  });

  it('is before anything that only time makes due: until then an evaluation finds nothing to write', () => {
    let looked = 0;
    check(
      fc.property(mixedCases, fc.double({ min: 0, max: 1, noNaN: true }), ({ plan, state }, part) => {
        fc.pre(!isTerminal(state.execution.status));
        const first = lookAt(plan, state, NOW);
        const wakeAt = first.write?.execution?.wakeAt ?? 0;
        fc.pre(first.next.kind === 'idle' && wakeAt > NOW + 1);
        looked += 1;
        // No message has come. The second evaluation gets an empty mailbox of its own, because an earlier
        // read of the mailbox does not count for a later state.
        const before = { ...withWrite(state, first.write), mailbox: { messages: {} } };
        const at = NOW + Math.floor((wakeAt - 1 - NOW) * part);
        const second = lookAt(plan, before, at);
        expect([second.next.kind, second.write?.step]).toEqual(['idle', undefined]);
        expect(second.write?.execution?.status ?? state.execution.status).toBe(state.execution.status);
      }),
      400,
    );
    expect(looked).toBeGreaterThan(100);
  });
});

const lookAt = (plan: Plan, state: Snapshot, now: number): Decision =>
  decide(plan, state, {
    type: 'evaluate',
    by: 'supervisor',
    affected: [],
    fresh: true,
    readAt: now,
    now,
    random: 0.5,
    writeId: 'w',
  });
