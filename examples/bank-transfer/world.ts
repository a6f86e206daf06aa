/**
 * The outside world of a transfer: a core bank with double-entry books, and a screening service.
 *
 * Owns: which of them deduplicate (holds) and which do not (bookings), what they refuse. Does not own: how a service works
 * (`../world`), what an account has (`books.ts`).
 *
 *   npx tsx examples/bank-transfer/world.ts [--port 4541] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Ledger } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';
import { available, type BankEntry, isBlocked, OPENING, SANCTIONED } from './books.ts';
import { CLEARING } from './workflow.ts';

const Text = z.string().check(z.minLength(1));
const Cents = z.int().check(z.positive());
const Hold = z.object({ transfer: Text, account: Text, amount: Cents });
const Booking = z.object({ transfer: Text, from: Text, to: Text, amount: Cents, hold: z.optional(Text) });

const entriesOf = (ledger: Ledger): readonly BankEntry[] => ledger.entries as readonly BankEntry[];

const unknown = (account: string): string | undefined =>
  Object.hasOwn(OPENING, account) ? undefined : `there is no account '${account}'`;
const short = (ledger: Ledger, account: string, amount: number, own?: string): string | undefined =>
  account !== CLEARING && available(entriesOf(ledger), account, own) < amount
    ? `'${account}' has not got ${amount}`
    : undefined;
const blocked = (ledger: Ledger, transfer: string, account: string): string | undefined =>
  isBlocked(entriesOf(ledger), transfer, account)
    ? `'${account}' is blocked: nothing of '${transfer}' is booked to it`
    : undefined;

export const DEEDS: readonly Deed[] = [
  {
    service: 'bank',
    kind: 'hold',
    action: 'hold',
    oncePerKey: true,
    data: Hold,
    about: 'transfer',
    undo: { kind: 'release', action: 'release' },
    refuses: (data, ledger) => {
      const { account, amount } = data as z.infer<typeof Hold>;
      return unknown(account) ?? short(ledger, account, amount);
    },
  },
  {
    service: 'bank',
    kind: 'booking',
    action: 'book',
    data: Booking,
    about: 'transfer',
    undo: {
      kind: 'reversal',
      action: 'reverse',
      // As often as it is asked: doubles must show.
      repeats: true,
      refuses: (entry, ledger) => {
        const { transfer = '', from = '' } = entry as BankEntry;
        return blocked(ledger, transfer, from);
      },
    },
    refuses: (data, ledger) => {
      const { transfer, from, to, amount, hold } = data as z.infer<typeof Booking>;
      return (
        unknown(from) ?? unknown(to) ?? short(ledger, from, amount, hold) ?? blocked(ledger, transfer, to)
      );
    },
  },
  {
    // What a court or the compliance officer orders; people do it, no agent.
    service: 'bank',
    kind: 'block',
    action: 'block',
    data: z.object({ transfer: Text, account: Text }),
    about: 'transfer',
    undo: { kind: 'lift', action: 'lift' },
  },
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
