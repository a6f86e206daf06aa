/** Events sent to a receiver's URL: signed, at least once, given up after a day. */

import { createHmac } from 'node:crypto';
import { EventOutbox } from '../../serve/event-outbox.ts';
import { eventTarget } from '../../serve/signed-event.ts';
import { OutboxClock } from './outbox-clock.ts';
import { type Answered, outboxFile, receiverOf } from './receiver.ts';
import { clientOf, servedWith, testServer, type TestServer } from './served.ts';

const SECRET = `whsec_${Buffer.from('a'.repeat(32)).toString('base64')}`;
const HOUR_MS = 3_600_000;
/** The machine's clock; the server's own time is an hour ahead of it. */
const WALL = Date.parse('2026-11-30T11:00:00Z');

interface Came {
  readonly id: string;
  readonly seconds: string;
  readonly signature: string;
  readonly body: string;
}

async function receiver(answers: (came: Came, at: number) => Answered = () => 204) {
  const read = (body: string, header: (name: string) => string): Came => {
    const [id = '', seconds = '', signature = ''] = ['id', 'timestamp', 'signature'].map((name) =>
      header(`webhook-${name}`),
    );
    return { id, seconds, signature, body };
  };
  const made = await receiverOf(read, answers, { location: '/elsewhere' });
  return { ...made, to: eventTarget(`${made.origin}/hooks?token=secret`, SECRET) };
}

type Receiver = Awaited<ReturnType<typeof receiver>>;

const ended = (executionId: string, at = 1_000) => ({
  source: 'steadfast',
  detailType: 'Steadfast Execution Ended',
  at,
  detail: { executionId, endedAt: at },
});

describe('an outbox', () => {
  let open: { readonly to: Receiver; readonly stop: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const { to, stop } of open) {
      await stop();
      to.end();
    }
    open = [];
  });

  async function outbox(answers?: Parameters<typeof receiver>[0]) {
    const to = await receiver(answers);
    const clock = new OutboxClock();
    const { client, said, refusals, logger, close } = outboxFile();
    const box = new EventOutbox({ client, clock, logger, to: to.to, wall: () => WALL });
    const stopping = new AbortController();
    let running: Promise<void> | undefined;
    open.push({
      to,
      stop: async () => {
        stopping.abort();
        await running;
        close();
      },
    });
    const run = (): void => {
      running = box.run(stopping.signal);
    };
    return { to, clock, said, box, run, refusals };
  }

  it('sends an event with the signature that Standard Webhooks describes', async () => {
    const { to, box, run } = await outbox();
    await box.listener(ended('e-1'));
    run();
    await to.count(1);
    const { id, seconds, signature, body } = to.came[0] as Came;
    expect(JSON.parse(body)).toEqual({
      source: 'steadfast',
      'detail-type': 'Steadfast Execution Ended',
      time: '1970-01-01T00:00:01.000Z',
      detail: { executionId: 'e-1', endedAt: 1_000 },
    });
    expect(seconds).toBe(String(WALL / 1_000));
    const key = Buffer.from('a'.repeat(32));
    const wanted = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
    expect(signature).toBe(`v1,${wanted}`);
  });

  it('sends in the order of the events, each once, also those that come later', async () => {
    const { to, box, run, clock } = await outbox();
    await box.listener(ended('e-2', 2_000));
    await box.listener(ended('e-1', 1_000));
    await box.listener(ended('e-1', 1_000));
    run();
    await to.count(2);
    await clock.asleep();
    await box.listener(ended('e-3', 3_000));
    await to.count(3);
    await clock.asleep();
    expect(to.came.map(({ body }) => /e-\d/.exec(body)?.[0])).toEqual(['e-1', 'e-2', 'e-3']);
  });

  it.each([500, 404, 302])(
    'sends what was answered with %i again, under its id, and holds up no other',
    async (status) => {
      const { to, box, run, clock, said } = await outbox(({ body }, at) =>
        body.includes('e-1') && at < 5 ? status : 200,
      );
      await box.listener(ended('e-1', 1_000));
      await box.listener(ended('e-2', 2_000));
      run();
      await to.count(2);
      for (let at = 0; at < 3; at += 1) await clock.pass();
      await to.count(5);
      await clock.asleep();
      expect(to.came.map(({ body }) => /e-\d/.exec(body)?.[0])).toEqual(['e-1', 'e-2', 'e-1', 'e-1', 'e-1']);
      expect(new Set(to.came.filter((_, at) => at !== 1).map(({ id }) => id)).size).toBe(1);
      expect(clock.slept.slice(0, 3)).toEqual([1_000, 2_000, 4_000]);
      const origin = to.to.url.split('/hooks')[0];
      expect(said).toEqual([
        ['events-not-taken', { to: origin, detail: `HTTP ${status}` }],
        ['events-taken-again', { to: origin }],
      ]);
    },
  );

  it('gives up what nobody takes for a day, and says so', async () => {
    const { to, box, run, clock, said } = await outbox(({ body }) => (body.includes('e-1') ? 400 : 200));
    await box.listener(ended('e-1'));
    run();
    await to.count(1);
    const began = clock.at;
    for (let passed = 0; passed < 400 && said.length < 2; passed += 1) await clock.pass();
    await clock.asleep();
    expect(clock.at - began).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(clock.at - began).toBeLessThan(24 * HOUR_MS + 2 * 300_000);
    expect(said[1]).toEqual(['event-given-up', expect.objectContaining({ detail: 'HTTP 400' })]);
    const times = to.came.length;
    await clock.pass();
    await clock.asleep();
    expect(to.came).toHaveLength(times);
  });

  it('asks a receiver that is away once a minute, with one event', async () => {
    const { to, box, run, clock } = await outbox(() => 'reset');
    for (const at of [1, 2, 3, 4, 5]) await box.listener(ended(`e-${at}`, at));
    run();
    for (let passed = 0; passed < 8; passed += 1) await clock.pass();
    await clock.asleep();
    expect(clock.slept.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(to.came).toHaveLength(3 + 8);
  });

  it('holds up none behind one whose connection is cut', async () => {
    const { to, box, run, clock } = await outbox(({ body }) => (body.includes('e-1') ? 'reset' : 200));
    for (const at of [1, 2, 3]) await box.listener(ended(`e-${at}`, at));
    run();
    await to.count(3);
    expect(to.came.map(({ body }) => /e-\d/.exec(body)?.[0])).toEqual(['e-1', 'e-2', 'e-3']);
    await clock.pass();
    await to.count(4);
    expect(to.came[3]?.body).toContain('e-1');
    await clock.asleep();
  });

  it('gives up none for the time that its server was off', async () => {
    const { to, box, run, clock, said } = await outbox((_, at) => (at === 1 ? 503 : 200));
    await box.listener(ended('e-1'));
    clock.at += 25 * HOUR_MS;
    run();
    await to.count(1);
    await clock.pass();
    await to.count(2);
    await clock.asleep();
    expect(said.map(([what]) => what)).toEqual(['events-not-taken', 'events-taken-again']);
  });

  it('gives up all that are a day old together, of a receiver that is away', async () => {
    const { to, box, run, clock, said } = await outbox();
    to.end();
    for (let at = 1; at <= 60; at += 1) await box.listener(ended(`e-${at}`, at));
    run();
    for (let passed = 0; passed < 3_000 && said.length < 61; passed += 1) await clock.pass();
    expect(said.filter(([what]) => what === 'event-given-up')).toHaveLength(60);
    expect(clock.at - Date.parse('2026-11-30T12:00:00Z')).toBeLessThan(24 * HOUR_MS + 10 * 60_000);
  });

  it('sends one again, later, that the file does not let go, and the others meanwhile', async () => {
    const { to, box, run, clock, said, refusals } = await outbox();
    refusals.push(true);
    for (const at of [1, 2]) await box.listener(ended(`e-${at}`, at));
    run();
    await to.count(2);
    await clock.pass();
    await to.count(3);
    await clock.asleep();
    expect(to.came.map(({ body }) => /e-\d/.exec(body)?.[0])).toEqual(['e-1', 'e-2', 'e-1']);
    expect(clock.slept[0]).toBe(60_000);
    expect(said).toEqual([['event-not-removed', { detail: 'Error' }]]);
  });

  it('knows an event that is announced again by what docs/EVENTS.md names', async () => {
    const { to, box, run, clock } = await outbox();
    const opened = (deadlineAt: number) => ({
      source: 'steadfast',
      detailType: 'Steadfast Question',
      at: 1,
      detail: { executionId: 'e-1', incident: 1, change: 'opened', at: 1, deadlineAt },
    });
    await box.listener(opened(5));
    await box.listener(opened(9));
    run();
    await to.count(1);
    await clock.asleep();
    expect(to.came.map(({ body }) => body)).toEqual([expect.stringContaining('"deadlineAt":9')]);
  });
});

