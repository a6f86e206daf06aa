/** Events for the `callbackUrl` of starts: when each is tried, and what becomes of it. */

import { NotificationOutbox } from '../../serve/notification-outbox.ts';
import { OutboxClock } from './outbox-clock.ts';
import { type Answered, outboxFile, receiverOf } from './receiver.ts';

const HOUR_MS = 3_600_000;
/** The machine's clock; the server's own time is an hour ahead of it. */
const WALL = Date.parse('2026-11-30T11:00:00Z');

type Answers = (body: string, at: number) => Answered;

let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
});

async function receiver(answers: Answers = () => 204, headers: Record<string, string> = {}) {
  const to = await receiverOf(
    (body, header) => ({
      body: /e-\d+/.exec(body)?.[0] ?? '',
      id: header('webhook-id'),
      seconds: header('webhook-timestamp'),
    }),
    ({ body }, at) => answers(body, at),
    headers,
  );
  ends.push(to.end);
  return to;
}

/** By execution id, its life and its address. */
type Known = Record<string, { life: string; callbackUrl: string }>;

function outboxes(known: Known) {
  const clock = new OutboxClock();
  const { client, said, refusals, logger, close } = outboxFile();
  ends.push(close);
  const made = (more: object = {}) => {
    const box = new NotificationOutbox({
      client,
      clock,
      logger,
      execution: async (id) => known[id] as never,
      key: Buffer.from('a'.repeat(32)),
      reach: 'here',
      wall: () => WALL,
      ...more,
    });
    const run = (): void => {
      const stopping = new AbortController();
      const running = box.run(stopping.signal);
      ends.push(() => (stopping.abort(), running));
    };
    return { box, run };
  };
  /** Advances time while the outbox waits for its next try, but not during a request. */
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      await new Promise<void>((later) => setImmediate(later));
      if (!isSo() && (clock.sleeping ?? HOUR_MS) < HOUR_MS) await clock.pass();
    }
  };
  return { clock, said, refusals, until, made, ...made() };
}

const ended = (executionId: string, at = 1_000) => ({
  source: 'steadfast',
  detailType: 'Steadfast Execution Ended',
  at,
  detail: { executionId, notify: 'l', endedAt: at },
});
const to = (origin: string) => ({ life: 'l', callbackUrl: `${origin}/news?token=known` });
const allTo = (origin: string, ids: number): Known =>
  Object.fromEntries(Array.from({ length: ids }, (_, at) => [`e-${at}`, to(origin)]));

test('an event that waits is sent by the next process, at the machine’s time', async () => {
  const shop = await receiver();
  const { box, made } = outboxes({ 'e-1': to(shop.origin) });
  await box.listener(ended('e-1'));
  made().run();
  await shop.count(1);
  expect(shop.came[0]).toMatchObject({ body: 'e-1', seconds: String(WALL / 1_000) });
});

