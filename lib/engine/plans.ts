/**
 * Plans by their hash, read once and cached: a plan never changes. A child's plan is a part of its parent's,
 * and only the parent's is stored.
 */

import { planAt, storedHash } from '../core/plan/child-plans.ts';
import { refuse } from '../core/values/errors.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Store } from '../core/ports.ts';

export type PlanCache = Map<string, Plan>;

/** The most plans that a process caches; then the oldest is dropped. */
const MAX_PLANS = 200;

/**
 * @throws SteadfastError `no-plan`: the execution's plan is not in the table; only a damaged table lacks one
 */
export async function planOf(store: Store, cache: PlanCache, hash: string): Promise<Plan> {
  const known = cache.get(hash);
  if (known !== undefined) return known;
  const above = storedHash(hash);
  const stored = cache.get(above) ?? (await store.readPlan(above));
  const plan = stored && planAt(stored, hash);
  if (plan === undefined) throw refuse('no-plan', `the plan ${hash} is not in the state table`);
  keep(cache, hash, plan);
  // Each part of a long list has its own plan: cache the plan that contains them, so that it is read once.
  keep(cache, above, stored as Plan);
  return plan;
}

/** Keeps a plan as the newest one. */
function keep(cache: PlanCache, hash: string, plan: Plan): void {
  cache.delete(hash);
  const oldest = cache.keys().next();
  if (cache.size >= MAX_PLANS && oldest.done !== true) cache.delete(oldest.value);
  cache.set(hash, plan);
}
