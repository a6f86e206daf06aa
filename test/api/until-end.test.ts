/**
 * How a client waits for the end of an execution: one long wait, then reads at growing, randomized intervals.
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { retryAfterOf } from '../../lib/api/api-error.ts';
import type { WaitForEndOptions } from '../../lib/api/call-options.ts';
import { endOf } from '../../lib/api/until-end.ts';

const view = (status: string, more: object = {}): ExecutionView => ({ status, ...more }) as ExecutionView;
const running = view('running');

/** @param answers one for each call; the last is repeated */
async function asked(
  answers: readonly (ExecutionView | Error)[],
  random = 0.5,
  wait: WaitForEndOptions = {},
) {
  const asks: unknown[] = [];
  const slept: number[] = [];
  const get = async (_id: string, options?: { readonly wait?: string }): Promise<ExecutionView> => {
    const answer = answers[Math.min(asks.length, answers.length - 1)]!;
    asks.push(options?.wait);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  let now = 0;
  const sleep = async (ms: number): Promise<void> => {
    slept.push(Math.round(ms));
    now += ms;
  };
  const end = await endOf(get, 'e1', wait, { sleep, random: () => random, now: () => now });
  return { end: end.status, asks, slept };
}
const times = (count: number): ExecutionView[] => Array.from({ length: count }, () => running);

it('has the API wait once, and asks ever more seldom, up to five seconds', async () => {
  const { end, asks, slept } = await asked([...times(11), view('succeeded')]);
  expect(end).toBe('succeeded');
  expect(asks).toEqual(['1s', ...times(11).map(() => undefined)]);
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

it.each<[string, ApiError]>([
  ['a restart', new ApiError('no-answer', 'the connection was refused')],
  ['a gateway before it', new ApiError('unavailable', 'Bad Gateway', { status: 502 })],
  ['writes that are not kept', new ApiError('not-kept', 'the disk is full', { status: 503 })],
  ['a fault of its own', new ApiError('internal', 'try it again', { status: 500 })],
])('%s is outlasted, however long it takes', async (_, error) => {
  const { end, slept } = await asked([
    running,
    ...Array.from({ length: 2_000 }, () => error),
    view('succeeded'),
  ]);
  expect([end, slept.at(-1)]).toEqual(['succeeded', 5_000]);
});

it('a gateway that takes no more calls is asked after the time that it wants', async () => {
  const busy = new ApiError('too-many-calls', 'later', { status: 429, retryAfterMs: 7_000 });
  const { end, slept } = await asked([running, busy, busy, view('succeeded')]);
  expect([end, slept]).toEqual(['succeeded', [250, 7_375, 7_563]]);
});

it.each(['forbidden', 'not-steadfast', 'unknown-execution', 'no-credentials', 'bad-url'])(
  'what asking again cannot help ends it: %s',
  async (code) => {
    const asking = asked([running, new ApiError(code, 'no')]);
    await expect(asking).rejects.toMatchObject({ code });
  },
);

it('the caller’s own deadline ends it, by time or by a signal', async () => {
  const away = new ApiError('no-answer', 'the connection was refused');
  await expect(asked([running, away], 0.5, { timeoutMs: 60_000 })).rejects.toMatchObject({
    code: 'timeout',
    message: "execution e1 has not ended within 60000 ms; it goes on: wait for it again, or ask 'why'",
  });
  const over = new AbortController();
  const reason = new Error('the caller goes home');
  over.abort(reason);
  await expect(asked([running], 0.5, { signal: over.signal })).rejects.toBe(reason);
});

it.each([
  ['7', 7_000],
  ['Thu, 01 Jan 1970 00:00:09 GMT', 8_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', undefined],
  [null, undefined],
])('a gateway asks to wait: %s', (header, ms) => {
  expect(retryAfterOf(header, 1_000)).toBe(ms);
});
