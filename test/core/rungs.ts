/** Rungs that are as short as a check allows. */

import type { HumanRung, Rung } from '../../lib/core/plan/plan.ts';

export const human = (more: Partial<HumanRung> = {}): HumanRung => ({
  kind: 'human',
  withinMs: 1,
  otherwise: 'fail',
  ...more,
});
export const retry = (more: object = {}): Rung => ({
  kind: 'retry',
  attempts: 1,
  firstMs: 1,
  maxMs: 1,
  ...more,
});
export const useAgent = (more: object = {}): Rung =>
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
  }) as Rung;
