/**
 * The outside world of a film: the catalogue that publishes it, and the licence that encoding above 720 lines
 * needs.
 *
 * Owns: the content of their entries. Neither deduplicates. Does not own: how a service works (`../world`),
 * the films (`library.ts`).
 *
 *   npx tsx examples/video-encoding/world.ts [--port 4536] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

export interface FilmEntry extends Entry {
  readonly service: 'catalogue' | 'licence';
  readonly kind: 'page' | 'takedown' | 'check';
  readonly title?: string;
  readonly segments?: readonly { readonly file: string; readonly height: number }[];
}

const Text = z.string().check(z.minLength(1));

export const DEEDS: readonly Deed[] = [
  {
    service: 'catalogue',
    kind: 'page',
    action: 'publish',
    data: z.object({
      title: Text,
      segments: z.array(z.object({ file: Text, seconds: z.int(), height: z.int() })),
    }),
    about: 'title',
    undo: { kind: 'takedown', action: 'take-down', repeats: true },
  },
  {
    service: 'licence',
    kind: 'check',
    action: 'check',
    data: z.object({ chunk: Text, height: z.int() }),
    about: 'chunk',
  },
];
export const PLACE = { deeds: DEEDS, port: 4536 } as const;

await serveIfMain(import.meta.url, PLACE);
