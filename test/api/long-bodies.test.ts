/** A long body blocks the loop for others only for a part of the time that its work takes. */

import { setImmediate } from 'node:timers/promises';
import { memoryValues } from '../../lib/memory/world.ts';
import { client } from './app.ts';

const { post } = client(undefined, (world) => ({ ...world, largeValues: memoryValues() }));
const bodyOf = (numbers: number): string => `{"input":{"orderId":"o","note":[${'17,'.repeat(numbers)}1]}}`;
const started = (text: string) => post('/workflows/flow/executions', text);
/** How often others had a turn meanwhile. */
async function turnsOf(text: string): Promise<number> {
  const over = new AbortController();
  const answer = started(text).finally(() => over.abort());
  let turns = 0;
  for (; !over.signal.aborted; turns += 1) await setImmediate();
  expect((await answer).status).toBe(202);
  return turns;
}

it('gives others their turn before a long one is parsed, checked and taken', async () => {
  const short = await turnsOf(bodyOf(10));
  expect(await turnsOf(bodyOf(100_000))).toBeGreaterThanOrEqual(short + 4);
});

it('is refused before it is parsed where it has too many values', async () => {
  // If it were parsed, it would not be valid JSON.
  const { status, body } = await started(bodyOf(200_000).slice(0, -1));
  expect([status, body]).toMatchObject([
    400,
    { error: { code: 'bad-json', message: 'the body is not acceptable: more than 200000 values' } },
  ]);
});
