/**
 * The outside world of a holiday: an airline, hotels, a car rental, the travel desk, mail.
 *
 * Owns: which services deduplicate (hotels, desk, mail) and which do not (airline, rental), and which hotel
 * is always full. Does not own: how a service works (`../world`), what must be true afterwards
 * (`example.ts`).
 *
 *   npx tsx examples/holiday-booking/world.ts [--port 4536] [--ledger .steadfast/holiday.jsonl]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

export interface HolidayEntry extends Entry {
  readonly trip: string;
  readonly hotel?: string;
  /** Only for a request to the desk: the desk answers with this token. */
  readonly token?: string;
  /** Only for a mail. */
  readonly to?: string;
}

/** A hotel that never has a room. */
export const FULL = 'Grand Hotel';

const Text = z.string().check(z.minLength(1));
const about = 'trip';

export const DEEDS: readonly Deed[] = [
  {
    service: 'airline',
    kind: 'seat',
    action: 'book',
    data: z.object({ trip: Text, to: Text }),
    about,
    undo: { kind: 'seat-canceled', action: 'cancel' },
  },
  {
    service: 'hotels',
    kind: 'room',
    action: 'book',
    oncePerKey: true,
    data: z.object({ trip: Text, hotel: Text }),
    about,
    undo: { kind: 'room-released', action: 'release' },
    refuses: ({ hotel }) => (hotel === FULL ? `the ${FULL} is full` : undefined),
  },
  {
    service: 'rental',
    kind: 'car',
    action: 'book',
    data: z.object({ trip: Text }),
    about,
    undo: { kind: 'car-returned', action: 'cancel' },
  },
  {
    service: 'desk',
    kind: 'request',
    action: 'ask',
    oncePerKey: true,
    data: z.object({ trip: Text, token: Text }),
    about,
    undo: { kind: 'request-withdrawn', action: 'withdraw' },
  },
  {
    service: 'mail',
    kind: 'mail',
    action: 'send',
    oncePerKey: true,
    data: z.object({ trip: Text, to: Text }),
    about,
  },
];
export const PLACE = { deeds: DEEDS, port: 4536 } as const;

await serveIfMain(import.meta.url, PLACE);
