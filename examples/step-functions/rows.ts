/** distributed-map-csv-iterator: runs a workflow for each row of a file, a hundred at a time. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Row = z.object({ metric: z.string(), value: z.number() });
const readRows = agent('read-rows', {
  input: z.object({ bucket: z.string(), key: z.string() }),
  output: z.object({ rows: z.array(Row) }),
  effect: 'none',
});
const store = agent('store-metric', {
  input: Row,
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
});

export const row = workflow('row', { input: Row, within: '1h' }, (w) => {
  w.step('store', store, w.input);
});
export const rows = workflow('rows', { input: z.object({ bucket: z.string() }), within: '1d' }, (w) => {
  const file = w.step('read', readRows, { bucket: w.input.bucket, key: 'metrics.csv' });
  const all = w.map('rows', row, file.output.rows, (one) => one, { concurrency: 100, mayFail: '5%' });
  return { rows: all.output.total };
});
