/** Recovery stages for tests, with the smallest values that plan validation accepts. */

import type { AskPersonStage, Stage } from '../../lib/core/plan/plan.ts';

export const askPerson = (more: Partial<AskPersonStage> = {}): AskPersonStage => ({
  kind: 'askPerson',
  withinMs: 1,
  otherwise: 'keep',
  ...more,
});
export const retry = (more: object = {}): Stage => ({
  kind: 'retry',
  attempts: 1,
  firstMs: 1,
  maxMs: 1,
  ...more,
});
export const useAgent = (more: object = {}): Stage =>
  ({
    ...retry(),
    kind: 'useAgent',
    agent: 'other',
    undo: 'none',
    effect: 'idempotent',
    timeoutMs: 1,
    leaseMs: 1,
    pickupMs: 1,
    settleMs: 1,
    ...more,
  }) as Stage;
