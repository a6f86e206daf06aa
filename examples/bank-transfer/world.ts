/**
 * The outside world of a transfer: two banks, each with a book of its own, and a screening service.
 *
 * Owns: which services deduplicate (holds) and which do not (bookings), and what they refuse. Does not own:
 * how a service works (`../world`), the balance of an account (`books.ts`).
 *
 *   npx tsx examples/bank-transfer/world.ts [--port 4541] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Ledger } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';
import { available, type BankEntry, BANKS, isBlocked, OPENING, placeOf, SANCTIONED } from './books.ts';

const Text = z.string().check(z.minLength(1));
const Cents = z.int().check(z.positive());
const Hold = z.object({ transfer: Text, account: Text, amount: Cents });
const Booking = z.object({ ...Hold.shape, side: z.enum(['debit', 'credit']), hold: z.optional(Text) });

const entriesOf = (ledger: Ledger): readonly BankEntry[] => ledger.entries as readonly BankEntry[];

const unknown = (place: string): string | undefined =>
  Object.hasOwn(OPENING, place) ? undefined : `there is no account '${place}'`;
const short = (ledger: Ledger, place: string, amount: number, own?: string): string | undefined =>
  available(entriesOf(ledger), place, own) < amount ? `'${place}' has not got ${amount}` : undefined;
const blocked = (ledger: Ledger, transfer: string, place: string): string | undefined =>
  isBlocked(entriesOf(ledger), transfer, place)
    ? `'${place}' is blocked: nothing of '${transfer}' is booked to it`
    : undefined;

/**
 * A bank knows only its own accounts and its own book: it cannot tell whether the other bank has booked its
 * side.
 */
const bank = (service: (typeof BANKS)[number]): readonly Deed[] => [
  {
    service,
    kind: 'hold',
    action: 'hold',
    oncePerKey: true,
    data: Hold,
    about: 'transfer',
    undo: { kind: 'release', action: 'release' },
    refuses: (data, ledger) => {
      const { account, amount } = data as z.infer<typeof Hold>;
      const place = placeOf({ service, account });
      return unknown(place) ?? short(ledger, place, amount);
    },
  },
  {
    service,
    kind: 'booking',
    action: 'book',
    data: Booking,
    about: 'transfer',
    undo: {
      kind: 'reversal',
      action: 'reverse',
      // Repeats are booked again, so that doubles show.
      repeats: true,
      refuses: (entry, ledger) => {
        const { transfer = '', side } = entry as BankEntry;
        return side === 'debit' ? blocked(ledger, transfer, placeOf(entry)) : undefined;
      },
    },
    refuses: (data, ledger) => {
      const { transfer, account, side, amount, hold } = data as z.infer<typeof Booking>;
      const place = placeOf({ service, account });
      const no = side === 'debit' ? short(ledger, place, amount, hold) : blocked(ledger, transfer, place);
      return unknown(place) ?? no;
    },
  },
  {
    // Orders of a court or of the compliance officer; people carry them out, no agent does.
    service,
    kind: 'block',
    action: 'block',
    data: z.object({ transfer: Text, account: Text }),
    about: 'transfer',
    undo: { kind: 'lift', action: 'lift' },
  },
];

export const DEEDS: readonly Deed[] = [
  ...BANKS.flatMap(bank),
  {
    service: 'screening',
    kind: 'check',
    action: 'check',
    data: z.object({ transfer: Text, payee: Text }),
    about: 'transfer',
    refuses: ({ payee }) =>
      SANCTIONED.has(String(payee)) ? `'${String(payee)}' is on the sanctions list` : undefined,
  },
];
export const PLACE = { deeds: DEEDS, port: 4541 } as const;

await serveIfMain(import.meta.url, PLACE);
