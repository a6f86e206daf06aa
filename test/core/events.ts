/**
 * Random events for random states: expected and unexpected messages, evaluations of all kinds, reports,
 * heartbeats, deaths of attempts, commands.
 */

import type { NotBefore } from '../../lib/core/records/state.ts';
import * as fc from 'fast-check';
import { decide } from '../../lib/core/decide.ts';
import { stateAfterRetry } from '../../lib/core/execution/after-retry.ts';
import { agentStep } from '../../lib/core/plan/plan.ts';
import type { Decision, Write } from '../../lib/core/decisions/decision.ts';
import type { Event, Admissions, Report } from '../../lib/core/decisions/events.ts';
import type { Message } from '../../lib/core/decisions/message.ts';
import { isPersonAsked, type Snapshot, withWrite } from '../../lib/core/records/snapshot.ts';
import { isForward } from '../../lib/core/records/state.ts';
import { openWork } from '../../lib/core/step/ready.ts';
import { EXECUTION_MOVES } from '../../lib/core/transitions.ts';
import { check, drawn, runsOf } from './check.ts';
import { type Case, messages, mixedCases as cases, NOW } from './states.ts';

export const failure = { code: 'x', message: 'y' };
export const reports: fc.Arbitrary<Report> = fc.constantFrom<Report>(
  { kind: 'done', codeReturned: true, output: { n: 1 } },
  { kind: 'failed', codeReturned: true, permanent: false, failure },
  { kind: 'failed', codeReturned: true, permanent: false, failure, retryAfterMs: 60_000 },
  { kind: 'failed', codeReturned: true, permanent: true, failure },
  { kind: 'wrong-answer', codeReturned: true, failure, answer: '{}' },
  { kind: 'unknown', codeReturned: false, failure },
  { kind: 'unknown', codeReturned: true, failure },
  { kind: 'found', codeReturned: true, verdict: 'done', output: 1 },
  { kind: 'found', codeReturned: true, verdict: 'not-done' },
  { kind: 'found', codeReturned: true, verdict: 'running' },
  { kind: 'found', codeReturned: true, verdict: 'cannot-tell', failure },
  { kind: 'compensated', codeReturned: true },
);
const MODES = ['execute', 'probe', 'undo'] as const;
export const stepNames = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'nobody', 'constructor');
export const tokens = (name: string): fc.Arbitrary<string> => fc.constantFrom(`token-${name}`, 'stranger');
export const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };
export const affected = fc.oneof(fc.constant('all' as const), fc.array(stepNames, { maxLength: 2 }));

export const holds: fc.Arbitrary<{ notBefore?: NotBefore }> = fc.constantFrom(
  {},
  { notBefore: { why: 'breaker' as const, since: NOW - 60_000, at: NOW + 20_000 } },
  { notBefore: { why: 'breaker' as const, since: NOW - 2 * 86_400_000, at: NOW - 1 } },
);

/** The messages that the state expects to be in flight. */
export const trueMessages = ({ plan, state }: Case): Message[] =>
  openWork(plan, stateAfterRetry(plan, state)).map(({ step, mode, attempt }) => ({
    v: 1,
    execution: 'e-1',
    step: step.name,
    attempt,
    mode,
    seq: state.steps[step.name]?.version ?? 0,
  }));
export const deliveries = (given: Case): fc.Arbitrary<Event> => {
  const known = trueMessages(given);
  // A higher seq than the state's: the message was sent before the table was restored.
  const ahead = known.map((one) => ({ ...one, seq: one.seq + 1 }));
  // Like a true message, but with any attempt or any mode.
  const near = known.flatMap((one) => [
    ...[0, 1, 2].map((attempt) => ({ ...one, attempt })),
    ...MODES.map((mode) => ({ ...one, mode })),
  ]);
  const message =
    known.length === 0
      ? messages
      : fc.oneof(messages, fc.constantFrom(...known, ...ahead), fc.constantFrom(...near));
  return fc
    .tuple(message, fc.constantFrom(NOW - 1, NOW + 1_999, NOW + 2_000, NOW + 600_000))
    .map(([one, processDeadlineAt]) => ({
      type: 'deliver',
      agent: agentStep(given.plan, one.step)?.agent ?? 'agent-a',
      message: one,
      token: 'fresh',
      processDeadlineAt,
      readAt: NOW,
      ...inputs,
    }));
};
export const toBlockedAgents = (given: Case): fc.Arbitrary<Event> =>
  fc.tuple(deliveries(given), holds).map(([event, notBefore]) => ({ ...event, ...notBefore }) as Event);
