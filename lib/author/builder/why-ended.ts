/**
 * References to the reason why an execution ended without success, and the order of on-failure steps.
 *
 * Does not own: the builder (`workflow.ts`), the refusals (`check-on-failure.ts`).
 */

import { type AgentStep, expressionsOf } from '../../core/plan/plan.ts';
import type { MaybeRef, Ref } from '../references.ts';
import { stepsIn } from '../../core/plan/refs-in.ts';

/** Why the execution ended without success; only for on-failure steps. */
export interface WhyEnded {
  readonly kind: Ref<'failure' | 'cancel' | 'deadline'>;
  /** The name of the step that failed; absent after a cancel or a deadline. */
  readonly step: MaybeRef<string>;
  /**
   * The code of the failed step, or 'canceled', 'deadline'; 'compensation-failed' if something could not be
   * undone.
   */
  readonly code: Ref<string>;
  /** The message, for people. It may quote what a service said. */
  readonly message: Ref<string>;
}

/** Returns the step, ordered after the on-failure steps whose output it reads. */
export function afterThoseRead(step: AgentStep, before: readonly AgentStep[]): AgentStep {
  const own = new Set(before.map(({ name }) => name));
  const read = expressionsOf(step)
    .flatMap(stepsIn)
    .filter((name) => own.has(name));
  return { ...step, after: [...new Set([...step.after, ...read])] };
}
