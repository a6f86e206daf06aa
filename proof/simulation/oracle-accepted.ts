/**
 * Judges accepted work, independently, by the text of docs/ARCHITECTURE.md.
 *
 * Owns three checks of accepted work: it acts no longer than allowed; it is probed once in each interval;
 * only an answer, a stop or its deadline ends it. Does not own: the order of undos (`oracle-order.ts`, by the
 * services' own book), the legal moves (`oracle-moves.ts`).
 */

import type { AgentStep, Plan } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Accepted, Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';

const CLOCKS_DIFFER_MS = 4_000;
const LAST_PROBES_MS = 600_000;

/** An agent at the time of the latest attempt. */
type Acted = Pick<AgentStep, 'effect' | 'acceptsMs' | 'settleMs'>;

/** Until when accepted work, or work that may have been accepted, may act. */
export function acceptedTill({ effect, acceptsMs, settleMs }: Acted, record: Step): number {
  if (effect === 'none' || record.status === 'done' || record.status === 'compensated') return 0;
  if (!record.mayHaveActed) return 0;
  return (
    record.accepted?.untilAt ??
    (acceptsMs === undefined ? 0 : record.processDeadlineAt + settleMs + acceptsMs)
  );
}

/** Whether the undo of earlier steps must wait for the accepted work, because it cannot be stopped. */
export const isWaitedFor = (
  { effect, undo }: Pick<AgentStep, 'effect' | 'undo'>,
  { status }: Pick<Step, 'status'>,
): boolean => status === 'accepted' && undo === 'none' && effect !== 'none';

interface Context {
  readonly kinds: KindCounts;
  /** True time. */
  readonly now: number;
  readonly actedAs: (
    step: AgentStep,
    record: Step,
  ) => Pick<AgentStep, 'acceptsMs' | 'maxNoProgressMs' | 'undo' | 'effect'>;
}

export function judgeAccepted(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  { step: after }: Write,
  { kinds, now, actedAs }: Context,
): void {
  const planned = plan.steps.find(({ name }) => name === after?.name);
  const known = after && before.steps[after.name];
  if (after === undefined || known === undefined || planned?.kind !== 'agent') return;
  const acted = actedAs(planned, after);
  if (after.accepted !== undefined && after.accepted.at !== known.accepted?.at)
    judgeBegin(problems, after, known, acted, kinds, now);
  if (after.accepted !== undefined && after.accepted.at !== known.accepted?.at && acted !== planned)
    kinds.acceptedByOther += 1;
  if (known.accepted === undefined) return;
  const isClaim = after.leaseUntil !== undefined && after.token !== known.token;
  if (isClaim) judgeClaim(problems, before, known, after, kinds);
  else if (known.status === 'probing' && known.leaseUntil !== undefined && after.leaseUntil === undefined)
    judgeAnswer(problems, known, after, { ...acted, isTimed: planned.withinMs !== undefined }, kinds);
  if (after.status === 'fenced' && known.status === 'accepted') {
    const isLeft = before.execution.cause?.undo === false || acted.effect === 'none';
    const isOver = now + CLOCKS_DIFFER_MS >= known.accepted.untilAt + LAST_PROBES_MS;
    if (!isLeft && !isOver) problems.push(`S10 '${after.name}' is fenced while its accepted work acts`);
  }
}

function judgeBegin(
  problems: string[],
  { name, accepted, status }: Step,
  known: Step,
  { acceptsMs }: Pick<AgentStep, 'acceptsMs'>,
  kinds: KindCounts,
  now: number,
): void {
  kinds.accepted += 1;
  if (known.leaseUntil === undefined) kinds.acceptedLate += 1;
  if (known.status === 'probing') kinds.acceptedFound += 1;
  if (acceptsMs === undefined) problems.push(`S6 '${name}' is ${status}, and its agent accepts nothing`);
  const ms = (accepted?.untilAt ?? 0) - now - (acceptsMs ?? 0);
  if (ms < 0 - 1_000 || ms > 2 * CLOCKS_DIFFER_MS)
    problems.push(`S10 '${name}' was accepted until ${ms} ms after what its agent says`);
}

