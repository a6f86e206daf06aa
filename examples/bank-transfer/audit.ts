/**
 * The auditor of the bank: what must be so at any moment, and what must be so when the transfers are over. Pure.
 *
 * The ledger only grows, so each moment that ever was is a beginning of it: whoever looks at all of them misses none between
 * two looks.
 *
 *   at any moment   The sum of all accounts, clearing included, is what the bank opened with. Nobody is overdrawn. Of each
 *                   transfer the clearing account has nothing or the whole amount: no money is credited that was not
 *                   debited, none twice.
 *   doubled         A second hold, debit or credit of one transfer, or a second reversal of one booking, also if it was taken
 *                   back later.
 *   lost            Succeeded, and the payee has not got it; compensated or canceled, and the payer has not got it back, or
 *                   it is still held. Or money of an execution that nobody knows.
 *   leftBehind      Transfers that are over, and of which something is in the clearing account.
 */

import { type BankEntry, movesOf, OPENING, TOTAL } from './books.ts';
import { CLEARING } from './workflow.ts';

/** The part of `GET /executions/{id}` that the audit needs. */
export interface AuditedExecution {
  readonly executionId: string;
  readonly status: string;
}

/** @returns what was wrong in the books at any moment up to now, each thing once */
export function wrongAtAnyMoment(entries: readonly BankEntry[]): string[] {
  const has = new Map(Object.entries(OPENING));
  const inClearing = new Map<string, number>();
  const wrong = new Set<string>();
  for (const entry of entries) {
    const { executionId = NOBODY, amount = 0 } = entry;
    for (const [account, change] of movesOf(entry)) {
      has.set(account, (has.get(account) ?? 0) + change);
      if (account === CLEARING) inClearing.set(executionId, (inClearing.get(executionId) ?? 0) + change);
      else if ((has.get(account) ?? 0) < 0) wrong.add(`'${account}' is overdrawn`);
    }
    const sum = Object.keys(OPENING).reduce((total, account) => total + (has.get(account) ?? 0), 0);
    if (sum !== TOTAL) wrong.add(`the sum of all accounts is ${sum} in the place of ${TOTAL}`);
    const part = inClearing.get(executionId) ?? 0;
    if (part !== 0 && part !== amount && movesOf(entry).length > 0)
      wrong.add(`${executionId}: the clearing account has ${part} of ${amount}`);
  }
  return [...wrong];
}

export interface Audit {
  readonly atAnyMoment: readonly string[];
  readonly doubled: readonly string[];
  readonly lost: readonly string[];
  readonly leftBehind: readonly string[];
}

export function audit(entries: readonly BankEntry[], executions: readonly AuditedExecution[]): Audit {
  const groups = byExecution(entries);
  const status = new Map(executions.map((execution) => [execution.executionId, execution.status]));
  return {
    atAnyMoment: wrongAtAnyMoment(entries),
    doubled: [...groups].flatMap(([executionId, own]) => doubles(executionId, own)),
    lost: [
      ...executions.flatMap((execution) => losses(execution, groups.get(execution.executionId) ?? [])),
      ...[...groups].flatMap(([executionId, own]) =>
        !status.has(executionId) && own.some(({ kind }) => kind !== 'check')
          ? [`${executionId}: an execution that nobody knows`]
          : [],
      ),
    ],
    leftBehind: [...groups].flatMap(([executionId, own]) => {
      const rest = movedTo(CLEARING, own);
      return rest === 0 ? [] : [`${executionId}: ${rest} in the clearing account`];
    }),
  };
}

const NOBODY = '(no execution)';

const byExecution = (entries: readonly BankEntry[]): ReadonlyMap<string, readonly BankEntry[]> =>
  grouped(
    entries.filter(({ kind }) => kind !== 'block' && kind !== 'lift'),
    ({ executionId = NOBODY }) => executionId,
  );

function grouped<K>(
  entries: readonly BankEntry[],
  keyOf: (entry: BankEntry) => K,
): ReadonlyMap<K, readonly BankEntry[]> {
  const groups = new Map<K, BankEntry[]>();
  for (const entry of entries) groups.set(keyOf(entry), [...(groups.get(keyOf(entry)) ?? []), entry]);
  return groups;
}

const movedTo = (account: string, own: readonly BankEntry[]): number =>
  own.flatMap(movesOf).reduce((sum, [moved, amount]) => (moved === account ? sum + amount : sum), 0);

function doubles(executionId: string, own: readonly BankEntry[]): string[] {
  const what = ({ kind, to, of }: BankEntry): string | undefined => {
    if (kind === 'hold') return 'hold';
    if (kind === 'booking') return to === CLEARING ? 'debit' : 'credit';
    return kind === 'release' || kind === 'reversal' ? `${kind} of ${of}` : undefined;
  };
  return [...grouped(own, what)].flatMap(([name, all]) =>
    name !== undefined && all.length > 1 ? [`${executionId}: ${all.length} × ${name}`] : [],
  );
}

function losses({ executionId, status }: AuditedExecution, own: readonly BankEntry[]): string[] {
  const entry = own.find(({ kind }) => kind === 'hold');
  const count = (kind: BankEntry['kind']): number => own.filter((one) => one.kind === kind).length;
  const credited = own.some(({ kind, from }) => kind === 'booking' && from === CLEARING);
  if (status === 'succeeded') return credited ? [] : [`${executionId}: succeeded, and nothing is credited`];
  if (status !== 'compensated' && status !== 'canceled') return [];
  if (movedTo(entry?.account ?? '', own) !== 0)
    return [`${executionId}: ${status}, and not all is given back`];
  return count('release') < count('hold') ? [`${executionId}: ${status}, and still held`] : [];
}
