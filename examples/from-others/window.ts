/** A batch whose next record begins as soon as one is over (Temporal, samples-go/batch-sliding-window). */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Batch = z.object({ batch: z.string() });
const Item = z.object({ record: z.int() });
const load = agent('load-records', {
  input: Batch,
  output: z.object({ records: z.array(z.int()) }),
  effect: 'none',
});
const process = agent('process-record', {
  input: Item,
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
});

export const record = workflow('record', { input: Item, within: '1h' }, (w) => {
  const rest = w.wait('rest', { for: '10s' });
  w.step('process', process, w.input, { after: [rest] });
});

export const window = workflow('window', { input: Batch, within: '7d' }, (w) => {
  const { records } = w.step('load', load, w.input).output;
  const all = w.map('records', record, records, (one) => ({ record: one }), { concurrency: 3 });
  return { processed: all.output.total };
});
