/**
 * Ten public Step Functions samples as workflows: each ends as its definition does, but also undoes the
 * effects that the definition leaves. A fault at any point neither loses nor doubles work. Read at
 * step-functions-workflows-collection 83bbec48.
 */

import { PermanentError } from 'steadfast';
import type { TestRun } from 'steadfast/testing';
import { approvals } from '../../examples/step-functions/approvals.ts';
import { backoff } from '../../examples/step-functions/backoff.ts';
import { callback } from '../../examples/step-functions/callback.ts';
import { either } from '../../examples/step-functions/either.ts';
import { objects } from '../../examples/step-functions/objects.ts';
import { once } from '../../examples/step-functions/once.ts';
import { poll } from '../../examples/step-functions/poll.ts';
import { rows } from '../../examples/step-functions/rows.ts';
import { saga } from '../../examples/step-functions/saga.ts';
import { stock } from '../../examples/step-functions/stock.ts';
import { read } from '../snippets/blocks.ts';
import type { Answers } from './services.ts';
import { type Play, playWays, type Way } from './ways.ts';

const id = (): object => ({ id: 'i-1' });
const fails =
  (name: string, times = Infinity): Play =>
  async (trial, input) => {
    trial.fail(name, { times, with: new PermanentError('declined') });
    return await trial.start(input);
  };
const answered =
  (act: (run: TestRun) => Promise<void>): Play =>
  async (trial, input) => {
    const run = await trial.start(input);
    await run.until(({ steps }) => Object.values(steps).some(({ waitsUntil }) => waitsUntil !== undefined));
    await act(run);
    return run;
  };
const PLACE = { bucket: 'b', key: 'k' };
const SAGA = { from: 'saga-pattern-sam', file: 'saga', workflow: saga, input: { tripId: 't-1' } };
const TRIP = {
  'reserve-flight': id,
  'reserve-car': id,
  'process-payment': id,
  'confirm-flight': id,
  'confirm-car': id,
};
const CALL = { from: 'calling-async-api-callback', file: 'callback', workflow: callback };
const ASK = { from: 'parallel-human-approval', file: 'approvals', workflow: approvals, input: { what: 'x' } };
const STOCK = {
  from: 'inventory-management-sam',
  file: 'stock',
  workflow: stock,
  input: { orderId: 'o', productId: 'p', quantity: 2 },
};
const EITHER = {
  from: 'either-or-parallel-pattern',
  file: 'either',
  workflow: either,
  input: { first: 'one', second: 'two' },
};
const is = (which: string): Answers => ({
  'process-status': ({ processId }: { processId: string }) => ({ isOver: processId === which }),
});

const WAYS: readonly Way[] = [
  {
    ...SAGA,
    way: 'all is confirmed',
    answers: TRIP,
    ends: 'succeeded',
    deeds: 'confirm-car confirm-flight process-payment reserve-car reserve-flight text-message',
  },
  {
    ...SAGA,
    way: 'no payment',
    answers: TRIP,
    play: fails('process-payment'),
    ends: 'compensated',
    deeds: 'reserve-car! reserve-flight! text-message',
  },
  {
    ...CALL,
    way: 'an answer',
    input: { request: 'r' },
    play: answered((run) => run.complete('answer', { status: 200 })),
    ends: 'succeeded',
    deeds: 'ask-api tell',
  },
  { ...CALL, way: 'no answer', input: { request: 'r' }, ends: 'succeeded', deeds: 'ask-api tell' },
  {
    ...ASK,
    way: 'three people',
    play: answered(async (run) => {
      for (const at of [1, 2, 3]) await run.approve(`approver-${at}`, { by: `person-${at}` });
    }),
    ends: 'succeeded',
    deeds: '',
  },
  {
    ...ASK,
    way: 'a no',
    play: answered((run) => run.reject('approver-2', { by: 'person-2' })),
    ends: 'failed',
    deeds: '',
  },
  {
    from: 'data-processing',
    file: 'objects',
    way: 'two objects',
    workflow: objects,
    input: { objects: [PLACE, { bucket: 'b', key: 'l' }] },
    answers: {
      'object-attributes': () => ({ size: 5, storageClass: 'STANDARD' }),
      'detect-labels': () => ({ labels: ['boat'] }),
    },
    ends: 'succeeded',
    deeds: 'put-item put-item',
  },
  {
    from: 'segment-detection-workflow',
    file: 'poll',
    way: 'two jobs',
    workflow: poll,
    input: { from: PLACE, to: PLACE },
    answers: { 'detect-segments': () => ({ endTimecode: '00:00:01:00' }) },
    ends: 'succeeded',
    deeds: 'convert detect-segments',
  },
  {
    from: 'retry-with-exponential-backoff-sam',
    file: 'backoff',
    way: 'three errors',
    workflow: backoff,
    input: {},
    answers: { 'generate-random-responses': () => ({ statusCode: 200 }) },
    play: async (trial, input) => {
      trial.fail('generate-random-responses', { times: 3 });
      return await trial.start(input);
    },
    ends: 'succeeded',
    deeds: '',
  },
  {
    from: 'distributed-map-csv-iterator',
    file: 'rows',
    way: 'three rows',
    workflow: rows,
    input: { bucket: 'b' },
    answers: { 'read-rows': () => ({ rows: [1, 2, 3].map((value) => ({ metric: 'm', value })) }) },
    ends: 'succeeded',
    deeds: 'store-metric store-metric store-metric',
  },
  {
    ...STOCK,
    way: 'enough',
    answers: { 'reserve-stock': () => ({ isReserved: true }) },
    ends: 'succeeded',
    deeds: 'reserve-stock stock-reserved',
  },
  {
    ...STOCK,
    way: 'too little',
    answers: { 'reserve-stock': () => ({ isReserved: false }) },
    ends: 'succeeded',
    deeds: 'create-purchase-order reserve-stock stock-mail stock-unavailable',
  },
  { ...EITHER, way: 'the first', answers: is('one'), ends: 'succeeded', deeds: 'after-first' },
  { ...EITHER, way: 'the second', answers: is('two'), ends: 'succeeded', deeds: 'after-second' },
  { ...EITHER, way: 'neither', answers: is('none'), ends: 'succeeded', deeds: 'too-late' },
  {
    from: 'idempotent-workflow-sam',
    file: 'once',
    way: 'started twice',
    workflow: once,
    input: { paymentId: 'p-1' },
    answers: { 'fail-now-and-then': () => ({ result: 'r' }) },
    play: async (trial, input) => {
      trial.fail('fail-now-and-then', { times: 2 });
      await trial.start(input, { idempotencyKey: 'p-1' });
      return await trial.start(input, { idempotencyKey: 'p-1' });
    },
    ends: 'succeeded',
    deeds: 'fail-now-and-then',
  },
];

playWays(WAYS);

test('the page names them, and each is short', () => {
  const listedRows = read('docs/FROM-STEP-FUNCTIONS.md').matchAll(
    /^\| `([\w-]+)` \| \[`(\w+)`\]\(\.\.\/(examples\/step-functions\/\w+\.ts)\) \|/gm,
  );
  const listed = [...listedRows].map(([, from, file, path = '']) => ({
    from,
    file,
    lines: read(path).split('\n').length,
  }));
  const samples = new Map(WAYS.map(({ from, file }) => [from, file]));
  expect(listed.map(({ from, file }) => [from, file])).toEqual([...samples]);
  expect([listed.length, listed.filter(({ lines }) => lines > 36)]).toEqual([10, []]);
});
