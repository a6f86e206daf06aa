/** The contract of every queue: each message arrives. It may be late, repeated and out of order. */

import type { Queue } from '../../lib/core/ports.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import { type Message, parseMessage } from '../../lib/core/decisions/message.ts';

export interface QueueUnderTest {
  /** Has the agents 'worker' and 'other'. */
  readonly queue: Queue;
  /** Everything that is visible now, as text. */
  readonly receiveAll: (agent: string) => Promise<string[]>;
  /** Moves the queue's clock. */
  readonly advance: (ms: number) => void;
  readonly close: () => Promise<void>;
}

const message = (at: number, changes: Partial<Message> = {}): Message => ({
  v: 1,
  execution: `e-${at}`,
  step: 'a',
  attempt: 1,
  mode: 'execute',
  seq: 0,
  ...changes,
});
const send = (at: number, changes: Partial<Send> = {}): Send => ({
  agent: 'worker',
  message: message(at),
  delayMs: 0,
  ...changes,
});

export function describeQueue(title: string, open: () => Promise<QueueUnderTest>): void {
  describe(`queue contract: ${title}`, () => {
    let under: QueueUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(async () => {
      await under.close();
    });
    const received = async (agent = 'worker'): Promise<string[]> =>
      (await under.receiveAll(agent)).map((text) => {
        const parsed = parseMessage(text);
        return typeof parsed === 'object' ? parsed.execution : `not a message: ${text}`;
      });

    it('delivers a message as it was sent', async () => {
      const sent = message(1, { attempt: 3, mode: 'undo', seq: 12, step: 'charge-card' });
      await under.queue.send([{ agent: 'worker', message: sent, delayMs: 0 }]);
      expect((await under.receiveAll('worker')).map(parseMessage)).toEqual([sent]);
    });

    it('without messages does nothing', async () => {
      await under.queue.send([]);
      expect(await received()).toEqual([]);
    });

    it.each([2, 10, 11, 35])('delivers all of %i messages, each once', async (count) => {
      await under.queue.send(Array.from({ length: count }, (_, at) => send(at)));
      const found = await received();
      expect([...found].sort()).toEqual(Array.from({ length: count }, (_, at) => `e-${at}`).sort());
    });

    it('delivers to every agent what is its own', async () => {
      await under.queue.send([send(1), send(2, { agent: 'other' }), send(3), send(4, { agent: 'other' })]);
      expect((await received('worker')).sort()).toEqual(['e-1', 'e-3']);
      expect((await received('other')).sort()).toEqual(['e-2', 'e-4']);
    });

    it('delivers a delayed message when its delay is over, and not before', async () => {
      await under.queue.send([send(1, { delayMs: 1_500 }), send(2), send(3, { delayMs: 900_000 })]);
      expect(await received()).toEqual(['e-2']);
      under.advance(1_499);
      expect(await received()).toEqual([]);
      // Rounded up to whole seconds, because an early message is useless.
      under.advance(501);
      expect(await received()).toEqual(['e-1']);
      under.advance(900_000 - 2_000 - 1);
      expect(await received()).toEqual([]);
      under.advance(1);
      expect(await received()).toEqual(['e-3']);
    });
  });
}
