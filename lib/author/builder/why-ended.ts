/**
 * References to why an execution ended without success, and the order of on-failure steps.
 *
 * Owns: these. Does not own: the builder (`workflow.ts`), what is refused (`check-on-failure.ts`).
 */

import { type AgentStep, expressionsOf } from '../../core/plan/plan.ts';
import type { MaybeRef, Ref } from '../references.ts';
import { stepsIn } from '../../core/plan/refs-in.ts';

/** Why an execution has ended without success, for its on-failure steps. */
export interface WhyEnded {
  readonly kind: Ref<'failure' | 'cancel' | 'deadline'>;
  /** The step that failed; there is none after a cancel or a deadline. */
  readonly step: MaybeRef<string>;
  /**
   * The code of the failed step, or 'canceled', 'deadline'; 'compensation-failed' where something could not
   * be undone.
   */
  readonly code: Ref<string>;
  /** For people; may quote what a service has said. */
  readonly message: Ref<string>;
}

/** The step, after those of its list whose output it reads. */
export function afterThoseRead(step: AgentStep, before: readonly AgentStep[]): AgentStep {
  const own = new Set(before.map(({ name }) => name));
  const read = expressionsOf(step)
    .flatMap(stepsIn)
    .filter((name) => own.has(name));
  return { ...step, after: [...new Set([...step.after, ...read])] };
}
