/** Runs each recipe of the cookbook and checks what its first line promises. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { done, type AgentHandler } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import { album, shrink } from '../examples/cookbook/fan-out.ts';
import { confirmWith, printTicket, ticket } from '../examples/cookbook/apology.ts';
import { payBack, refund } from '../examples/cookbook/approval.ts';
import { load, loading, uploaded } from '../examples/cookbook/file.ts';
import { closeDay, closing, everyNight } from '../examples/cookbook/nightly.ts';
import { post, posting } from '../examples/cookbook/one-at-a-time.ts';
import { copyPage, copying } from '../examples/cookbook/pages.ts';
import { ship, shipping } from '../examples/cookbook/person.ts';
import { encodeWith, encoding } from '../examples/cookbook/poll.ts';
import { agentSettings, locate, zoning } from '../examples/cookbook/rate.ts';
import { buying } from '../examples/cookbook/rest.ts';
import { bookCar, bookFlight, bookHotel, trip } from '../examples/cookbook/saga.ts';
import { mover, orderStatus } from '../examples/cookbook/status-machine.ts';
import { checkout, openCheckout } from '../examples/cookbook/webhook.ts';
import { PermanentError, TransientError } from '../lib/index.ts';

it('poll: asks until the work is done', async () => {
  const percents = [10, 60, 100];
  const handler = encodeWith({
    submit: async () => ({ job: 'j-1' }),
    read: async () => {
      const percent = percents.shift() ?? 100;
      return percent < 100 ? { percent } : { percent, url: 'films/1' };
    },
  });
  const end = await (await testWorkflow(encoding, { agents: [handler] }).start({ film: 'f' })).waitForEnd();
  expect([end.status, end.output, percents]).toEqual(['succeeded', { url: 'films/1' }, []]);
});

it('rest: asks the services, and finds a charge whose answer was lost', async () => {
  const asked: string[] = [];
  const service = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('/')[1]}`);
    if (request.method === 'POST') response.destroy();
    else response.end(JSON.stringify({ id: 'c-1', reservation: { id: 'r-1' } }));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  process.env['SHOP_URL'] = `http://localhost:${(service.address() as AddressInfo).port}`;
  process.env['SHOP_TOKEN'] = 't';
  const run = await testWorkflow(buying, { agents: [] }).start({ orderId: 'o-1', amount: 5 });
  expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { chargeId: 'c-1' } });
  expect(asked).toEqual(['PUT reservations', 'POST charges', 'GET charges']);
  service.closeAllConnections();
  service.close();
  for (const name of ['SHOP_URL', 'SHOP_TOKEN']) delete process.env[name];
});

it('webhook: goes on with the answer from outside', async () => {
  let token = '';
  const open = openCheckout.handler({
    execute: async (_ctx, { replyTo }) => {
      token = replyTo;
      return { url: 'https://pay.example/1' };
    },
  });
  const run = await testWorkflow(checkout, { agents: [open] }).start({ amount: 5 });
  await run.until(() => token !== '');
  await run.complete('paid', { paymentId: 'p-1' });
  expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { paymentId: 'p-1' } });
});

it('saga: undoes the bookings before the one that failed, the latest first', async () => {
  const undone: string[] = [];
  const book = (one: typeof bookFlight, booking: string): AgentHandler =>
    one.handler({ execute: async () => ({ booking }), undo: async () => void undone.push(booking) });
  const car = bookCar.handler({
    execute: async () => {
      throw new PermanentError('no car');
    },
    undo: async () => undefined,
  });
  const agents = [book(bookFlight, 'flight'), book(bookHotel as typeof bookFlight, 'hotel'), car];
  const end = await (await testWorkflow(trip, { agents }).start({ city: 'Rome' })).waitForEnd();
  expect([end.status, undone]).toEqual(['compensated', ['hotel', 'flight']]);
});

it('approval: silence is a no', async () => {
  let paid = 0;
  const pay = payBack.handler({ execute: async () => ((paid += 1), null) });
  const trial = testWorkflow(refund, { agents: [pay] });
  const silent = await trial.start({ orderId: 'o-1', amount: 5 });
  expect([(await silent.waitForEnd()).status, paid]).toEqual(['failed', 0]);
  const asked = await trial.start({ orderId: 'o-2', amount: 5 });
  await asked.approve('ok');
  expect([(await asked.waitForEnd()).status, paid]).toEqual(['succeeded', 1]);
});

it('one at a time: two executions of one account are never at work together', async () => {
  let atWork = 0;
  let most = 0;
  const handler = post.handler({
    execute: async () => {
      most = Math.max(most, (atWork += 1));
      await Promise.resolve();
      atWork -= 1;
      return null;
    },
    undo: async () => undefined,
  });
  const trial = testWorkflow(posting, { agents: [handler] });
  const runs = await Promise.all([1, 2, 3].map((amount) => trial.start({ account: 'a', amount })));
  for (const run of runs) expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(most).toBe(1);
});

it('fan-out: one item of twenty may fail', async () => {
  const handler = shrink.handler({
    execute: async (_ctx, { key }) => {
      if (key === 'k-7') throw new PermanentError('no picture');
      return { key };
    },
  });
  const photos = Array.from({ length: 20 }, (_, at) => ({ key: `k-${at}` }));
  const end = await (await testWorkflow(album, { agents: [handler] }).start({ photos })).waitForEnd();
  expect(end).toMatchObject({ status: 'succeeded', output: { failed: 1 } });
});

it('pages: reads until there is no next page', async () => {
  const asked: string[] = [];
  const handler = copyPage.handler({
    execute: async (_ctx, { cursor }) => {
      asked.push(cursor);
      return asked.length < 3 ? { rows: 10, next: `c-${asked.length}` } : { rows: 4 };
    },
  });
  const end = await (await testWorkflow(copying, { agents: [handler] }).start({ source: 's' })).waitForEnd();
  expect([end.output, asked]).toEqual([{ pages: 3 }, ['', 'c-1', 'c-2']]);
});

it('status machine: goes on with each message, and without one in time', async () => {
  const run = await testWorkflow(orderStatus, { agents: [mover] }).start({});
  await run.send('news', { kind: 'paid' });
  await run.until(({ steps }) => steps['moves']?.children?.try === 4);
  await run.send('news', { kind: 'delivered' });
  expect((await run.waitForEnd()).output).toEqual({ status: 'delivered' });
  const other = await testWorkflow(orderStatus, { agents: [mover] }).start({});
  expect((await other.waitForEnd()).output).toEqual({ status: 'canceled' });
});

it('person: is asked after four tries, and what acted is undone without an answer', async () => {
  let tries = 0;
  const handler = ship.handler({
    execute: async () => {
      tries += 1;
      throw new TransientError('closed');
    },
    probe: async () => done({ trackingNumber: 't' }),
    undo: async () => undefined,
  });
  const run = await testWorkflow(shipping, { agents: [handler] }).start({ orderId: 'o', address: 'a' });
  const incident = await run.waitForIncident();
  expect([tries, incident.step]).toEqual([4, 'ship']);
  expect((await run.waitForEnd()).status).toBe('failed');
});

it('rate: names the agent of the workflow', async () => {
  const agents = [locate.handler({ execute: async () => ({ zone: 'A' }) })];
  const end = await (await testWorkflow(zoning, { agents }).start({ address: 'a' })).waitForEnd();
  expect([end.output, Object.keys(agentSettings)]).toEqual([{ zone: 'A' }, ['locate']]);
});

it('nightly, file: what the trigger maps is what the workflow takes', async () => {
  const close = closeDay.handler({ execute: async () => null });
  const read = load.handler({ execute: async () => ({ rows: 3 }), undo: async () => undefined });
  const night = await testWorkflow(closing, { agents: [close] }).start({ at: '2026-07-01T00:30:00Z' });
  const upload = await testWorkflow(loading, { agents: [read] }).start({ bucket: 'b', key: 'orders/1.csv' });
  expect([(await night.waitForEnd()).status, (await upload.waitForEnd()).output]).toEqual([
    'succeeded',
    { rows: 3 },
  ]);
  expect([everyNight.workflow, everyNight.options.input]).toEqual(['closing', { at: '$.time' }]);
  expect([uploaded.workflow, uploaded.options.suffix]).toEqual(['loading', '.csv']);
});

it('apology: writes again where the ticket cannot be printed', async () => {
  const sent: string[] = [];
  const confirm = confirmWith(async (_key, to, text) => void sent.push(`${to}: ${text}`));
  const print = printTicket.handler({
    execute: async () => {
      throw new PermanentError('sold out');
    },
    undo: async () => undefined,
  });
  const run = await testWorkflow(ticket, { agents: [confirm, print] }).start({
    email: 'ada@x',
    show: 'Aida',
  });
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(sent).toEqual([
    'ada@x: Your ticket for Aida is coming.',
    'ada@x: We are sorry: there is no ticket for Aida.',
  ]);
});
