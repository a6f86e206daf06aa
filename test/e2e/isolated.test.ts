/**
 * An agent whose code has its own process inside its function: the process's death is reported at once; that
 * of the whole function is noticed only after its timeout.
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { setSmallStack, type SmallStack } from './small-stack.ts';

let stack: SmallStack;
beforeAll(async () => {
  stack = await setSmallStack({ workflows: 'isolated', settings: { bulkActions: false } });
});
afterAll(() => stack?.strike());

const endOf = async (way: string): Promise<ExecutionView> =>
  stack.ended(await stack.begin('isolated', { way }));

const workOf = ({ steps: [work] }: ExecutionView) => work;

it.each(['dies', 'hangs'])(
  'one that %s is over within the lease and 15 s, and the next stage begins',
  async (way) => {
    const view = await endOf(way);
    expect(view.status).toBe('succeeded');
    const [first] = workOf(view)?.attempts ?? [];
    expect(first?.failure?.code).toBe('process-died');
    // Its function would have lived for a quarter of an hour.
    const { endedAt = Number.POSITIVE_INFINITY, startedAt } = view;
    expect(endedAt - startedAt).toBeLessThan(60_000);
  },
);

it('what it has accepted reaches its probe by the table, and its attempt was one', async () => {
  const view = await endOf('accepts');
  expect([view.status, workOf(view)?.attempt]).toEqual(['succeeded', 1]);
  expect(workOf(view)?.attempts.map(({ mode, outcome }) => `${mode} ${outcome}`)).toEqual([
    'execute accepted',
    'probe done',
  ]);
  expect(view.output).toEqual({ pid: expect.any(Number) as number });
});

it('its processes are used again, and serve a healthy step like any other', async () => {
  const all = [];
  for (let at = 0; at < 6; at += 1) all.push(await endOf('done'));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  // Each instance of the function has its own process, and a busy machine may start several.
  expect(new Set(all.map(({ output }) => JSON.stringify(output))).size).toBeLessThan(all.length);
});
