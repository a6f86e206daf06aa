/**
 * Counts the features that a run has tested, and the faults that hit them. Pure.
 *
 * Owns: the counts. A feature that never occurred was not tested, so a count of 0 fails the run
 * (`report.ts`).
 */

import type { OrderEntry as Entry } from '../../../examples/order-fulfilment/world.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { isTerminal, type Step } from '../../../lib/core/records/state.ts';
import type { TableContent } from '../table-audit.ts';

/** How often each feature occurred. */
export interface Features {
  /** Orders that succeeded without their mail. */
  readonly declinedMails: number;
  /**
   * The part of these orders whose mail may have been sent: a person let the order go on, and the announced
   * end says so.
   */
  readonly mailsThatMayStand: number;
  /** Holidays with a taxi instead of the car. */
  readonly fallbacks: number;
  /** Holidays among these whose car had been reserved, and was given back first. */
  readonly fallbacksAfterUndo: number;
  /** Sites that are in effect in the south. */
  readonly moved: number;
  /** Sites among these for which a cluster or a network in the north had to be undone. */
  readonly movedAfterUndo: number;
  /** Launches that are in effect nowhere. */
  readonly movedInVain: number;
  /** Hosts that failed in rollouts that succeeded. */
  readonly hostsTolerated: number;
  /** Hosts that are in effect. */
  readonly hostsDeployed: number;
  /** Rollouts with more failures than allowed. */
  readonly rolloutsUndone: number;
  /** Ends about which the customer got a mail. */
  readonly told: number;
  /** Ends about which the customer could get no mail: they stay as they were. */
  readonly tellingFailed: number;
  /** The part of these ends whose customer may have got the mail nevertheless. */
  readonly newsThatMayStand: number;
}

export function featuresOf({ snapshots }: TableContent, entries: readonly Entry[]): Features {
  const of = (workflow: string): readonly Snapshot[] =>
    snapshots.filter(({ execution }) => execution.workflow === workflow && execution.parent === undefined);
  const succeeded = (workflow: string): readonly Snapshot[] =>
    of(workflow).filter(({ execution }) => execution.status === 'succeeded');
  const undone = (workflow: string): readonly Snapshot[] =>
    of(workflow).filter(({ execution: { status } }) => isTerminal(status) && status !== 'succeeded');
  const fallbacks = succeeded('holiday').filter(
    (one) => isAt(one, 'car', 'tolerated') && isAt(one, 'taxi', 'done'),
  );
  const southern = new Set(
    snapshots
      .filter(({ execution: { workflow, input } }) => workflow === 'site' && isSouthern(input))
      .map(({ execution }) => execution.parent?.executionId),
  );
  const hasMoved = ({ execution }: Snapshot): boolean => southern.has(execution.id);
  const moved = succeeded('launch').filter(hasMoved);
  const acts = new Set(entries.filter(({ kind }) => kind === 'release').map(({ orderId }) => orderId));
  const subjectOf = ({ execution }: Snapshot): string =>
    String((execution.input as { readonly subject?: string } | null)?.subject);
  const givenBack = (all: readonly Snapshot[], part: string): number =>
    all.filter((one) => acts.has(`${subjectOf(one)}/${part}`)).length;
  const tolerated = succeeded('rollout').map(
    ({ execution }) => (execution.output as { readonly failed?: number } | undefined)?.failed ?? 0,
  );
  const mayStand = (all: readonly Snapshot[], name: string): number =>
    all.filter(({ steps }) => steps[name]?.status === 'tolerated' && steps[name].mayHaveActed).length;
  const tellers = snapshots.filter(({ steps }) => steps['tell'] !== undefined);
  return {
    declinedMails: succeeded('order').filter((one) => isAt(one, 'mail', 'tolerated')).length,
    mailsThatMayStand: mayStand(succeeded('order'), 'mail'),
    fallbacks: fallbacks.length,
    fallbacksAfterUndo: givenBack(fallbacks, 'car'),
    moved: moved.length,
    movedAfterUndo: givenBack(moved, 'north'),
    movedInVain: undone('launch').filter(hasMoved).length,
    hostsTolerated: tolerated.reduce((sum, count) => sum + count, 0),
    hostsDeployed: snapshots.filter(
      ({ execution }) => execution.workflow === 'deploy-host' && execution.status === 'succeeded',
    ).length,
    rolloutsUndone: undone('rollout').length,
    told: tellers.filter((one) => isAt(one, 'tell', 'done')).length,
    tellingFailed: tellers.filter((one) => isAt(one, 'tell', 'tolerated')).length,
    newsThatMayStand: mayStand(tellers, 'tell'),
  };
}

const isSouthern = (input: unknown): boolean =>
  (input as { readonly region?: string } | null)?.region === 'south';

const isAt = ({ steps }: Snapshot, name: string, status: Step['status']): boolean =>
  steps[name]?.status === status;

/** Attempts that a kill or a freeze ended, by workflow. */
export function struckIn({ snapshots }: TableContent): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { execution, steps } of snapshots) {
    const struck = Object.values(steps)
      .flatMap(({ attempts }) => attempts)
      .filter(({ failure }) => failure?.code === 'lease-ended').length;
    counts[execution.workflow] = (counts[execution.workflow] ?? 0) + struck;
  }
  return counts;
}
