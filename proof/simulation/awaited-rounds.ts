/**
 * Finds the message that a round waits for, from the parent's record.
 *
 * Owns: the message, and the beginning and end of the wait. Does not own: judging which message is taken
 * (`oracle-mail.ts`) and what is late (`oracle-times.ts`).
 */

import type { PlanStep, RoundMessage } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { overTimeAt } from './oracle-turns.ts';

export const messageIn = (input: unknown): unknown =>
  (input as { readonly message?: unknown } | undefined)?.message;

/** The message that a round waits for: the record has the round's number, but no message yet. */
export function roundAwaited(
  step: PlanStep | undefined,
  { execution, steps }: Snapshot,
): RoundMessage | undefined {
  const record = step && steps[step.name];
  const { rounds, stop } = record?.children ?? {};
  if (step?.kind !== 'child' || rounds?.awaits === undefined || stop !== undefined) return undefined;
  const isRetried = record?.status === 'failed' && record.epoch < execution.epoch;
  if (record?.status !== 'running' && !(isRetried && record.children?.ended[0]?.version === 0))
    return undefined;
  return rounds.done === 0 ? step.rounds?.first : step.rounds?.message;
}

/** When the wait began: a retry of the execution restarts it. */
export const waitsSince = (name: string, { execution, steps }: Snapshot): number => {
  const { status, changedAt = 0 } = steps[name] ?? {};
  if (status !== 'failed') return changedAt;
  // A retried execution waits for its place first (seed 40971).
  return Math.max(changedAt, execution.retries?.at(-1)?.at ?? 0, execution.lane?.placedAt ?? 0);
};

/** When the wait ends; undefined if the record has only the sum of earlier pauses. */
export const roundOverAt = (name: string, state: Snapshot): number | undefined => {
  const { withinMs = 0 } = state.steps[name]?.children?.rounds?.awaits ?? {};
  return state.execution.earlierPauses === undefined
    ? overTimeAt('', withinMs, waitsSince(name, state), state)
    : undefined;
};
