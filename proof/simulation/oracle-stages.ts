/**
 * Judges the next stage of a recovery by the records and the requests at the services.
 *
 * Owns: a stage begins only when the previous one can no longer act, and after its undo unless it has no
 * effect. Does not own: effects by key (`ledger.ts`), the contents of keys (`oracle-keys.ts`).
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';
import { actedAs } from './oracle-order.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** @param after a step as it is written */
export function judgeStages(
  problems: string[],
  plan: Plan,
  { steps }: Snapshot,
  after: Step,
  kinds: KindCounts,
): void {
  const step = plan.steps.find(({ name }) => name === after.name);
  const known = steps[after.name];
  if (step?.kind !== 'agent' || known === undefined) return;
  if (known.status === 'compensated' && after.status === 'retrying') kinds.stageAfterUndo += 1;
  const isClaim = after.leaseUntil !== undefined && after.token !== known.token && after.mode === 'execute';
  if (!isClaim || known.attempt === 0 || after.key === known.key) return;
  if (!known.mayHaveActed) return;
  const { effect, settleMs } = actedAs(step, known);
  if (effect !== 'none') problems.push(`S18 '${step.name}' goes on in another way, and may have acted`);
  kinds.stageLeft += 1;
  const earlyMs = known.processDeadlineAt + settleMs - (after.claimedAt ?? 0) - CLOCKS_DIFFER_MS;
  if (earlyMs > 0)
    problems.push(
      `S10 the next stage of '${step.name}' begins ${earlyMs} ms before the former can act no more`,
    );
}

/** Requests at services without lasting effects: the number of the latest key, by step. */
export class Arrivals {
  readonly #latest = new Map<string, number>();
  readonly violations: string[] = [];

  arrived(idempotencyKey: string): void {
    const number = Number(/-(\d+)$/.exec(idempotencyKey)?.[1] ?? 1);
    const place = idempotencyKey.replace(/-\d+$/, '');
    const latest = this.#latest.get(place) ?? 0;
    if (number < latest) this.violations.push(`S10 ${idempotencyKey}: it acts beside the stage after it`);
    this.#latest.set(place, Math.max(latest, number));
  }
}