describe('a server', () => {
  let world: TestServer;
  beforeEach(() => {
    world = testServer();
  });
  afterEach(() => world.end());
  const served = servedWith(async (input) => ({ text: input.text }));

  it('ends executions while nobody takes their events, and the next one sends them', async () => {
    const mute = await receiver(() => 'nothing');
    const first = await world.start({ served, eventsTo: mute.to, stopWithinMs: 0 });
    const ids: string[] = [];
    for (const name of ['Ada', 'Grace']) {
      const { executionId } = await clientOf(first).start('greeting', { input: { text: name } });
      expect((await clientOf(first).get(executionId, { wait: '20s' })).status).toBe('succeeded');
      ids.push(executionId);
    }
    await mute.count(1);
    await first.stop();
    mute.end();
    const hearing = await receiver();
    await world.start({ served, eventsTo: hearing.to });
    await hearing.count(2);
    hearing.end();
    const received = hearing.came.map(({ body }) => JSON.parse(body) as { detail: { executionId: string } });
    expect(received.map(({ detail }) => detail.executionId)).toEqual(ids);
    expect(hearing.came.map(({ id }) => id)).toContain(mute.came[0]?.id);
  });
});

it.each([
  ['no URL', 'hooks', SECRET, 'begins with https:// or http://'],
  ['another protocol', 'ftp://example.com', SECRET, 'begins with https:// or http://'],
  ['a password', 'https://a:b@example.com', SECRET, 'no name or password'],
  ['no secret', 'https://example.com', undefined, 'needs STEADFAST_EVENTS_SECRET'],
  ['a secret that is no base64', 'https://example.com', 'whsec_a-b_c', 'what follows is not base64'],
  ['a short secret', 'https://example.com', 'whsec_c2hvcnQ=', '24 bytes or more'],
])('%s is refused', (_, url, secret, message) => {
  expect(() => eventTarget(url, secret)).toThrow(message);
});

it('a secret that a file ends with a line is the same', () => {
  expect(eventTarget('https://example.com', `${SECRET}\n`)).toEqual(
    eventTarget('https://example.com', SECRET),
  );
});
