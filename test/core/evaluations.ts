/** Evaluates small plans, for tests of what an evaluation sends. */

import type { AgentStep } from '../../lib/core/plan/plan.ts';
import type { EvaluateEvent } from '../../lib/core/decisions/events.ts';
import { inputs } from './one-step.ts';
import { planStep } from '../author/refusals.ts';
import { NOW } from './states.ts';

export type Evaluation = EvaluateEvent & typeof inputs;
export const evaluate = (by: EvaluateEvent['by'], more: Partial<Evaluation> = {}): Evaluation => ({
  type: 'evaluate',
  by,
  affected: 'all',
  fresh: true,
  readAt: NOW,
  ...inputs,
  ...more,
});
export const named = (name: string, more: Partial<AgentStep> = {}): AgentStep => ({
  ...planStep,
  name,
  ...more,
});
/** The fields of a first attempt's message, without the step. */
export const firstMessage = { v: 1, execution: 'e-1', attempt: 1, mode: 'execute', seq: 0 };
