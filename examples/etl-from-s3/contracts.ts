/**
 * What the agents of this folder take and give: all that an agent's function needs of the workflow.
 *
 * No step hands rows to another: outputs are keys of objects, so a file of any size fits.
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

/** Files of a manifest that are loaded side by side; the next page begins after them. */
export const PAGE = 50;

/**
 * Copies an object, so that a retry works on the same bytes. Of a manifest it answers one page as well: which
 * files it names after the first `from`.
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

/** Has the whole file in memory: fast, until a file is larger than that. */
export const transformFile = agent('transform-file', transforms);

/** The same rows, one line at a time: slow, in as much memory as a line takes. */
export const transformByLine = agent('transform-by-line', transforms);

/**
 * The warehouse loads as often as it is asked, all rows or none, knows loads by their
 * label, and counts a source's latest.
 */
export const loadRows = agent('load-rows', {
  input: z.object({ bucket: Text, ready: Text, source: Text }),
  output: z.object({ load: Text, rows: Count }),
  effect: 'probed',
  ...LIMITS,
});
