/**
 * The auditor of the bank: what must be so at any moment, and what must be so when the transfers are over. Pure.
 *
 * The ledger only grows, so each moment that ever was is a beginning of it: whoever goes through it from its start misses none
 * between two looks.
 *
 *   at any moment   The sum of all accounts, clearing included, is what the bank opened with. Nobody is overdrawn. Of each
 *                   transfer the clearing account has nothing or the whole amount: no money is credited that was not
 *                   debited, none twice.
 *   doubled         A second hold, debit or credit of one transfer, or a second reversal of one booking, also if it was taken
 *                   back later.
 *   lost            Succeeded, and the payee has not got it; compensated or canceled, and the payer has not got it back, or
 *                   it is still held. Or money that moves for a transfer that nobody knows.
 *   leftBehind      Transfers that are over, and of which something is in the clearing account.
 */

import { type BankEntry, movesOf, OPENING, TOTAL } from './books.ts';
import { CLEARING } from './workflow.ts';

/** How its execution ended. */
export interface AuditedTransfer {
  readonly transfer: string;
  readonly status: string;
}

export interface Finding {
  readonly kind: 'doubled' | 'lost' | 'leftBehind' | 'other';
  /** Which transfer. */
  readonly subject: string;
  readonly text: string;
}

const about = (kind: Finding['kind'], subject: string, text: string): Finding => ({ kind, subject, text });

/** @returns what was wrong in the books at any moment up to now, each thing once */
export function wrongAtAnyMoment(entries: readonly BankEntry[]): Finding[] {
  const has = new Map(Object.entries(OPENING));
  const inClearing = new Map<string, number>();
  const wrong = new Map<string, Finding>();
  for (const entry of entries) {
    const { executionId = '', transfer = '', amount = 0 } = entry;
    const note = (text: string): unknown => wrong.set(`${transfer} ${text}`, about('other', transfer, text));
    const moves = movesOf(entry);
    for (const [account, change] of moves) {
      has.set(account, (has.get(account) ?? 0) + change);
      if (account === CLEARING) inClearing.set(executionId, (inClearing.get(executionId) ?? 0) + change);
      else if ((has.get(account) ?? 0) < 0) note(`'${account}' is overdrawn`);
    }
    if (moves.length === 0) continue;
    const sum = sumOf(has);
    if (sum !== TOTAL) note(`the sum of all accounts is ${sum} in the place of ${TOTAL}`);
    const part = inClearing.get(executionId) ?? 0;
    if (part !== 0 && part !== amount) note(`the clearing account has ${part} of ${amount}`);
  }
  return [...wrong.values()];
}

/** Of the accounts that there are: what is booked to another one is missing. */
export const sumOf = (balances: ReadonlyMap<string, number>): number =>
  Object.keys(OPENING).reduce((total, account) => total + (balances.get(account) ?? 0), 0);

/** What is wrong when the transfers are over, the moments before included. */
export function audit(entries: readonly BankEntry[], transfers: readonly AuditedTransfer[]): Finding[] {
  const own = grouped(entries, ({ transfer = '' }) => transfer);
  const known = new Set(transfers.map(({ transfer }) => transfer));
  return [
    ...wrongAtAnyMoment(entries),
    ...[...own].flatMap(([transfer, of]) => [...doubles(transfer, of), ...rest(transfer, of)]),
    ...transfers.flatMap((one) => losses(one, own.get(one.transfer) ?? [])),
    ...[...own.keys()].flatMap((transfer) =>
      known.has(transfer) ? [] : [about('lost', transfer, 'a transfer that nobody knows')],
    ),
  ];
}

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

function doubles(transfer: string, own: readonly BankEntry[]): Finding[] {
  const what = ({ kind, to, of }: BankEntry): string | undefined => {
    if (kind === 'hold') return 'hold';
    if (kind === 'booking') return to === CLEARING ? 'debit' : 'credit';
    return kind === 'release' || kind === 'reversal' ? `${kind} of ${of}` : undefined;
  };
  return [...grouped(own, what)].flatMap(([name, all]) =>
    name !== undefined && all.length > 1 ? [about('doubled', transfer, `${all.length} × ${name}`)] : [],
  );
}

function rest(transfer: string, own: readonly BankEntry[]): Finding[] {
  const amount = movedTo(CLEARING, own);
  return amount === 0 ? [] : [about('leftBehind', transfer, `${amount} in the clearing account`)];
}

function losses({ transfer, status }: AuditedTransfer, own: readonly BankEntry[]): Finding[] {
  const count = (kind: BankEntry['kind']): number => own.filter((one) => one.kind === kind).length;
  const payer = own.find(({ kind }) => kind === 'hold')?.account ?? '';
  const credited = own.some(({ kind, from }) => kind === 'booking' && from === CLEARING);
  if (status === 'succeeded' && !credited)
    return [about('lost', transfer, 'succeeded, and nothing is credited')];
  if (status !== 'compensated' && status !== 'canceled') return [];
  if (movedTo(payer, own) !== 0) return [about('lost', transfer, `${status}, and not all is given back`)];
  return count('release') < count('hold') ? [about('lost', transfer, `${status}, and still held`)] : [];
}