test('one that is not taken comes again later and later, and is given up after a day', async () => {
  const shop = await receiver((body) => (body.includes('e-1') ? 404 : 200));
  const { box, run, clock, said, until } = outboxes(allTo(shop.origin, 3));
  await box.listener(ended('e-1', 1));
  await box.listener(ended('e-2', 2));
  run();
  await shop.count(2);
  const began = clock.at;
  await until(() => said.length === 2);
  const gaps = clock.slept.filter((ms) => ms < HOUR_MS);
  expect(gaps.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(clock.at - began).toBeGreaterThanOrEqual(24 * HOUR_MS);
  expect(clock.at - began).toBeLessThan(25 * HOUR_MS);
  const about = { id: shop.came[0]?.id, to: shop.origin, detail: 'HTTP 404' };
  expect(said).toEqual([
    ['notification-not-taken', about],
    ['notification-given-up', about],
  ]);
});

test('one that its receiver does not want any more is given up at once', async () => {
  const shop = await receiver(() => 410);
  const { box, run, said, until } = outboxes(allTo(shop.origin, 2));
  await box.listener(ended('e-1'));
  run();
  await until(() => said.length > 0);
  expect(said.map(([what]) => what)).toEqual(['notification-given-up']);
  expect(shop.came).toHaveLength(1);
});

test.each([
  ['no earlier than its receiver wants', '120', 120_000],
  ['within five minutes, whatever its receiver wants', '3600', 300_000],
])('one comes again %s', async (_, wish, gap) => {
  const shop = await receiver((__, at) => (at === 1 ? 429 : 204), { 'retry-after': wish });
  const { box, run, clock, until } = outboxes(allTo(shop.origin, 2));
  await box.listener(ended('e-1'));
  run();
  await until(() => shop.came.length === 2);
  expect(clock.slept.filter((ms) => ms < HOUR_MS)).toEqual([gap]);
});

test('none is given up for the time that its server was off', async () => {
  const shop = await receiver((_, at) => (at === 1 ? 503 : 200));
  const { box, run, clock, said, until } = outboxes(allTo(shop.origin, 2));
  await box.listener(ended('e-1'));
  clock.at += 25 * HOUR_MS;
  run();
  await until(() => shop.came.length === 2);
  expect(said.map(([what]) => what)).toEqual(['notification-not-taken']);
});

test('an execution that was erased, or has another life, sends nothing more', async () => {
  const shop = await receiver();
  const known = allTo(shop.origin, 4);
  const { box, run, clock } = outboxes(known);
  for (const at of [1, 2, 3]) await box.listener(ended(`e-${at}`, at));
  delete known['e-1'];
  known['e-2'] = { ...to(shop.origin), life: 'another' };
  run();
  await shop.count(1);
  await clock.asleep();
  expect(shop.came.map(({ body }) => body)).toEqual(['e-3']);
});

test('a receiver that cuts off one event gets its others, and rests when it answers none', async () => {
  const shop = await receiver((body) => (body.includes('e-1') ? 'reset' : 200));
  const { box, run, until } = outboxes(allTo(shop.origin, 4));
  for (const at of [1, 2, 3]) await box.listener(ended(`e-${at}`, at));
  run();
  await until(() => shop.came.length === 3);
  expect(shop.came.map(({ body }) => body)).toEqual(['e-1', 'e-2', 'e-3']);
});

test('events of a receiver that answers nothing are given up together, after few requests', async () => {
  const shop = await receiver(() => 'reset');
  const { box, run, said, until } = outboxes(allTo(shop.origin, 900));
  for (let at = 0; at < 900; at += 1) await box.listener(ended(`e-${at}`, at));
  run();
  const givenUp = () => said.filter(([what]) => what === 'notification-given-up').length;
  await until(() => givenUp() === 900);
  expect(shop.came.length).toBeLessThan(320);
});

test('receivers that answer nothing leave places to the others, and nothing spins meanwhile', async () => {
  const dead = await Promise.all(
    Array.from({ length: 20 }, () => receiver((_, at) => (at === 1 ? 'reset' : 'nothing'))),
  );
  const shop = await receiver();
  const known: Known = Object.fromEntries(dead.map(({ origin }, at) => [`e-${at}`, to(origin)]));
  const { box, run, clock } = outboxes({ ...known, 'e-99': to(shop.origin) });
  for (const [at] of dead.entries()) await box.listener(ended(`e-${at}`, at));
  run();
  await Promise.all(dead.map(({ count }) => count(1)));
  await clock.asleep();
  await clock.asleep();
  clock.at += 1_000;
  await clock.pass();
  const before = clock.slept.length;
  await box.listener(ended('e-99', 99));
  await shop.count(1);
  await clock.asleep();
  expect(dead.filter(({ came }) => came.length > 1).length).toBeLessThanOrEqual(8);
  expect(clock.slept.length - before).toBeLessThan(12);
  expect(clock.slept.slice(before)).not.toContain(0);
});

test('one that the file does not remove comes again later and later', async () => {
  const shop = await receiver();
  const { box, run, clock, refusals, until } = outboxes(allTo(shop.origin, 2));
  refusals.push(true, true, true);
  await box.listener(ended('e-1'));
  run();
  await until(() => shop.came.length === 4);
  expect(clock.slept.filter((ms) => ms < HOUR_MS)).toEqual([1_000, 2_000, 4_000]);
});

test('very many that wait for a receiver without a place stop no server', async () => {
  const Items = Array.from({ length: 200_000 }, (_, at) => ({
    sk: { S: `${at}#i` },
    to: { S: `http://shop-${Math.min(at, 16)}.example` },
    at: { N: '1' },
  }));
  const client = {
    send: async ({ constructor: { name } }: object) => {
      if (name === 'QueryCommand') return { Items };
      throw new Error('no file');
    },
  };
  const { made, clock } = outboxes({});
  made({ client }).run();
  await clock.asleep();
  await clock.pass();
  await clock.asleep();
});
