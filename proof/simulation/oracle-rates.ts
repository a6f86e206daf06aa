/**
 * Judges agents' rates by the claims, with the clocks of the claiming processes.
 *
 * Owns: the rate of a world's agents; no second (for slow rates, no minute) has more claims than the rate,
 * plus a tolerance. Does not own: which worlds have rates (`traits.ts`).
 */

import { BULK } from '../../lib/core/plan/built-in.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';
import { actedAs } from './oracle-order.ts';
import type { Choice } from './plans.ts';

const RATES = [0.1, 0.5, 1, 2, 20] as const;
/** The window: a minute for slow rates, whose seconds show nothing. */
const windowMsOf = (perSecond: number): number =>
  perSecond >= 5 ? 1_000 : perSecond >= 0.5 ? 10_000 : 60_000;
/** Allows for shares of 50 ms taken at once, and claims up to 100 ms after a slot's end. */
const TOLERANCE = 1.15;

export class OracleRates {
  readonly perSecond: number | undefined;
  readonly #kinds: KindCounts;
  /** By agent, the ascending times of its claims. */
  readonly #claimedAt = new Map<string, number[]>();

  constructor(choice: Choice | undefined, kinds: KindCounts) {
    this.perSecond = choice?.pick(RATES);
    this.#kinds = kinds;
  }

  /** Judges a step's write. */
  judge(problems: string[], plan: Plan, { steps }: Snapshot, after: Step): void {
    const step = plan.steps.find(({ name }) => name === after.name);
    if (this.perSecond === undefined || step?.kind !== 'agent') return;
    const known = steps[after.name];
    if (after.deferred?.why === 'rate') this.#kinds.rateDeferred += 1;
    const { claimedAt } = after;
    if (claimedAt === undefined || after.leaseUntil === undefined || after.token === known?.token) return;
    if (known?.deferred?.why === 'rate') this.#kinds.rateTurn += 1;
    const { agent } = actedAs(step, after);
    // The built-in agent has no rate.
    if (agent === BULK.name) return;
    const all = this.#claimedAt.get(agent) ?? [];
    this.#claimedAt.set(agent, all);
    const at = all.findLastIndex((one) => one <= claimedAt) + 1;
    all.splice(at, 0, claimedAt);
    const windowMs = windowMsOf(this.perSecond);
    const most = Math.floor((this.perSecond * TOLERANCE * windowMs) / 1_000) + 2;
    for (let first = Math.max(0, at - most); first <= at; first += 1) {
      const next = all[first + most];
      if (next === undefined || next - (all[first] ?? 0) >= windowMs) continue;
      problems.push(
        `S9 '${agent}' begins more than ${most} attempts in ${windowMs} ms at ${this.perSecond}/s`,
      );
      return;
    }
  }
}
