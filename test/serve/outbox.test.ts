/** Events that wait for their receivers: when each is tried, and what becomes of it. */

import { createHmac } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Outbox } from '../../serve/outbox.ts';
import { eventTarget } from '../../serve/signed-event.ts';
import { OutboxClock } from './outbox-clock.ts';
import { type Answered, outboxFile, receiverOf } from './receiver.ts';

const HOUR_MS = 3_600_000;
/** How long a test waits; it fails then instead of going on for ever. */
const LATE_MS = 20_000;
/** The machine's clock; the server's own time is an hour ahead of it. */
const WALL = Date.parse('2026-11-30T11:00:00Z');
const KEY = Buffer.from('a'.repeat(32));

type Answers = (body: string, at: number) => Answered;
/** One receiver of all events, or each execution's own. */
const KINDS = ['events', 'notifications'] as const;
type Kind = (typeof KINDS)[number];

let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
});

type Came = Awaited<ReturnType<typeof receiver>>['came'][number];

async function receiver(answers: Answers = () => 204, headers: Record<string, string> = {}) {
  const to = await receiverOf(
    (whole, header) => ({
      body: /e-\d+/.exec(whole)?.[0] ?? '',
      whole,
      id: header('webhook-id'),
      seconds: header('webhook-timestamp'),
      signature: header('webhook-signature'),
    }),
    ({ body }, at) => answers(body, at),
    headers,
  );
  ends.push(to.end);
  return to;
}

/** By execution id, its life and its address. */
type Known = Record<string, { life: string; callbackUrl: string }>;

