/**
 * How a client waits for the end of an execution: one wait, then ever more seldom, at
 * times that no two callers share.
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { endOf } from '../../lib/api/until-end.ts';

const view = (status: string, more: object = {}): ExecutionView => ({ status, ...more }) as ExecutionView;
const running = view('running');

/** @param answers one each; the last again and again */
async function asked(answers: readonly (ExecutionView | Error)[], random = 0.5) {
  const asks: unknown[] = [];
  const slept: number[] = [];
  const get = async (_id: string, options?: { readonly waitMs?: number }): Promise<ExecutionView> => {
    const answer = answers[Math.min(asks.length, answers.length - 1)]!;
    asks.push(options?.waitMs);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const sleep = async (ms: number): Promise<void> => {
    slept.push(Math.round(ms));
  };
  const end = await endOf(get, 'e1', { sleep, random: () => random });
  return { end: end.status, asks, slept };
}
const times = (count: number): ExecutionView[] => Array.from({ length: count }, () => running);

it('has the API wait once, and asks ever more seldom, up to five seconds', async () => {
  const { end, asks, slept } = await asked([...times(11), view('succeeded')]);
  expect(end).toBe('succeeded');
  expect(asks).toEqual([1_000, ...times(11).map(() => undefined)]);
  expect(slept).toEqual([250, 375, 563, 844, 1_266, 1_898, 2_848, 4_271, 5_000, 5_000, 5_000]);
});

it.each([
  [0, [125, 188]],
  [0.999_9, [375, 562]],
])('with jitter of half of it (%d)', async (random, slept) => {
  expect((await asked([...times(2), view('failed')], random)).slept).toEqual(slept);
});

it('what has changed is asked about soon again', async () => {
  const moved = view('running', { steps: ['b'] });
  expect((await asked([...times(3), moved, moved, view('canceled')])).slept).toEqual([
    250, 375, 563, 250, 375,
  ]);
});

it('an API that has too much to do is asked later, also at first; any other failure is the caller’s', async () => {
  const busy = new ApiError('unavailable', 'try again in a moment');
  const { end, slept } = await asked([busy, busy, running, view('succeeded')]);
  expect([end, slept]).toEqual(['succeeded', [375, 563, 250]]);
  await expect(asked([new ApiError('forbidden', 'no')])).rejects.toMatchObject({ code: 'forbidden' });
});
