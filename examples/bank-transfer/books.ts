/**
 * The books of two banks, derived from the ledger. Pure.
 *
 * Owns: the accounts, their balances and available funds, and the amount that a transfer has in clearing.
 * Does not own: the bookings (`world.ts`), judging them (`audit.ts`).
 *
 * A booking has one side, in the book of one bank: a debit or a credit. Nothing in a book forces the other
 * side to exist, so either can be missing, be doubled, or have another amount.
 */

import type { Entry } from '../world/ledger.ts';
import type { Account } from './contracts.ts';

/** Balances in cents when the banks open. */
export const OPENING: Readonly<Record<string, number>> = {
  'north/ada': 1_000_000_000,
  'north/cleo': 20_000_000,
  'north/dora': 0,
  'south/ben': 1_000_000,
  'south/mallory': 0,
};
export const BANKS = ['north', 'south'] as const satisfies readonly Account['bank'][];

/** Payees that must not be paid. */
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

/** `north/ada`: two banks may have accounts with the same name. */
export const placeOf = ({ service, account = '' }: Pick<BankEntry, 'service' | 'account'>): string =>
  `${service}/${account}`;

/** How much the entry adds to its account's balance; 0 for an entry that books nothing. */
export function changeOf({ kind, side, amount = 0 }: BankEntry): number {
  if (kind !== 'booking' && kind !== 'reversal') return 0;
  return (side === 'credit') === (kind === 'booking') ? amount : -amount;
}

export function balances(entries: readonly BankEntry[]): ReadonlyMap<string, number> {
  const has = new Map(Object.entries(OPENING));
  for (const entry of entries) has.set(placeOf(entry), (has.get(placeOf(entry)) ?? 0) + changeOf(entry));
  return has;
}

/** The amount, over all these entries, that is debited at one bank and not yet credited at the other. */
export const inClearing = (entries: readonly BankEntry[]): number =>
  entries.reduce((sum, entry) => sum - changeOf(entry), 0);

const takenBack = (entries: readonly BankEntry[]): ReadonlySet<string | undefined> =>
  new Set(entries.flatMap(({ kind, of }) => (['release', 'reversal', 'lift'].includes(kind) ? [of] : [])));

/** The amount that an account may spend: its balance without what is on hold for other bookings. */
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

/** Whether bookings of this transfer to the account are blocked. */
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
