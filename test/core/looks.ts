/** Looks at small plans, for tests of what they send. */

import type { AgentStep } from '../../lib/core/plan/plan.ts';
import type { LookEvent } from '../../lib/core/records/events.ts';
import { stamp } from './one-step.ts';
import { planStep } from './refusals.ts';
import { NOW } from './states.ts';

export type Look = LookEvent & typeof stamp;
export const look = (by: LookEvent['by'], more: Partial<Look> = {}): Look => ({
  type: 'look',
  by,
  concern: 'all',
  fresh: true,
  readAt: NOW,
  ...stamp,
  ...more,
});
export const named = (name: string, more: Partial<AgentStep> = {}): AgentStep => ({
  ...planStep,
  name,
  ...more,
});
/** Of the first attempt, but for its step. */
export const firstMessage = { v: 1, execution: 'e-1', attempt: 1, mode: 'execute', seq: 0 };
