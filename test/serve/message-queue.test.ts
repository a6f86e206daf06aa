/** The queue in memory: concurrency limit, delays, redelivery of messages that are given back. */

import { setImmediate } from 'node:timers/promises';
import type { Send } from '../../lib/core/decisions/decision.ts';
import { MessageQueue } from '../../serve/message-queue.ts';

const sendOf = (step: string, delayMs = 0): Send => ({
  agent: 'pack',
  delayMs,
  message: { v: 1, execution: 'e-1', step, attempt: 1, mode: 'execute', seq: 1 },
});

/** A queue with two places; each message is in progress until the test calls its end. */
function twoAtATime() {
  const queue = new MessageQueue();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  queue.serve('pack', 2, ({ step }) => {
    begun.push(step);
    return new Promise((end) => ends.push(() => end('handled')));
  });
  return { queue, begun, ends };
}

it('works on so many at the same time, in their order', async () => {
  const { queue, begun, ends } = twoAtATime();
  await queue.send(['a', 'b', 'c', 'd', 'e'].map((step) => sendOf(step)));
  expect(begun).toEqual(['a', 'b']);
  expect(await queue.depths(['pack', 'other'])).toEqual({ pack: { waiting: 3, underWork: 2, delayed: 0 } });
  ends[1]?.();
  await setImmediate();
  expect(begun).toEqual(['a', 'b', 'c']);
});

it('lets several groups take turns', async () => {
  const { queue, begun, ends } = twoAtATime();
  await queue.send(['a1', 'a2', 'a3', 'a4'].map((step) => ({ ...sendOf(step), group: 'a' })));
  await queue.send([{ ...sendOf('b1'), group: 'b' }, sendOf('x')]);
  for (const end of ends.splice(0)) end();
  await setImmediate();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  for (const end of ends.splice(0)) end();
  await setImmediate();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'x', 'a4']);
});

it('has messages without a group share one turn', async () => {
  const { queue, begun, ends } = twoAtATime();
  await queue.send(['x1', 'x2', 'x3', 'x4'].map((step) => sendOf(step)));
  await queue.send([{ ...sendOf('b1'), group: 'b' }]);
  ends.shift()?.();
  await setImmediate();
  expect(begun).toEqual(['x1', 'x2', 'b1']);
});

it('refuses a message to nobody, and knows whom it reaches', async () => {
  const queue = new MessageQueue();
  queue.serve('pack', 1, async () => 'handled');
  expect([queue.reaches('pack'), queue.reaches('send')]).toEqual([true, false]);
  await expect(queue.send([{ ...sendOf('a'), agent: 'send' }])).rejects.toThrow("no agent 'send'");
});

it('delivers nothing more once it is stopped, and is idle when the rest is over', async () => {
  const queue = new MessageQueue();
  const begun: string[] = [];
  let end = (): void => undefined;
  queue.serve('pack', 1, ({ step }) => {
    begun.push(step);
    return new Promise((over) => {
      end = () => over('give-back');
    });
  });
  await queue.send([sendOf('a'), sendOf('b'), sendOf('c', 60_000)]);
  queue.stop();
  const idle = queue.idle();
  end();
  await idle;
  expect(begun).toEqual(['a']);
});
