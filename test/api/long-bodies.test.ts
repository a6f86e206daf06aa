/** Parsing a long body gives other requests turns on the event loop in between. */

import { setImmediate } from 'node:timers/promises';
import { issuesInParts } from '../../lib/engine/check-in-parts.ts';
import { memoryValues } from '../../lib/memory/world.ts';
import { client } from './app.ts';

// Both are as in `serve`.
const ports = { issuesInParts, largeValues: memoryValues() };
const { post } = client(undefined, (world) => ({ ...world, ...ports }));
/** Makes a body with this many numbers, besides five values and three different keys. */
const bodyOf = (numbers: number): string => `{"input":{"orderId":"o","note":[${'17,'.repeat(numbers)}1]}}`;
const keysOf = (keys: number): string =>
  `{"input":{"orderId":"o","note":{${Array.from({ length: keys }, (_, at) => `"k${at}":1`).join(',')}}}}`;
const started = (text: string, to = post) => to('/workflows/flow/executions', text);
/** Counts the turns that other work had meanwhile. */
async function turnsOf(text: string, expected = 202, to = post): Promise<number> {
  const over = new AbortController();
  const answer = started(text, to).finally(() => over.abort());
  let turns = 0;
  for (; !over.signal.aborted; turns += 1) await setImmediate();
  expect((await answer).status).toBe(expected);
  return turns;
}

it('gives others their turn before a long one is parsed, checked and taken', async () => {
  const short = await turnsOf(bodyOf(10));
  expect(await turnsOf(bodyOf(50_000))).toBeGreaterThanOrEqual(short + 4);
});

it('gives others their turn where a list of unions has many that do not fit', async () => {
  const unions = `{"input":{"orderId":"o","choices":[${'{},'.repeat(20_000)}{}]}}`;
  expect(await turnsOf(unions, 400)).toBeGreaterThanOrEqual(40);
  // A function of AWS has no port for that: it checks them in one go.
  const { post: toOne } = client(undefined, (world) => ({ ...world, largeValues: memoryValues() }));
  expect(await turnsOf(unions, 400, toOne)).toBeLessThan(20);
});

/** The texts are incomplete JSON, so the code shows whether they were refused before parsing. */
it.each([
  ['too many values', bodyOf(99_996), 'more than 100000 values (keys and elements, all levels together)'],
  ['too many different keys', keysOf(11_998), 'more than 12000 different keys'],
])('is refused before it is parsed where it has %s', async (_, text, why) => {
  const { status, body } = await started(text.slice(0, -1));
  const message = `the body has ${why}; at most ${/\d+/.exec(why)?.[0]} are allowed`;
  expect([status, body]).toMatchObject([413, { error: { code: 'too-many-values', message } }]);
});

it('is taken with as many values, or keys, as are allowed', async () => {
  for (const text of [bodyOf(99_995), keysOf(11_997)]) expect((await started(text)).status).toBe(202);
});

it('says how many parts do not fit, and puts only the first into words', async () => {
  const { status, body } = await started(`{"input":{"orderId":"o","items":[${'17,'.repeat(50_000)}1]}}`);
  expect([status, body]).toMatchObject([400, { error: { details: { issueCount: 50_001 } } }]);
  expect((body as { error: { details: { issues: unknown } } }).error.details.issues).toHaveLength(20);
});
