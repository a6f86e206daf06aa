/**
 * Audits the books of the two banks, at every moment and after all transfers have ended. Pure.
 *
 * The ledger only grows, so every earlier moment is a prefix of it: reading it from the start misses none.
 *
 *   at any moment   A transfer's amount in clearing, between the books of the two banks, is zero or its whole
 *                   amount: nothing is credited without a debit, or twice, or with another amount.
 *                   No account is overdrawn.
 *   doubled         A second hold, debit or credit of one transfer, or a second reversal of one booking, even
 *                   if it was taken back later.
 *   lost            Succeeded, but the payee has no money; compensated or canceled, but the payer has no
 *                   refund, or the amount is still on hold. Or money moves for an unknown transfer.
 *   leftBehind      Ended transfers that still have money in clearing.
 */

import { type BankEntry, changeOf, inClearing, OPENING, placeOf } from './books.ts';

/** How the transfer's execution ended. */
export interface AuditedTransfer {
  readonly transfer: string;
  readonly status: string;
}

export interface Finding {
  readonly kind: 'doubled' | 'lost' | 'leftBehind' | 'other';
  /** The transfer that the finding is about. */
  readonly subject: string;
  readonly text: string;
}

const about = (kind: Finding['kind'], subject: string, text: string): Finding => ({ kind, subject, text });

/** Finds all faults in the books at any moment so far, each once. */
export function wrongAtAnyMoment(entries: readonly BankEntry[]): Finding[] {
  const has = new Map(Object.entries(OPENING));
  const clearing = new Map<string, number>();
  const amounts = new Map<string, number>();
  const wrong = new Map<string, Finding>();
  for (const entry of entries) {
    const { executionId = '', transfer = '', amount = 0 } = entry;
    const note = (text: string): unknown => wrong.set(`${transfer} ${text}`, about('other', transfer, text));
    // A transfer may only move the amount of its first hold.
    if (!amounts.has(executionId) && amount > 0) amounts.set(executionId, amount);
    const change = changeOf(entry);
    if (change === 0) continue;
    const balance = (has.get(placeOf(entry)) ?? 0) + change;
    has.set(placeOf(entry), balance);
    if (balance < 0) note(`'${placeOf(entry)}' is overdrawn`);
    const part = (clearing.get(executionId) ?? 0) - change;
    clearing.set(executionId, part);
    const whole = amounts.get(executionId);
    if (part !== 0 && part !== whole) note(`${part} of ${whole} in clearing`);
  }
  return [...wrong.values()];
}

/** The amount in clearing now, for each transfer that moved money. */
export const clearingOf = (entries: readonly BankEntry[]): readonly number[] =>
  [...byTransfer(entries).values()].filter((own) => own.some(isBooking)).map(inClearing);

const isBooking = ({ kind }: BankEntry): boolean => kind === 'booking';
const byTransfer = (entries: readonly BankEntry[]): ReadonlyMap<string, readonly BankEntry[]> =>
  grouped(entries, ({ transfer = '' }) => transfer);

/** All faults once the transfers have ended, including those of every earlier moment. */
export function audit(entries: readonly BankEntry[], transfers: readonly AuditedTransfer[]): Finding[] {
  const own = byTransfer(entries);
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

function doubles(transfer: string, own: readonly BankEntry[]): Finding[] {
  const what = ({ kind, side, of }: BankEntry): string | undefined => {
    if (kind === 'hold') return 'hold';
    if (kind === 'booking') return side;
    return kind === 'release' || kind === 'reversal' ? `${kind} of ${of}` : undefined;
  };
  return [...grouped(own, what)].flatMap(([name, all]) =>
    name !== undefined && all.length > 1 ? [about('doubled', transfer, `${all.length} × ${name}`)] : [],
  );
}

function rest(transfer: string, own: readonly BankEntry[]): Finding[] {
  const amount = inClearing(own);
  return amount === 0 ? [] : [about('leftBehind', transfer, `${amount} in clearing`)];
}

function losses({ transfer, status }: AuditedTransfer, own: readonly BankEntry[]): Finding[] {
  const count = (kind: BankEntry['kind']): number => own.filter((one) => one.kind === kind).length;
  const changed = (side: BankEntry['side']): number =>
    own.filter((one) => one.side === side).reduce((sum, one) => sum + changeOf(one), 0);
  if (status === 'succeeded' && changed('credit') === 0)
    return [about('lost', transfer, 'succeeded, and nothing is credited')];
  if (status !== 'compensated' && status !== 'canceled') return [];
  if (changed('debit') !== 0) return [about('lost', transfer, `${status}, and not all is given back`)];
  return count('release') < count('hold') ? [about('lost', transfer, `${status}, and still held`)] : [];
}
