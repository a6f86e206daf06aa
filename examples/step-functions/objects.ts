/** data-processing: reads the size of each object in S3 beside what is seen on it, then writes one record. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Uploaded = z.object({ bucket: z.string(), key: z.string() });
const Labels = z.array(z.string());
const readSize = agent('object-attributes', {
  input: Uploaded,
  output: z.object({ size: z.int(), storageClass: z.string() }),
  effect: 'none',
});
const detectLabels = agent('detect-labels', {
  input: Uploaded,
  output: z.object({ labels: Labels }),
  effect: 'none',
});
const putItem = agent('put-item', {
  input: z.object({ id: z.string(), size: z.int(), storageClass: z.string(), labels: Labels }),
  output: z.object({}),
  effect: 'idempotent', // the same item again is the same item
  undo: 'none',
});

export const image = workflow('image', { input: Uploaded, within: '1h' }, (w) => {
  const attributes = w.step('attributes', readSize, w.input);
  const { labels } = w.step('labels', detectLabels, w.input).output;
  const { size, storageClass } = attributes.output;
  w.step('put', putItem, { id: w.input.key, size, storageClass, labels });
});
const Listed = z.object({ objects: z.array(Uploaded) });
export const objects = workflow('objects', { input: Listed, within: '1d' }, (w) => {
  w.map('objects', image, w.input.objects, (one) => one, { concurrency: 40 });
});
