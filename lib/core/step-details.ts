/**
 * Fields that distinguish steps of one status; the tables of moves do not have them. `docs/STATE-MACHINE.md`
 * prints them.
 *
 * Owns: the fields. Does not own: when they are set (`records/state.ts` describes each).
 */

import type { StepStatus } from './moves.ts';

/** The fields of a step's record that say more than its status (`records/state.ts`). */
export const STEP_DETAILS: Readonly<
  Partial<Record<StepStatus, { readonly field: string; readonly by: string }>>
> = {
  retrying: {
    field: 'deferred',
    by: 'put off until `retryAt`, and no attempt is charged for it; else a backoff',
  },
  accepted: { field: 'accepted', by: 'since when, until when, and what its service has said' },
  waiting: {
    field: 'progressAt',
    by: 'a callback whose external party sends heartbeats; else a person is asked',
  },
  failed: { field: 'nextStage', by: 'between two stages: its undo comes first; else its recovery is over' },
  compensating: { field: 'leaseUntil', by: 'an undo is under way; else the next one is due at `retryAt`' },
  compensated: { field: 'nextStage', by: 'its next stage follows; else its effect is undone for good' },
};