/** Supervisors that know nothing about agents, that must ask, and that know the state of each. */
export const admissions: fc.Arbitrary<{ admissions?: Admissions; graceFrom?: number }> = fc.oneof(
  fc.constant({}),
  fc.constant({ admissions: {} }),
  fc
    .array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.constantFrom(2_000, 900_000), holds), {
      minLength: 5,
      maxLength: 5,
    })
    .map((all) => ({
      graceFrom: NOW - 1_000,
      admissions: Object.fromEntries(
        all.map(([sends, laterMs, { notBefore = { why: 'unclaimed' as const, at: NOW + laterMs } }], at) => [
          `agent-${'abcde'[at]}`,
          { sends, notBefore, busyUntil: NOW + laterMs },
        ]),
      ),
    })),
);
export const evaluations: fc.Arbitrary<Event> = fc
  .tuple(fc.constantFrom('agent' as const, 'supervisor' as const), affected, fc.boolean(), admissions)
  .map(([by, of, fresh, known]) => ({
    type: 'evaluate',
    by,
    affected: of,
    fresh,
    readAt: NOW,
    ...(by === 'supervisor' ? known : {}),
    ...inputs,
  }));
export const reported: fc.Arbitrary<Event> = stepNames.chain((step) =>
  fc.tuple(tokens(step), reports, fc.boolean(), holds).map(([token, report, onTime, notBefore]) => ({
    ...notBefore,
    type: 'report',
    step,
    token,
    report,
    onTime,
    ...inputs,
  })),
);
export const heartbeats: fc.Arbitrary<Event> = stepNames.chain((step) =>
  tokens(step).map(
    (token): Event => ({
      type: 'heartbeat',
      step,
      token,
      progress: { token: '5', at: inputs.now },
      ...inputs,
    }),
  ),
);
/** Deaths of the latest attempt, of the one before it, and of an unknown one. */
export const deaths: fc.Arbitrary<Event> = stepNames.chain((step) =>
  fc
    .constantFrom(`token-${step}`, `older-${step}`, 'stranger')
    .map((token): Event => ({ type: 'process-died', step, token, ...inputs })),
);
const command = { commandId: 'k', reason: 'why', ...inputs };
export const commands: fc.Arbitrary<Event> = fc.constantFrom<Event>(
  { type: 'cancel', ...command },
  { type: 'cancel', undo: false, ...command },
  { type: 'pause', ...command },
  { type: 'resume', ...command },
  { type: 'retry', ...command },
);
export const anyEvent = (given: Case): fc.Arbitrary<Event> =>
  fc.oneof(deliveries(given), toBlockedAgents(given), evaluations, reported, heartbeats, deaths, commands);

/**
 * Checks that a write is a legal move of the tables. A forward-running execution is `waiting` if and only if
 * a person is asked.
 */
export function expectLegalMove(state: Snapshot, write: Write): void {
  const { status } = withWrite(state, write).execution;
  const ways = Object.values(EXECUTION_MOVES[state.execution.status]);
  const after = withWrite(state, write);
  if (!isForward(status) || after.questions === undefined) return expect(ways).toContain(status);
  expect(ways.some(isForward)).toBe(true);
  expect(status).toBe(isPersonAsked(after) ? 'waiting' : 'running');
}

export const RUNS = 900;
export type Judge = (given: Case, event: Event, decision: Decision) => void;
type OfEvents = (given: Case) => fc.Arbitrary<Event>;
export type Pair = readonly [given: Case, event: Event];
type Decided = readonly [...Pair, decision: Decision];

/** Gives judges the state after a retry is applied, as `decide` sees it. */
const decided = ([given, event]: Pair): Decided => [
  { ...given, state: stateAfterRetry(given.plan, given.state) },
  event,
  decide(given.plan, given.state, event),
];

/**
 * Caches the cases with their decisions for all judges of a file, because generating takes most of the time.
 */
const known = new WeakMap<fc.Arbitrary<Pair>, readonly Decided[]>();

export function judgeAll(pairs: fc.Arbitrary<Pair>, runs: number, judge: Judge): void {
  const before = known.get(pairs) ?? [];
  const all = before.length >= runsOf(runs) ? before : drawn(pairs, runs).map(decided);
  known.set(pairs, all);
  try {
    for (const one of all.slice(0, runsOf(runs))) judge(...one);
  } catch (error) {
    // Runs the cases again under fast-check, which shrinks the failing one and prints how to repeat it.
    check(
      fc.property(pairs, (pair) => judge(...decided(pair))),
      runs,
    );
    throw error;
  }
}

export const pairsOf = (all: fc.Arbitrary<Case>, of: OfEvents): fc.Arbitrary<Pair> =>
  all.chain((given) => of(given).map((event): Pair => [given, event]));

/** Caches the arbitrary of each kind of events, so that `judgeAll` generates its cases once. */
const pairsBy = new WeakMap<OfEvents, fc.Arbitrary<Pair>>();
export function everywhere(judge: Judge, of: OfEvents = anyEvent, runs = RUNS): void {
  const pairs = pairsBy.get(of) ?? pairsOf(cases, of);
  pairsBy.set(of, pairs);
  judgeAll(pairs, runs, judge);
}
