/** File from S3: an execution for each object that is written to a folder of a bucket. */

import { agent, onObjectCreated, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Upload = z.object({ bucket: z.string(), key: z.string() });

export const load = agent('load', {
  input: Upload,
  output: z.object({ rows: z.number() }),
  effect: 'idempotent',
});

export const loading = workflow('loading', { input: Upload, within: '6h' }, (w) => {
  return w.step('load', load, { bucket: w.input.bucket, key: w.input.key }).output;
});

/** Belongs in `triggers.ts`, beside `workflow.ts`. */
export const uploaded = onObjectCreated(loading, {
  bucket: 'uploads',
  prefix: 'orders/',
  suffix: '.csv',
  input: { bucket: '$.detail.bucket.name', key: '$.detail.object.key' },
});
