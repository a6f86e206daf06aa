/**
 * Declared requests under faults: a process that dies at every point, and a service that fails at random. The
 * payment service acts on every request; the mail service, once for each key.
 */

import { crashEverywhere, testWorkflow, type TestRun } from 'steadfast/testing';
import * as z from 'zod/mini';
import { httpAgent, retry, workflow } from '../../lib/index.ts';
import { type Answer, type Asked, gives, type Service, startService } from './service.ts';

const Order = z.object({ orderId: z.string(), amount: z.number() });

interface Entry {
  readonly id: string;
  readonly key: string;
  undone: boolean;
}

let service: Service;
let charges: Entry[] = [];
let mails = new Map<string, number>();
let refusesMail = false;
beforeAll(async () => {
  service = await startService(() => undefined);
  process.env['SHOP_URL'] = service.url;
});
afterAll(async () => {
  delete process.env['SHOP_URL'];
  await service.stop();
});
beforeEach(() => {
  charges = [];
  mails = new Map();
  refusesMail = false;
  service.answer = act;
});

const keyIn = ({ path = '' }: Asked): string => path.split('/')[2] ?? '';

/** Acts, and reports success. */
const act: Answer = (response, asked) => {
  const standing = charges.filter((entry) => entry.key === keyIn(asked) && !entry.undone);
  const key = String(asked.headers['idempotency-key']);
  const [first] = standing;
  if (asked.path === '/mails') {
    if (refusesMail) return gives(422)(response, asked);
    mails.set(key, (mails.get(key) ?? 0) + (mails.has(key) ? 0 : 1));
    return gives(200, JSON.stringify({ id: `mail for ${key}` }))(response, asked);
  }
  if (asked.method === 'POST') {
    const entry = { id: `charge-${charges.length}`, key, undone: false };
    charges.push(entry);
    return gives(201, JSON.stringify({ id: entry.id }))(response, asked);
  }
  if (asked.method === 'DELETE') for (const entry of standing) entry.undone = true;
  if (first === undefined) return gives(404)(response, asked);
  gives(200, JSON.stringify({ id: first.id }))(response, asked);
};

const charge = httpAgent('charge', {
  input: z.object({ amount: z.number() }),
  output: z.object({ chargeId: z.string() }),
  effect: 'probed',
  idempotencyKey: 'idempotency-key',
  execute: ({ input }) => ({
    method: 'POST',
    url: { env: 'SHOP_URL' },
    path: ['charges'],
    body: { amount: input.amount },
    output: ({ body }) => ({ chargeId: body('id') }),
  }),
  probe: ({ idempotencyKey }) => ({
    method: 'GET',
    url: { env: 'SHOP_URL' },
    path: ['charges', idempotencyKey],
    output: ({ body }) => ({ chargeId: body('id') }),
  }),
  undo: ({ idempotencyKey }) => ({
    method: 'DELETE',
    url: { env: 'SHOP_URL' },
    path: ['charges', idempotencyKey],
  }),
});

const mail = httpAgent('mail', {
  input: z.object({ orderId: z.string(), chargeId: z.string() }),
  output: z.object({ mailId: z.string() }),
  effect: 'idempotent',
  idempotencyKey: 'idempotency-key',
  execute: ({ input }) => ({
    method: 'POST',
    url: { env: 'SHOP_URL' },
    path: ['mails'],
    body: { order: input.orderId, charge: input.chargeId },
    output: ({ body }) => ({ mailId: body('id') }),
  }),
  undo: 'none',
});

const again = retry(30, { delay: '1s' });
const recovery = [again];
const order = workflow('order', { input: Order, within: '30d' }, (w) => {
  const paid = w.step('charge', charge, { amount: w.input.amount }, { recovery, retryUndo: again });
  const { orderId } = w.input;
  w.step('mail', mail, { orderId, chargeId: paid.output.chargeId }, { recovery });
  return { chargeId: paid.output.chargeId };
});

const input = { orderId: 'o-1', amount: 5 };
const effects = () => [
  ...charges.map(({ key, undone }) => ({ key, kind: 'charge', undone })),
  ...[...mails].map(([key]) => ({ key, kind: 'mail' })),
];

it('needs no handler in a test', async () => {
  const run = await testWorkflow(order, { agents: [] }).start(input);
  expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { chargeId: 'charge-0' } });
});

