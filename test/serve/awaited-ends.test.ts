/** Callers that wait for the end of executions: however many there are, others have their turn. */

import { setImmediate } from 'node:timers/promises';
import { AwaitedEnds } from '../../serve/awaited-ends.ts';

it('lets ten thousand callers go on in many turns, in the order in which they came', async () => {
  const ends = new AwaitedEnds();
  const gone: number[] = [];
  for (let at = 0; at < 10_000; at += 1)
    void ends
      .of('e')
      .turn()
      .then(() => gone.push(at));
  let turns = 0;
  for (; gone.length < 10_000; turns += 1) await setImmediate();
  expect(turns).toBeGreaterThan(100);
  expect(gone).toEqual(gone.toSorted((one, other) => one - other));
});
