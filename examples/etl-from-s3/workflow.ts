/**
 * ETL from S3: a manifest in a bucket names files, and is read page by page, one page per round; an execution
 * per file extracts, transforms and loads it. One file in fifty may be bad.
 *
 * Owns: the workflows. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), what a row is (`rows.ts`).
 */

import { eq, retry, useAgent, workflow } from 'steadfast';
import * as z from 'zod/mini';
import {
  Count,
  extractObject,
  loadRows,
  SourceObject,
  Text,
  transformByLine,
  transformFile,
} from './contracts.ts';

const PATIENCE = retry(4, { delay: '500ms', maxDelay: '5s' });

/** Loads one file. Exported, so that a corrected file can be loaded by itself. */
export const etlFile = workflow('etl-file', { input: SourceObject, within: '1h' }, (w) => {
  const { bucket, key } = w.input;
  const extract = w.step('extract', extractObject, { bucket, key }, { recovery: [PATIENCE] });
  const transform = w.step(
    'transform',
    transformFile,
    { bucket, copy: extract.output.copy },
    { recovery: [retry(1, { delay: '500ms' }), useAgent(transformByLine, { attempts: 3 })] },
  );
  const load = w.step(
    'load',
    loadRows,
    { bucket, ready: transform.output.ready, source: key },
    { recovery: [PATIENCE] },
  );
  return { load: load.output.load, rows: load.output.rows };
});

/**
 * Loads one page, which is a round. If more of its files are bad than is tolerated, all earlier pages are
 * undone as well.
 */
const page = z.object({ bucket: Text, key: Text, from: Count });
const etlPage = workflow('etl-page', { input: page, within: '4h' }, (w) => {
  const { bucket } = w.input;
  const list = w.step('list', extractObject, w.input, { recovery: [PATIENCE] });
  const files = w.map('files', etlFile, list.output.names, (name) => ({ bucket, key: name }), {
    concurrency: 10, // the number of sessions that the warehouse has
    mayFail: '2%',
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
      // Reads from the copy: a manifest that is rewritten meanwhile is another batch.
      next: (last, given) => ({ bucket: given.bucket, key: last.copy, from: last.upTo }),
      maxRounds: 200,
    },
  );
  return { files: pages.output.last.upTo, pages: pages.output.rounds };
});
