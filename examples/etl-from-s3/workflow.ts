/**
 * ETL from S3: a manifest that is written to a bucket names files, and is read in pages, in rounds; each file
 * of a page is extracted, transformed and loaded by an execution of its own. Of fifty files one may be bad.
 *
 * Owns: the agents' contracts and the workflows. Does not own: how an agent does its work
 * (`agents/`), what a row is (`rows.ts`).
 *
 * No step hands rows to another: outputs are keys of objects, so a file of any size fits.
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent, eq, retry, useAgent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '20s', settle: '1s' } as const;
const PATIENCE = retry(4, { first: '500ms', max: '5s' });

const Text = z.string().check(z.minLength(1));
const Count = z.int().check(z.nonnegative());
const SourceObject = z.object({ bucket: Text, key: Text });
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
  effect: 'idempotent', // one copy for each effect key
  ...LIMITS,
});

const transforms = {
  input: z.object({ bucket: Text, copy: Text }),
  output: z.object({ ready: Text, rows: Count }),
  effect: 'idempotent', // one result for each effect key
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

/** One file. Exported, so that one that was mended is loaded by itself. */
export const etlFile = workflow('etl-file', { input: SourceObject, within: '1h' }, (w) => {
  const { bucket, key } = w.input;
  const extract = w.step('extract', extractObject, { bucket, key }, { recovery: [PATIENCE] });
  const transform = w.step(
    'transform',
    transformFile,
    { bucket, copy: extract.output.copy },
    { recovery: [retry(1, { first: '500ms' }), useAgent(transformByLine, { attempts: 3 })] },
  );
  const load = w.step(
    'load',
    loadRows,
    { bucket, ready: transform.output.ready, source: key },
    { recovery: [PATIENCE] },
  );
  return { load: load.output.load, rows: load.output.rows };
});

/** A round: one page. If more of it than is tolerated is bad, all pages before it are taken back as well. */
const page = z.object({ bucket: Text, key: Text, from: Count });
const etlPage = workflow('etl-page', { input: page, within: '4h' }, (w) => {
  const { bucket } = w.input;
  const list = w.step('list', extractObject, w.input, { recovery: [PATIENCE] });
  const files = w.map('files', etlFile, list.output.names, (name) => ({ bucket, key: name }), {
    concurrency: 10, // as many sessions as the warehouse has
    tolerate: '2%',
  });
  const { copy, upTo, more } = list.output;
  return { copy, upTo, more, bad: files.output.failed };
});

export const etlFromS3 = workflow('etl-from-s3', { input: SourceObject, within: '12h' }, (w) => {
  const { bucket, key } = w.input;
  const pages = w.repeat(
    'pages',
    etlPage,
    { bucket, key, from: 0 },
    {
      until: (last) => eq(last.more, false),
      // From the copy: a manifest that is written again meanwhile is another batch.
      next: (last, given) => ({ bucket: given.bucket, key: last.copy, from: last.upTo }),
      atMost: 200,
    },
  );
  return { files: pages.output.last.upTo, pages: pages.output.rounds };
});
