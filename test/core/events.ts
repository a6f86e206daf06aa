/** Random events for random states: true and false messages, looks of all kinds, reports, beats, commands. */

import * as fc from 'fast-check';
import { decide } from '../../lib/core/decide.ts';
import { asCounted } from '../../lib/core/execution/effective-state.ts';
import { agentStep } from '../../lib/core/plan/plan.ts';
import type { Decision } from '../../lib/core/records/decision.ts';
import type { Event, Gates, Hold, Report } from '../../lib/core/records/events.ts';
import type { Message } from '../../lib/core/records/message.ts';
import { openWork } from '../../lib/core/step/ready.ts';
import { check } from './check.ts';
import { type Case, instant, messages, mixedCases as cases, NOW } from './states.ts';

export const failure = { code: 'x', message: 'y' };
export const reports: fc.Arbitrary<Report> = fc.constantFrom<Report>(
  { kind: 'done', settled: true, output: { n: 1 } },
  { kind: 'failed', settled: true, permanent: false, failure },
  { kind: 'failed', settled: true, permanent: false, failure, retryAfterMs: 60_000 },
  { kind: 'failed', settled: true, permanent: true, failure },
  { kind: 'failed', settled: true, permanent: true, failure, acted: true },
  { kind: 'unknown', settled: false, failure },
  { kind: 'unknown', settled: true, failure },
  { kind: 'found', settled: true, verdict: 'done', output: 1 },
  { kind: 'found', settled: true, verdict: 'not-done' },
  { kind: 'found', settled: true, verdict: 'running' },
  { kind: 'found', settled: true, verdict: 'cannot-tell', failure },
  { kind: 'undone', settled: true },
);
export const stepNames = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'nobody', 'constructor');
export const tokens = (name: string): fc.Arbitrary<string> => fc.constantFrom(`token-${name}`, 'stranger');
export const stamp = { writeId: 'w-new', now: NOW, random: 0.5 };
export const concern = fc.oneof(fc.constant('all' as const), fc.array(stepNames, { maxLength: 2 }));

export const holds: fc.Arbitrary<{ hold?: Hold }> = fc.constantFrom(
  {},
  { hold: { agent: 'agent-a', since: NOW - 60_000, until: NOW + 20_000 } },
  { hold: { agent: 'agent-a', since: NOW - 2 * 86_400_000, until: NOW - 1 } },
);

/** Messages that are true: what the state itself says should be on its way. */
export const trueMessages = ({ plan, state }: Case): Message[] =>
  openWork(plan, asCounted(plan, state)).map(({ step, mode, attempt }) => ({
    v: 1,
    execution: 'e-1',
    step: step.name,
    attempt,
    mode,
    seq: state.steps[step.name]?.version ?? 0,
  }));
export const deliveries = (given: Case): fc.Arbitrary<Event> => {
  const known = trueMessages(given);
  // One that knows more than the state comes from after a restore of the table.
  const ahead = known.map((one) => ({ ...one, seq: one.seq + 1 }));
  const message = known.length === 0 ? messages : fc.oneof(messages, fc.constantFrom(...known, ...ahead));
  return fc
    .tuple(message, fc.constantFrom(NOW - 1, NOW + 1_999, NOW + 2_000, NOW + 600_000))
    .map(([one, hardEndAt]) => ({
      type: 'deliver',
      agent: agentStep(given.plan, one.step)?.agent ?? 'agent-a',
      message: one,
      token: 'fresh',
      hardEndAt,
      readAt: NOW,
      ...stamp,
    }));
};
export const toHeldAgents = (given: Case): fc.Arbitrary<Event> =>
  fc.tuple(deliveries(given), holds).map(([event, hold]) => ({ ...event, ...hold }) as Event);
/** A supervisor that knows nothing of agents, one that is to ask, and one that knows how each of them is. */
export const gates: fc.Arbitrary<{ gates?: Gates; graceFrom?: number }> = fc.oneof(
  fc.constant({}),
  fc.constant({ gates: {} }),
  fc
    .array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.constantFrom(2_000, 900_000), holds), {
      minLength: 5,
      maxLength: 5,
    })
    .map((all) => ({
      graceFrom: NOW - 1_000,
      gates: Object.fromEntries(
        all.map(([sends, laterMs, hold], at) => [
          `agent-${'abcde'[at]}`,
          { sends, laterAt: NOW + laterMs, busyUntil: NOW + laterMs, ...hold },
        ]),
      ),
    })),
);
export const looks: fc.Arbitrary<Event> = fc
  .tuple(fc.constantFrom('worker' as const, 'supervisor' as const), concern, fc.boolean(), gates)
  .map(([by, of, fresh, known]) => ({
    type: 'look',
    by,
    concern: of,
    fresh,
    readAt: NOW,
    ...(by === 'supervisor' ? known : {}),
    ...stamp,
  }));
export const reported: fc.Arbitrary<Event> = stepNames.chain((step) =>
  fc
    .tuple(tokens(step), reports, fc.boolean(), instant, holds)
    .map(([token, report, onTime, priorHardEndAt, hold]) => ({
      ...hold,
      type: 'report',
      step,
      token,
      report,
      onTime,
      priorHardEndAt,
      ...stamp,
    })),
);
export const beats: fc.Arbitrary<Event> = stepNames.chain((step) =>
  tokens(step).map(
    (token): Event => ({ type: 'beat', step, token, progress: { token: '5', at: stamp.now }, ...stamp }),
  ),
);
const command = { commandId: 'k', reason: 'why', ...stamp };
export const commands: fc.Arbitrary<Event> = fc.constantFrom<Event>(
  { type: 'cancel', ...command },
  { type: 'cancel', undo: false, ...command },
  { type: 'pause', ...command },
  { type: 'resume', ...command },
  { type: 'retry', ...command },
);
export const anyEvent = (given: Case): fc.Arbitrary<Event> =>
  fc.oneof(deliveries(given), toHeldAgents(given), looks, reported, beats, commands);

export const RUNS = 1_500;
export type Judge = (given: Case, event: Event, decision: Decision) => void;
/** The judge sees the state as `decide` counts it. */
export const everywhere = (
  judge: Judge,
  of: (given: Case) => fc.Arbitrary<Event> = anyEvent,
  runs = RUNS,
): void => {
  const pairs = cases.chain((given) => of(given).map((event): [Case, Event] => [given, event]));
  check(
    fc.property(pairs, ([given, event]) => {
      const decision = decide(given.plan, given.state, event);
      judge({ ...given, state: asCounted(given.plan, given.state) }, event, decision);
    }),
    runs,
  );
};
