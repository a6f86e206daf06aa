/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 *
 * No step passes rows to another: outputs are keys of objects, so a file can have any size.
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '20s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));
export const Count = z.int().check(z.nonnegative());
export const SourceObject = z.object({ bucket: Text, key: Text });
export type SourceObject = z.infer<typeof SourceObject>;

/** How many files of a manifest are loaded in parallel; the next page begins after them. */
export const PAGE = 50;

/**
 * Copies an object, so that a retry works on the same bytes. For a manifest it also returns one page: the
 * files that the manifest names after the first `from`.
 */
export const extractObject = agent('extract-object', {
  input: z.object({ bucket: Text, key: Text, from: z.optional(Count) }),
  output: z.object({ copy: Text, names: z.array(Text), upTo: Count, more: z.boolean() }),
  effect: 'idempotent', // one copy for each idempotency key
  ...LIMITS,
});

const transforms = {
  input: z.object({ bucket: Text, copy: Text }),
  output: z.object({ ready: Text, rows: Count }),
  effect: 'idempotent', // one result for each idempotency key
  ...LIMITS,
} as const;

/** Reads the whole file into memory: fast, but fails for a file that is too large. */
export const transformFile = agent('transform-file', transforms);

/** Produces the same rows one line at a time: slow, and needs the memory of one line. */
export const transformByLine = agent('transform-by-line', transforms);

/**
 * The warehouse runs every load request, including repeats; a load adds all its rows or none. It finds loads
 * by their label, and counts only the latest load of a source.
 */
export const loadRows = agent('load-rows', {
  input: z.object({ bucket: Text, ready: Text, source: Text }),
  output: z.object({ load: Text, rows: Count }),
  effect: 'probed',
  ...LIMITS,
});
