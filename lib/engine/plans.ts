/**
 * Plans by their hash, read once and kept: a plan never changes, so a copy is never stale. A child's plan
 * follows from its parent's, of which alone there is an item.
 */

import { planAt, storedHash } from '../core/plan/child-plans.ts';
import { refuse } from '../core/values/errors.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Store } from '../core/ports.ts';

export type PlanCache = Map<string, Plan>;

/** Plans kept by one process; the oldest is dropped beyond this. */
const MAX_PLANS = 200;

/**
 * @throws SteadfastError `no-plan`: the execution's plan is not in the table,
 * which only a damaged table shows
 */
export async function planOf(store: Store, cache: PlanCache, hash: string): Promise<Plan> {
  const known = cache.get(hash);
  if (known !== undefined) return known;
  const stored = await store.readPlan(storedHash(hash));
  const plan = stored && planAt(stored, hash);
  if (plan === undefined) throw refuse('no-plan', `the plan ${hash} is not in the state table`);
  const oldest = cache.keys().next();
  if (cache.size >= MAX_PLANS && oldest.done !== true) cache.delete(oldest.value);
  cache.set(hash, plan);
  return plan;
}