function outboxes(known: Known, all?: string) {
  const clock = new OutboxClock();
  const { client, said, refusals, logger, close } = outboxFile();
  ends.push(close);
  const eventsTo =
    all === undefined ? {} : { eventsTo: eventTarget(`${all}/hooks?token=known`, String(KEY)) };
  const made = (more: object = {}) => {
    const box = new Outbox({
      client,
      clock,
      logger,
      execution: async (id) => known[id] as never,
      ...eventsTo,
      notificationSecret: KEY,
      allowsPrivateNotifications: true,
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
    const lateAt = performance.now() + LATE_MS;
    while (!isSo()) {
      if (performance.now() > lateAt) throw new Error('it never came so far');
      await new Promise<void>((later) => setImmediate(later));
      if (!isSo() && (clock.sleeping ?? HOUR_MS) < HOUR_MS) await clock.pass();
    }
  };
  return { clock, said, refusals, client: client as DynamoDBClient, until, made, ...made() };
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
/** An outbox with one receiver. */
const outboxTo = (kind: Kind, origin: string, ids: number) =>
  kind === 'events' ? outboxes({}, origin) : outboxes(allTo(origin, ids));

describe.each(KINDS)('of %s', (kind) => {
  test('one that is not taken comes again later and later, and is given up after a day', async () => {
    const shop = await receiver((body) => (body.includes('e-1') ? 404 : 200));
    const { box, run, clock, said, until } = outboxTo(kind, shop.origin, 3);
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
    const { box, run, said, until } = outboxTo(kind, shop.origin, 2);
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
    const { box, run, clock, until } = outboxTo(kind, shop.origin, 2);
    await box.listener(ended('e-1'));
    run();
    await until(() => shop.came.length === 2);
    expect(clock.slept.filter((ms) => ms < HOUR_MS)).toEqual([gap]);
  });

  test('none is given up for the time that its server was off', async () => {
    const shop = await receiver((_, at) => (at === 1 ? 503 : 200));
    const { box, run, clock, said, until } = outboxTo(kind, shop.origin, 2);
    await box.listener(ended('e-1'));
    clock.at += 25 * HOUR_MS;
    run();
    await until(() => shop.came.length === 2);
    expect(said.map(([what]) => what)).toEqual(['notification-not-taken']);
  });

  test('a receiver that cuts off one event gets its others, and rests when it answers none', async () => {
    const shop = await receiver((body) => (body.includes('e-1') ? 'reset' : 200));
    const { box, run, until } = outboxTo(kind, shop.origin, 4);
    for (const at of [1, 2, 3]) await box.listener(ended(`e-${at}`, at));
    run();
    await until(() => shop.came.length === 3);
    expect(shop.came.map(({ body }) => body)).toEqual(['e-1', 'e-2', 'e-3']);
  });

  test('events of a receiver that answers nothing are given up together, after few requests', async () => {
    const shop = await receiver(() => 'reset');
    const { box, run, said, until } = outboxTo(kind, shop.origin, 900);
    for (let at = 0; at < 900; at += 1) await box.listener(ended(`e-${at}`, at));
    run();
    const givenUp = () => said.filter(([what]) => what === 'notification-given-up').length;
    await until(() => givenUp() === 900);
    expect(shop.came.length).toBeLessThan(320);
  });

  test('one that the file does not remove comes again later and later', async () => {
    const shop = await receiver();
    const { box, run, clock, refusals, until } = outboxTo(kind, shop.origin, 2);
    refusals.push('DeleteItemCommand', 'DeleteItemCommand', 'DeleteItemCommand');
    await box.listener(ended('e-1'));
    run();
    await until(() => shop.came.length === 4);
    expect(clock.slept.filter((ms) => ms < HOUR_MS)).toEqual([1_000, 2_000, 4_000]);
  });

  test('one is sent with the signature that Standard Webhooks describes', async () => {
    const shop = await receiver();
    const { box, run } = outboxTo(kind, shop.origin, 2);
    await box.listener(ended('e-1'));
    run();
    await shop.count(1);
    const { id, seconds, signature, whole } = shop.came[0] as Came;
    expect(JSON.parse(whole)).toEqual({
      source: 'steadfast',
      'detail-type': 'Steadfast Execution Ended',
      time: '1970-01-01T00:00:01.000Z',
      detail: { executionId: 'e-1', notify: 'l', endedAt: 1_000 },
    });
    const wanted = createHmac('sha256', KEY).update(`${id}.${seconds}.${whole}`).digest('base64');
    expect([seconds, signature]).toEqual([String(WALL / 1_000), `v1,${wanted}`]);
  });

  test('they are sent in the order in which they were announced, each once', async () => {
    const shop = await receiver();
    const { box, run, clock } = outboxTo(kind, shop.origin, 4);
    for (const at of [1, 2, 1]) await box.listener(ended(`e-${at}`, at));
    run();
    await shop.count(2);
    await clock.asleep();
    await box.listener(ended('e-3', 3));
    await shop.count(3);
    await clock.asleep();
    expect(shop.came.map(({ body }) => body)).toEqual(['e-1', 'e-2', 'e-3']);
  });

  test('more than memory keeps are sent from the file, in order, and those that come meanwhile', async () => {
    const shop = await receiver();
    const { box, made } = outboxTo(kind, shop.origin, 30);
    for (let at = 10; at < 20; at += 1) await box.listener(ended(`e-${at}`, at));
    const next = made({ mostKnown: 3 });
    next.run();
    await shop.count(1);
    for (let at = 20; at < 30; at += 1) await next.box.listener(ended(`e-${at}`, at));
    await shop.count(20);
    expect(shop.came.map(({ body }) => body)).toEqual(Array.from({ length: 20 }, (_, at) => `e-${at + 10}`));
  });

  test('those beyond memory are sent at once although others are refused', async () => {
    const shop = await receiver((body) => (Number(body.slice(2)) < 12 ? 503 : 204));
    const { box, made, until, clock } = outboxTo(kind, shop.origin, 30);
    for (let at = 10; at < 20; at += 1) await box.listener(ended(`e-${at}`, at));
    const began = clock.at;
    made({ mostKnown: 4 }).run();
    await until(() => new Set(shop.came.map(({ body }) => body)).size === 10);
    expect(clock.at - began).toBeLessThan(60_000);
  });

  test('one that comes while the file is read is sent, too', async () => {
    const shop = await receiver();
    const { box, made, client } = outboxTo(kind, shop.origin, 3);
    await box.listener(ended('e-1', 1));
    let reads = 0;
    const send = async (command: object) => {
      const answer: unknown = await client.send(command as never);
      if (command.constructor.name === 'QueryCommand') reads += 1;
      // Two reads find the only receiver; the next is of its events.
      if (command.constructor.name === 'QueryCommand' && reads === 3)
        await next.box.listener(ended('e-2', 2));
      return answer;
    };
    const next = made({ client: { send } });
    next.run();
    await shop.count(2);
  });

  test('an event that is announced again is known by what docs/EVENTS.md names', async () => {
    const shop = await receiver();
    const { box, run, clock } = outboxTo(kind, shop.origin, 2);
    const opened = (deadlineAt: number) => ({
      source: 'steadfast',
      detailType: 'Steadfast Question',
      at: 1,
      detail: { executionId: 'e-1', notify: 'l', incident: 1, change: 'opened', at: 1, deadlineAt },
    });
    await box.listener(opened(5));
    await box.listener(opened(9));
    run();
    await shop.count(1);
    await clock.asleep();
    expect(shop.came.map(({ whole }) => whole)).toEqual([expect.stringContaining('"deadlineAt":9')]);
  });
});

test('an event that waits is sent by the next process, at the machine’s time', async () => {
  const shop = await receiver();
  const { box, made } = outboxes({ 'e-1': to(shop.origin) });
  await box.listener(ended('e-1'));
  made().run();
  await shop.count(1);
  expect(shop.came[0]).toMatchObject({ body: 'e-1', seconds: String(WALL / 1_000) });
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

test('an event goes to the receiver of all and to the address of its execution', async () => {
  const [all, shop] = [await receiver(() => 'reset'), await receiver()];
  const { box, run } = outboxes(allTo(shop.origin, 2), all.origin);
  await box.listener(ended('e-1'));
  run();
  await Promise.all([all.count(1), shop.count(1)]);
  expect(all.came[0]?.id).toBe(shop.came[0]?.id);
});

test('events for which the server has no option now stay in the file', async () => {
  const [all, shop] = [await receiver(), await receiver()];
  const { box, made } = outboxes(allTo(shop.origin, 2), all.origin);
  await box.listener(ended('e-1'));
  made({ eventsTo: undefined }).run();
  await shop.count(1);
  expect(all.came).toEqual([]);
  made({ notificationSecret: undefined }).run();
  await all.count(1);
});

test('a file that cannot be read is read again: who has events, and which', async () => {
  const shop = await receiver();
  const { box, made, said, until, clock, client } = outboxes(allTo(shop.origin, 2));
  await box.listener(ended('e-1'));
  let reads = 0;
  const send = async (command: object) => {
    if (command.constructor.name === 'QueryCommand') reads += 1;
    // Two reads find the only receiver; the next is of its events.
    if (reads === 1 || reads === 4) throw new Error('the disk is away');
    return client.send(command as never);
  };
  made({ client: { send } }).run();
  await until(() => shop.came.length === 1);
  expect(said.map(([what]) => what)).toEqual(['notifications-not-read', 'notifications-not-read']);
  expect(clock.slept.filter((ms) => ms < HOUR_MS)).toEqual([1_000, 1_000]);
});
