/** Six small workflows, to compare with the same six in Restate and DBOS (`peers/`). */

import { agent, eq, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { book, cancel, copyPage, payBack, post, readJob, submit } from './services.ts';

// Hello
const Name = z.object({ name: z.string() });
const greet = agent('greet', { input: Name, output: z.string(), effect: 'none' });
export const hello = workflow('hello', { input: Name, within: '1m' }, (w) => {
  return { text: w.step('greet', greet, w.input).output };
});
const greeter = greet.handler({ execute: async (_ctx, { name }) => `Hello, ${name}!` });

// Saga of three
const Trip = z.object({ city: z.string() });
const booking = { input: Trip, output: z.object({ id: z.string() }), effect: 'idempotent' } as const;
const bookFlight = agent('flight', booking);
const bookHotel = agent('hotel', booking);
export const bookCar = agent('car', booking);
export const trip = workflow('trip', { input: Trip, within: '1h' }, (w) => {
  const flight = w.step('flight', bookFlight, w.input);
  const hotel = w.step('hotel', bookHotel, w.input, { after: [flight] });
  w.step('car', bookCar, w.input, { after: [hotel] });
});
const bookers = [bookFlight, bookHotel, bookCar].map((one) =>
  one.handler({
    execute: (ctx, { city }) => book(ctx.idempotencyKey, ctx.step, city),
    undo: (ctx) => cancel(ctx.idempotencyKey, ctx.step),
  }),
);

// Approval with a deadline
const Refund = z.object({ orderId: z.string(), amount: z.number() });
const refunded = {
  input: Refund,
  output: z.object({ id: z.string() }),
  effect: 'idempotent',
  undo: 'none',
} as const;
const pay = agent('pay', refunded);
export const refund = workflow('refund', { input: Refund, within: '3d' }, (w) => {
  const yes = w.approval('ok', { within: '2d' });
  w.step('pay', pay, w.input, { after: [yes] });
});
const payer = pay.handler({
  execute: (ctx, { orderId, amount }) => payBack(ctx.idempotencyKey, orderId, amount),
});

// Poll
const Film = z.object({ film: z.string() });
const Job = z.object({ id: z.string() });
const start = agent('start', { input: Film, output: Job, effect: 'idempotent', undo: 'none' });
const ask = agent('read', {
  input: Job,
  output: z.object({ isDone: z.boolean(), url: z.string() }),
  effect: 'none',
});
export const encoding = workflow('encoding', { input: Film, within: '3h' }, (w) => {
  const job = w.step('start', start, w.input);
  const end = w.repeat('read', ask, job.output, {
    until: (last) => last.isDone,
    every: '30s',
    maxRounds: 300,
  });
  return { url: end.output.last.url };
});
const starter = start.handler({ execute: (ctx, { film }) => submit(ctx.idempotencyKey, film) });
const asker = ask.handler({ execute: (_ctx, { id }) => readJob(id) });

// Loop
const Page = z.object({ cursor: z.string() });
const copy = agent('copy', { input: Page, output: Page, effect: 'idempotent', undo: 'none' });
export const copying = workflow('copying', { input: Page, within: '1d' }, (w) => {
  w.repeat('pages', copy, w.input, {
    until: (page) => eq(page.cursor, ''),
    next: (page) => page,
    maxRounds: 500,
  });
});
const copier = copy.handler({ execute: (_ctx, { cursor }) => copyPage(cursor) });

// One per key
const Posting = z.object({ account: z.string(), amount: z.number() });
const write = agent('post', { input: Posting, output: Job, effect: 'idempotent', undo: 'none' });
export const posting = workflow(
  'posting',
  {
    input: Posting,
    within: '1h',
    concurrency: { key: (input) => input.account, limit: 1, waitWithin: '1h' },
  },
  (w) => {
    w.step('post', write, w.input);
  },
);
const writer = write.handler({
  execute: (ctx, { account, amount }) => post(ctx.idempotencyKey, account, amount),
});

export const agents = [greeter, ...bookers, payer, starter, asker, copier, writer];
