/** Each command of docs/ON-CALL.md, run exactly as written, answers its question. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { meetMissing, onCall, type OnCall } from '../browser/on-call-world.ts';
import { type Ran, steadfast } from './fake-api.ts';
import { entry } from './logs/lines.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'ON-CALL.md'), 'utf8');
const commandOf = (question: number): string =>
  new RegExp(`^\\| ${question} \\|.*\\| \`npx steadfast ([^\`]+)\` \\|$`, 'm').exec(DOCUMENT)?.[1] ?? '';

let world: OnCall;
let data: string;
let real: typeof fetch;
beforeAll(async () => {
  world = await onCall();
  data = mkdtempSync(join(tmpdir(), 'steadfast-on-call-'));
  real = globalThis.fetch;
  globalThis.fetch = world.api.fetch;
});
afterAll(() => {
  globalThis.fetch = real;
  rmSync(data, { recursive: true });
});

/** @param given replaces the words of the table, or follows them */
async function answer(
  question: number,
  given: { readonly id?: string; readonly more?: readonly string[] } = {},
): Promise<Ran> {
  const { id = '', more = [] } = given;
  const words = commandOf(question).replace('<id>', id).replace('order-fulfilment', 'order').split(' ');
  return steadfast([...words, ...more, '--url', 'http://127.0.0.1:4510']);
}
const said = async (question: number, given?: Parameters<typeof answer>[1]): Promise<string> => {
  const { out, err } = await answer(question, given);
  expect(err).toBe('');
  return out;
};
/** A pattern of a line that begins with the first part and contains the others in order. */
const line = (...parts: readonly string[]): RegExp => new RegExp(`^${parts.join('.*')}`, 'm');

it('1 is it healthy', async () => {
  expect(await answer(1)).toMatchObject({
    exitCode: 5,
    out: expect.stringMatching(
      line('health', "degraded: Agent 'mailer' has been failing since .*; nothing waits for it"),
    ),
  });
});

it('2 which orders failed since nine, by cause', async () => {
  const out = await said(2);
  for (const id of world.declined) expect(out).toMatch(line(id, 'failed', 'card-declined'));
  expect(out).toMatch(line('By cause: 3 card-declined, 1 canceled'));
});

it('3 everything with card-declined', async () => {
  const out = await said(3);
  for (const id of world.declined) expect(out).toMatch(line(id));
  expect(out).not.toContain(world.ids['4712']);
});

it('4 where is order 4711', async () => {
  expect(await said(4)).toMatch(line(world.ids['4711'], '(waiting|running)'));
});

it('5 what waits for me, until when, what happens if I do nothing', async () => {
  const out = await said(5);
  const [, row = ''] = /^(.*approval +release.*)$/m.exec(out) ?? [];
  expect(row).toMatch(/in \d+ min|in 1 h/);
  expect(row).toMatch(/approve/);
});

it('6 approve it; who approved that one', async () => {
  const id = world.ids['4714'];
  expect(await said(6, { id })).toMatch(line(`${id}  release approved by local:ann`));
  await world.run(id);
  const again = await answer(6, { id });
  expect(again.err).toMatch(/'release' cannot be answered now: it is done since .*, answered by local:ann/);
});

it('7 why is this one slow', async () => {
  const out = await said(7, { id: world.ids['4713'] });
  expect(out).toContain('STEP  UNKNOWN  PROBED\nship  4 s      2 s\n');
});

it('8 is its outcome known, what proves it', async () => {
  const { past } = JSON.parse(await said(8, { id: world.ids['4713'] })) as {
    past: { step?: string; what: string; evidence: object }[];
  };
  const ofShip = past.filter(({ step }) => step === 'ship');
  expect(ofShip.map(({ what }) => what)).toEqual([
    expect.stringMatching(/unknown outcome/),
    expect.stringMatching(/^probe/),
  ]);
  expect(ofShip.at(-1)?.evidence).toMatchObject({ outcome: 'done' });
});

it('9 what happens next, when', async () => {
  expect(await said(9, { id: world.ids['4711'] })).toMatch(line('next: ', 'within \\d+ (min|h)'));
});

it('10 which agent is dead, since when', async () => {
  await meetMissing(world, 600_000);
  const out = await said(10);
  await meetMissing(world, undefined);
  expect(out).toMatch(line('mailer', 'open for (29|30) min'));
  expect(out).toMatch(
    /No agent 'gift-wrap' is deployed: 2 executions wait for it now, the first since .*Z \((9|10) min .*\)\./,
  );
});

it('11 what stands of this failed one', async () => {
  expect(await said(11, { id: world.ids['4712'] })).toMatch(line('in effect', 'charge, ship'));
});

it('12 retry these and not those', async () => {
  world.card.declined = false;
  expect(await said(12, { more: ['--dry-run'] })).toMatch(line('To retry: 3 executions'));
  const out = await said(12, { more: ['--yes'] });
  const [, bulk = ''] = /Stop it: .* pause ([0-9a-f]{32})/.exec(out) ?? [];
  await world.run(bulk);
  expect(await said(12, { more: ['--dry-run'] })).toMatch(line('No execution matches for retry'));
  for (const id of world.declined) expect((await world.view(id)).status).not.toBe('failed');
  expect((await world.view(world.ids['4712'])).status).toBe('failed');
});

it('13 stop all starts of this workflow', async () => {
  expect(await said(13)).toMatch(line('order  paused for', 'local:ann'));
  world.clock.advanceTo(world.clock.now() + 60_000);
  expect((await world.begin({ orderId: '6000' })).status).toBe('paused');
});

it('14 stop calling this service', async () => {
  expect(await said(14)).toMatch(line('charge-card', 'paused for', 'local:ann'));
  await world.post('/agents/charge-card/resume', {});
});

it('15 since when a service fails, how many messages wait for it, what it answered last', async () => {
  expect(await said(15)).toMatch(line('mailer', 'open for (29|30) min', 'ago: socket hang up'));
});

it('16 which attempt used which input and agent', async () => {
  expect(await said(16, { id: world.ids['4711'] })).toMatch(line('.*charge', 'charge-card', '{"amount":42}'));
});

it('17 its log lines', async () => {
  const folder = join(data, 'cloud', 'logs');
  mkdirSync(folder, { recursive: true });
  const id = world.ids['4712'];
  writeFileSync(
    join(folder, 'Pay.log'),
    `${entry(100, 'charged', { executionId: id, correlation_id: id })}\n`,
  );
  expect(await said(17, { id, more: ['--data', data] })).toMatch(line('.*charge-card', 'charged'));
});

it('18 which executions run the old plan', async () => {
  const out = await said(18);
  expect(out).toMatch(line(world.ids.old, 'order'));
  expect(out.trim().split('\n')).toHaveLength(2);
});

it('19 is the supervisor alive', async () => {
  expect(await said(19)).toMatch(line('SHARD  OVERDUE  LAST RECEIPT'));
});
