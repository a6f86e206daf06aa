/**
 * Work outside the agent's process: how long it may continue, and which answers of a probe count after it was
 * cut off.
 */

import { type AttemptContext, PROCESS_TIME_LEFT_MS } from '../../lib/core/plan/agent.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { StillActingError, TransientError } from '../../lib/core/values/errors.ts';
import { anAgent, anyObject, harness, PROCESS_MS } from '../engine/harness.ts';

const TIMEOUT_MS = 20_000;
const SETTLE_MS = 5_000;
const carrier = anAgent('carrier', { effect: 'probed', timeout: '20s', lateEffectWithin: '5s' });
const shipping = (within?: string) =>
  workflow('shipping', { input: anyObject, within: '1h' }, (w) => {
    w.step('ship', carrier, {}, { recovery: [retry(1)], ...(within === undefined ? {} : { within }) });
  });
const undo = async (): Promise<void> => undefined;
const notDone = async () => ({ verdict: 'not-done' }) as const;

it.each([undefined, '25s'])(
  'an attempt is told when its time is over, of a step with within: %s',
  async (within) => {
    const timesLeft: (readonly [overAt: number, at: number])[] = [];
    const execute = async (ctx: AttemptContext): Promise<object> => {
      timesLeft.push([h.clock.now() + ctx.timeLeftMs(), h.clock.now()]);
      if (timesLeft.length > 1) return {};
      await h.clock.sleep(10_000);
      expect(ctx.timeLeftMs()).toBe(TIMEOUT_MS - 10_000);
      const { [PROCESS_TIME_LEFT_MS]: leftMs } = ctx as { readonly [PROCESS_TIME_LEFT_MS]?: () => number };
      expect(leftMs?.()).toBe(PROCESS_MS - 10_000);
      throw new TransientError('busy');
    };
    const h = harness(shipping(within), { carrier: { execute, probe: notDone, undo } });
    const startedAt = h.clock.now();
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('succeeded');
    const [first, second] = timesLeft;
    expect(first![0]).toBe(first![1] + TIMEOUT_MS);
    // The second attempt begins when ten seconds of the step's own time have passed.
    expect(second![0]).toBe(within === undefined ? second![1] + TIMEOUT_MS : startedAt + 25_000);
  },
);

it.each([
  ['of code that is over is believed after settle', new Error('reset'), SETTLE_MS],
  [
    'of work that may go on only when its process must be dead',
    new StillActingError('reset', 'reset'),
    PROCESS_MS,
  ],
])('“not done” %s', async (_, thrown, leastMs) => {
  const executedAt: number[] = [];
  const execute = async (): Promise<object> => {
    executedAt.push(h.clock.now());
    if (executedAt.length === 1) throw thrown;
    return {};
  };
  const h = harness(shipping(), { carrier: { execute, probe: notDone, undo } });
  const { id } = await h.begin();
  const { execution, steps } = await h.run(id);
  expect(execution.status).toBe('succeeded');
  expect(steps['ship']?.attempts[0]).toMatchObject({ outcome: 'unknown', failure: { message: 'reset' } });
  const afterMs = executedAt[1]! - executedAt[0]!;
  expect(afterMs).toBeGreaterThanOrEqual(leastMs);
  expect(afterMs).toBeLessThan(leastMs + 2 * SETTLE_MS);
});
