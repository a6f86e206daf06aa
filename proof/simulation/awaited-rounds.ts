/**
 * A round that waits for its message, by the parent's record alone.
 *
 * Owns: which message that is, since when and until when it is waited for. Does not own: the judgement of
 * what is taken (`oracle-mail.ts`) and of what is late (`oracle-times.ts`).
 */

import type { PlanStep, RoundMessage } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { overTimeAt } from './oracle-turns.ts';

export const messageIn = (input: unknown): unknown =>
  (input as { readonly message?: unknown } | undefined)?.message;

/** The message that a round waits for, by the record: it has a number, and no message yet. */
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

/** A retry of the execution gives the round its time once more. */
export const waitsSince = (name: string, { execution, steps }: Snapshot): number => {
  const { status, changedAt = 0 } = steps[name] ?? {};
  return status === 'failed' ? Math.max(changedAt, execution.retries?.at(-1)?.at ?? 0) : changedAt;
};

/** Nothing where earlier pauses are only a sum. */
export const roundOverAt = (name: string, state: Snapshot): number | undefined => {
  const { withinMs = 0 } = state.steps[name]?.children?.rounds?.awaits ?? {};
  return state.execution.earlierPauses === undefined
    ? overTimeAt('', withinMs, waitsSince(name, state), state)
    : undefined;
};
