/**
 * The bank's books, read off its ledger. Pure.
 *
 * Owns: the accounts, and what each of them has and may spend. Does not own: what is booked (`world.ts`), whether that is right
 * (`audit.ts`).
 *
 * Double entry: each booking takes from one account what it gives to another, in one line of the ledger. So there is no moment
 * between the two.
 */

import type { Entry } from '../world/ledger.ts';
import { CLEARING } from './workflow.ts';

/** In cents, when the bank opens. */
export const OPENING: Readonly<Record<string, number>> = {
  [CLEARING]: 0,
  ada: 1_000_000_000,
  ben: 1_000_000,
  cleo: 20_000_000,
  dora: 0,
  mallory: 0,
};
export const TOTAL = Object.values(OPENING).reduce((sum, amount) => sum + amount, 0);

/** Whom nobody may pay. */
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
  readonly from?: string;
  readonly to?: string;
  readonly amount?: number;
  /** Of a booking: the hold that it uses up. */
  readonly hold?: string;
}

/** A booking, or its reversal, as the two accounts see it. */
export function movesOf({
  kind,
  from = '',
  to = '',
  amount = 0,
}: BankEntry): readonly (readonly [string, number])[] {
  if (kind === 'booking')
    return [
      [from, -amount],
      [to, amount],
    ];
  if (kind === 'reversal')
    return [
      [from, amount],
      [to, -amount],
    ];
  return [];
}

export function balances(entries: readonly BankEntry[]): ReadonlyMap<string, number> {
  const has = new Map(Object.entries(OPENING));
  for (const [account, change] of entries.flatMap(movesOf))
    has.set(account, (has.get(account) ?? 0) + change);
  return has;
}

const takenBack = (entries: readonly BankEntry[]): ReadonlySet<string | undefined> =>
  new Set(entries.flatMap(({ kind, of }) => (['release', 'reversal', 'lift'].includes(kind) ? [of] : [])));

/** What an account may spend: what is held for another booking is not among it. */
export function available(entries: readonly BankEntry[], account: string, own?: string): number {
  const gone = takenBack(entries);
  const used = new Set(
    entries.flatMap(({ kind, id, hold }) => (kind === 'booking' && !gone.has(id) ? [hold] : [])),
  );
  const held = entries.filter(
    ({ kind, id, ...entry }) =>
      kind === 'hold' && entry.account === account && id !== own && !gone.has(id) && !used.has(id),
  );
  return (balances(entries).get(account) ?? 0) - held.reduce((sum, { amount = 0 }) => sum + amount, 0);
}

/** Nothing of the transfer may be booked to the account. */
export function isBlocked(entries: readonly BankEntry[], transfer: string, account: string): boolean {
  const gone = takenBack(entries);
  return entries.some(
    (entry) =>
      entry.kind === 'block' &&
      entry.transfer === transfer &&
      entry.account === account &&
      !gone.has(entry.id),
  );
}
