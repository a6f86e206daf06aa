/**
 * The books of two banks, read off the ledger. Pure.
 *
 * Owns: the accounts, what each of them has and may spend, and what a transfer has in clearing. Does not own:
 * what is booked (`world.ts`), whether that is right (`audit.ts`).
 *
 * A booking has one side, in the book of one bank: a debit or a credit. Nothing in a book makes the other
 * side come, so either can be missing, come twice, or come with another amount.
 */

import type { Entry } from '../world/ledger.ts';
import type { Account } from './contracts.ts';

/** In cents, when the banks open. */
export const OPENING: Readonly<Record<string, number>> = {
  'north/ada': 1_000_000_000,
  'north/cleo': 20_000_000,
  'north/dora': 0,
  'south/ben': 1_000_000,
  'south/mallory': 0,
};
export const BANKS = ['north', 'south'] as const satisfies readonly Account['bank'][];

/** Payees that are not allowed. */
export const SANCTIONED: ReadonlySet<string> = new Set(['mallory']);

export interface BankEntry extends Entry {
  readonly kind:
    | 'hold'
    | 'release'
    | 'booking'
    | 'reversal'
    | 'block'
    | 'lift'
    | 'check'
    | 'repeat'
    | 'misuse';
  readonly transfer?: string;
  readonly account?: string;
  readonly side?: 'debit' | 'credit';
  readonly amount?: number;
  /** The hold that a debit uses up. */
  readonly hold?: string;
}

/** `north/ada`: two banks may have accounts of one name. */
export const placeOf = ({ service, account = '' }: Pick<BankEntry, 'service' | 'account'>): string =>
  `${service}/${account}`;

/** What its account has more than before; 0 of an entry that books nothing. */
export function changeOf({ kind, side, amount = 0 }: BankEntry): number {
  if (kind !== 'booking' && kind !== 'reversal') return 0;
  return (side === 'credit') === (kind === 'booking') ? amount : -amount;
}

export function balances(entries: readonly BankEntry[]): ReadonlyMap<string, number> {
  const has = new Map(Object.entries(OPENING));
  for (const entry of entries) has.set(placeOf(entry), (has.get(placeOf(entry)) ?? 0) + changeOf(entry));
  return has;
}

/** What was debited at one bank and is not credited at another, of all these entries. */
export const inClearing = (entries: readonly BankEntry[]): number =>
  entries.reduce((sum, entry) => sum - changeOf(entry), 0);

const takenBack = (entries: readonly BankEntry[]): ReadonlySet<string | undefined> =>
  new Set(entries.flatMap(({ kind, of }) => (['release', 'reversal', 'lift'].includes(kind) ? [of] : [])));

/** What an account may spend: not what is on hold for another booking. @param place `north/ada` */
export function available(entries: readonly BankEntry[], place: string, own?: string): number {
  const gone = takenBack(entries);
  const used = new Set(
    entries.flatMap(({ kind, id, hold }) => (kind === 'booking' && !gone.has(id) ? [hold] : [])),
  );
  const held = entries.filter(
    (entry) =>
      entry.kind === 'hold' &&
      placeOf(entry) === place &&
      entry.id !== own &&
      !gone.has(entry.id) &&
      !used.has(entry.id),
  );
  return (balances(entries).get(place) ?? 0) - held.reduce((sum, { amount = 0 }) => sum + amount, 0);
}

/** Nothing of the transfer may be booked to the account. */
export function isBlocked(entries: readonly BankEntry[], transfer: string, place: string): boolean {
  const gone = takenBack(entries);
  return entries.some(
    (entry) =>
      entry.kind === 'block' &&
      entry.transfer === transfer &&
      placeOf(entry) === place &&
      !gone.has(entry.id),
  );
}
