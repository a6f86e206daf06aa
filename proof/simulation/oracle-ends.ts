/**
 * Calls all judges of an ended execution and of its announced end. Owns: the list of judges. Does not own:
 * what each of them checks (`oracle.ts`, `oracle-*.ts`).
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Ended } from '../../lib/core/records/ended.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Others } from './families.ts';
import type { Ledger } from './ledger.ts';
import { judgeChildren } from './oracle-children.ts';
import { judgeFollowed, judgeOnFailureEnd } from './oracle-on-failure.ts';
import { judgeNothingLeft } from './oracle-points.ts';
import { judgeStanding } from './oracle-standing.ts';
import { judgeToleratedEnd } from './oracle-tolerate.ts';
import { judgeEnd } from './oracle.ts';

export function problemsAtEnd(
  plan: Plan | undefined,
  state: Snapshot,
  read: Others['read'],
  ledger: Ledger,
  announced: boolean,
): string[] {
  if (plan === undefined) return ['S14 it has no plan'];
  return [
    ...judgeEnd(plan, state, ledger, announced),
    ...judgeToleratedEnd(plan, state, ledger),
    ...judgeOnFailureEnd(plan, state, ledger),
    ...judgeNothingLeft(plan, state, read, ledger),
    ...judgeChildren(plan, state, read),
  ];
}

export const problemsAnnounced = (
  plan: Plan,
  state: Snapshot,
  ended: Ended,
  read: Others['read'],
  ledger: Ledger,
): string[] => [
  ...(plan.announceEnds === false ? ['L1 its end is announced, and is not to be'] : []),
  ...judgeStanding(plan, state, ended, ledger, read),
  ...judgeFollowed(plan, state, ended),
];