/** Checks that a probe is not early. A duplicate chain of messages would make it early. */
function judgeClaim(
  problems: string[],
  { execution }: Snapshot,
  known: Step,
  after: Step,
  kinds: KindCounts,
): void {
  if (after.mode === 'execute' && known.status === 'accepted')
    problems.push(`S6 '${after.name}' is performed once more while its accepted work acts`);
  if (after.mode === 'undo' && known.status === 'accepted') kinds.acceptedStopped += 1;
  if (after.mode !== 'probe' || known.status !== 'accepted') return;
  if (execution.status === 'compensating') kinds.acceptedAwaited += 1;
  const earlyMs = (known.retryAt ?? 0) - (after.claimedAt ?? 0);
  if (earlyMs > CLOCKS_DIFFER_MS && known.deferred === undefined)
    problems.push(`S16 '${after.name}' is asked ${earlyMs} ms before it is due`);
}

/** Checks that it ends by an answer or at its deadline. */
function judgeAnswer(
  problems: string[],
  known: Step,
  after: Step,
  {
    maxNoProgressMs,
    undo,
    isTimed,
  }: Pick<AgentStep, 'maxNoProgressMs' | 'undo'> & { readonly isTimed: boolean },
  kinds: KindCounts,
): void {
  const { accepted } = known;
  const last = after.attempts.at(-1);
  if (accepted === undefined) return;
  if (after.status === 'accepted') {
    if (after.attempts.length !== known.attempts.length || after.attempt !== known.attempt)
      problems.push(`S9 a probe of '${after.name}', whose work is accepted, counts as an attempt`);
    if ((after.accepted?.asked ?? 0) > 1) kinds.askedTwice += 1;
    return judgeKept(problems, accepted, known, after);
  }
  if (after.status === 'done') kinds.acceptedDone += 1;
  else if (last?.outcome === 'not-done') {
    kinds.acceptedNever += 1;
    if ((known.claimedAt ?? 0) < accepted.askFrom)
      problems.push(`P7 '${after.name}' is never done, by a probe before its first pause was over`);
  } else if (last?.outcome === 'still-running') {
    kinds.acceptedOver += 1;
    if (after.status === 'retrying' && undo !== 'none')
      problems.push(`S10 '${after.name}' goes on while its accepted work acts, which can be undone`);
    const stalledAt =
      maxNoProgressMs === undefined ? Infinity : (accepted.progressAt ?? accepted.at) + maxNoProgressMs;
    const endsAt = Math.min(accepted.untilAt, stalledAt);
    const earlyMs = endsAt - (known.claimedAt ?? 0);
    if (earlyMs > CLOCKS_DIFFER_MS && !isTimed)
      problems.push(
        `P7 '${after.name}' is given up ${earlyMs} ms before the time of its accepted work is over`,
      );
  } else if (last?.failure?.code !== 'bad-output' && last?.failure?.code !== 'output-too-large')
    problems.push(`S6 '${after.name}' is ${after.status}, and nothing has ended its accepted work`);
}

/** Judges what is kept of accepted work that a probe has found under way. */
function judgeKept(problems: string[], before: Accepted, known: Step, { name, accepted }: Step): void {
  if (before.token !== undefined && accepted?.token === undefined)
    problems.push(`P7 the token of '${name}' is forgotten`);
  const isNamed = accepted?.token !== before.token;
  if (accepted?.at !== before.at && known.restarted !== true && !isNamed)
    problems.push(`P7 the time of '${name}' begins anew with a probe`);
  if (accepted?.progress !== before.progress && accepted?.progressAt === before.progressAt)
    problems.push(`P7 the progress of '${name}' does not count`);
}
