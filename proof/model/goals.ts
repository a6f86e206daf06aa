/**
 * States that a run must reach: a configuration in which, for example, no pause takes effect does not test
 * pauses.
 *
 * Owns: the goals. Does not own: which run has which (`config.ts`), the search (`explore.ts`).
 */

import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, isTerminal } from '../../lib/core/records/state.ts';

const pauseEnded = ({ pauses }: Execution): boolean => pauses?.at(-1)?.endedAt !== undefined;

export const GOALS = {
  paused: ({ execution }: Snapshot) => execution.status === 'paused',
  /** A process that read the state before the pause has claimed a step during it. */
  begun: ({ execution, steps }: Snapshot) =>
    execution.status === 'paused' && Object.values(steps).some(({ leaseUntil }) => leaseUntil !== undefined),
  /** The undo of a tolerated failure had begun when the pause began. */
  'paused-undo': ({ execution, steps }: Snapshot) =>
    execution.status === 'paused' && Object.values(steps).some(({ status }) => status === 'compensating'),
  /** A step is claimed after the pause. */
  resumed: ({ execution, steps }: Snapshot) =>
    isForward(execution.status) &&
    pauseEnded(execution) &&
    Object.values(steps).some(({ leaseUntil }) => leaseUntil !== undefined),
  /** The service has accepted the work; it is found done; it is undone with its execution. */
  accepted: ({ steps }: Snapshot) => Object.values(steps).some(({ status }) => status === 'accepted'),
  'accepted-done': ({ execution, steps }: Snapshot) =>
    execution.status === 'succeeded' && Object.values(steps).some(({ mode }) => mode === 'probe'),
  'accepted-stopped': ({ steps }: Snapshot) =>
    Object.values(steps).some(({ status, accepted }) => status === 'compensating' && accepted !== undefined),
  /** The child has ended, and its parent knows. */
  'child-done': ({ steps }: Snapshot) => steps['kid']?.status === 'done',
  /** The child had succeeded, and is undone with its parent. */
  recalled: ({ steps }: Snapshot, child?: Snapshot) =>
    steps['kid'] !== undefined &&
    child?.execution.status === 'compensating' &&
    Object.values(child.steps).some(({ status }) => status === 'done'),
  /** The child was stopped while it was under way, or before it was started. */
  stopped: (_: Snapshot, child?: Snapshot) => child?.execution.cause?.kind === 'parent',
  'place-taken': (_: Snapshot, child?: Snapshot) =>
    child?.execution.status === 'canceled' && Object.keys(child.steps).length === 0,
  'following-up': ({ execution, steps }: Snapshot) =>
    execution.status === 'following-up' && steps['f']?.leaseUntil !== undefined,
  'followed-up': ({ execution, steps }: Snapshot) =>
    isTerminal(execution.status) && steps['f']?.status === 'done' && execution.status !== 'succeeded',
  /** An on-failure step ran again, after the end of a later epoch. */
  'followed-again': ({ execution, steps }: Snapshot) =>
    execution.epoch > 1 && isTerminal(execution.status) && steps['f']?.epoch === execution.epoch,
  /** The child failed, and goes on with its parent. */
  'goes-on': ({ execution }: Snapshot, child?: Snapshot) =>
    execution.epoch > 1 && (child?.execution.epoch ?? 1) > 1,
} as const satisfies Record<string, (snapshot: Snapshot, child?: Snapshot) => boolean>;
export type GoalName = keyof typeof GOALS;