it('S6 S10 loses and doubles nothing when a process dies at any point', async () => {
  const report = await crashEverywhere(order, { input, agents: [], effects, slowest: '1s' });
  expect(report.findings).toEqual([]);
  expect(report.runs).toBeGreaterThan(30);
  expect(Object.keys(report.ends)).toEqual(['succeeded']);
});

it('S10 takes back what was done, also then', async () => {
  refusesMail = true;
  const report = await crashEverywhere(order, { input, agents: [], effects, slowest: '1s' });
  expect(report.findings).toEqual([]);
  expect(Object.keys(report.ends)).toEqual(['compensated']);
});

/** A seeded generator, so that failures are reproducible. */
const randomOf = (seed: number) => {
  let state = seed;
  return (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
};

const json = { 'content-type': 'application/json' };
/** Faults after the act: a wrong report, or none. */
const AFTER: readonly Answer[] = [
  (response) => response.destroy(),
  gives(500),
  gives(504, 'too slow', { 'retry-after': '1' }),
  gives(408),
  gives(202, '{}'),
  gives(303, '', { location: '/elsewhere' }),
  gives(409, '{"code":"in-use"}'),
];
/** A success whose body is none: an undo believes it, for it needs no body. */
const BODILESS: readonly Answer[] = [
  gives(200, '<html>', { 'content-type': 'text/html' }),
  (response) => {
    response.writeHead(201, { ...json, 'content-length': '50' });
    response.write('{"id":', () => response.destroy());
  },
];
/** Faults instead of the act. */
const INSTEAD: readonly Answer[] = [
  ...AFTER.filter((_, at) => at !== 4),
  gives(429, '', { 'retry-after': '2' }),
  gives(503, '', { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT', date: 'Wed, 21 Oct 2037 07:27:58 GMT' }),
  gives(425),
];
/** A response that is never sent, for work that is done but not reported. */
const unsaid = { writeHead: () => ({ end: () => undefined }) } as never;

it('S6 S10 loses and doubles nothing over a service that answers at random, while processes die', async () => {
  const wrong: string[] = [];
  let died = 0;
  const ends: Record<string, number> = {};
  for (let seed = 1; seed <= 150; seed += 1) {
    const random = randomOf(seed);
    charges = [];
    mails = new Map();
    refusesMail = seed % 3 === 0;
    service.answer = (response, asked) => {
      const luck = random(10);
      if (luck < 5) return act(response, asked);
      if (luck < 6) {
        const isMoved = asked.path?.startsWith('/moved') === true;
        return isMoved
          ? act(response, asked)
          : gives(307, '', { location: asked.path ?? '/' })(response, asked);
      }
      const isProbe = asked.method === 'GET';
      const isAfter = luck < 8 && !isProbe;
      // A probe would believe an answer of 202 or 404.
      const without = asked.method === 'DELETE' ? INSTEAD : [...INSTEAD, ...BODILESS];
      const some = isAfter ? [...AFTER, ...BODILESS] : without;
      if (isAfter) act(unsaid, asked);
      some[random(some.length)]?.(response, asked);
    };
    // On a busy machine an answer may take seconds; time that went on meanwhile would make it a late effect.
    const trial = testWorkflow(order, { agents: [], seed, patienceMs: 60_000 });
    for (let kills = random(9); kills > 0; kills -= 1)
      trial.kill(random(3) === 0 ? 'mail' : 'charge', {
        when: random(2) === 0 ? 'before' : 'after',
        on: (['execute', 'probe', 'undo'] as const)[random(3)] ?? 'execute',
      });
    const run: TestRun = await trial.start(input);
    const { status } = await run.waitForEnd();
    died += trial.calls().filter(({ outcome }) => outcome === 'open').length;
    ends[status] = (ends[status] ?? 0) + 1;
    const standing = charges.filter(({ undone }) => !undone).length;
    const expected = status === 'succeeded' ? 1 : 0;
    if (standing !== expected || charges.length > 1)
      wrong.push(`${seed}: ${status}, ${standing} of ${charges.length}`);
    if (status === 'succeeded' && mails.size !== 1) wrong.push(`${seed}: ${mails.size} mails`);
  }
  expect(wrong).toEqual([]);
  expect(ends).toEqual({ succeeded: 100, compensated: 50 });
  expect(died).toBeGreaterThan(50);
});
