/**
 * How functions get events: batches, windows and concurrency limits of a mapping; retries of asynchronous
 * invocations.
 */
import { endOfWork } from '../../local/cloud.ts';
import { AsyncInvoker } from '../../local/lambda/async-invoke.ts';
import { type BatchTarget, EventSource, type MappingAccess } from '../../local/lambda/event-source.ts';
import type { InvocationResult } from '../../local/lambda/function-process.ts';
import { noJournal } from '../../local/sqs/journal.ts';
import { Queue } from '../../local/sqs/queue.ts';
import type { FunctionSpec } from '../../local/template/stack-model.ts';
import { ManualClock } from './manual-clock.ts';

const QUEUE = {
  queueName: 'work',
  arn: 'arn:aws:sqs:us-east-1:0:work',
  visibilityTimeoutMs: 30_000,
  delayMs: 0,
  retentionMs: 345_600_000,
  receiveWaitMs: 0,
  maxMessageBytes: 1000,
};
const done: InvocationResult = { ok: true, payload: 'null' };
const failed: InvocationResult = { ok: false, kind: 'error', error: { errorType: 'E', errorMessage: 'no' } };

/** A function with a number of slots, whose answers the test gives. */
class Target implements BatchTarget {
  freeSlots: number;
  readonly events: string[][] = [];
  readonly #answers: ((result: InvocationResult) => void)[] = [];
  readonly #listeners: (() => void)[] = [];

  constructor(slots: number) {
    this.freeSlots = slots;
  }

  onFree(listener: () => void): () => void {
    this.#listeners.push(listener);
    return () => this.#listeners.splice(0);
  }

  async invoke(event: string): Promise<InvocationResult> {
    this.freeSlots -= 1;
    const { Records } = JSON.parse(event) as { Records: { body: string }[] };
    this.events.push(Records.map((record) => record.body));
    return await new Promise((resolve) => this.#answers.push(resolve));
  }

  /** Ends the oldest invocation. */
  async answer(result: InvocationResult): Promise<void> {
    this.freeSlots += 1;
    this.#answers.shift()?.(result);
    for (const listener of this.#listeners) listener();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function mapped(
  slots: number,
  settings: { batchSize: number; windowMs?: number; maximumConcurrency?: number },
  mayDo?: MappingAccess,
) {
  const clock = new ManualClock();
  const queue = new Queue(QUEUE, clock, noJournal);
  const target = new Target(slots);
  const spec = {
    logicalId: 'M',
    queueArn: QUEUE.arn,
    functionName: 'f',
    windowMs: 0,
    maximumConcurrency: undefined,
    reportsItemFailures: true,
    enabled: true,
    ...settings,
  };
  const source = new EventSource(spec, queue, target, clock, mayDo);
  source.start();
  const send = (...bodies: string[]) => {
    for (const body of bodies) queue.send({ body });
  };
  return { clock, queue, target, source, send };
}

test('a message is dispatched in the moment of its sending; more wait for a free slot, unreceived', async () => {
  const { target, queue, send } = mapped(1, { batchSize: 2 });
  send('a', 'b', 'c', 'd');
  expect(target.events).toEqual([['a']]);
  expect(queue.counts()).toEqual({ visible: 3, inFlight: 1, delayed: 0 });
  await target.answer(done);
  expect(target.events).toEqual([['a'], ['b', 'c']]);
  await target.answer(done);
  await target.answer(done);
  expect(target.events).toEqual([['a'], ['b', 'c'], ['d']]);
  expect(queue.peek()).toEqual([]);
});

test('the maximum concurrency holds although the function has more slots', async () => {
  const { target, send } = mapped(5, { batchSize: 1, maximumConcurrency: 2 });
  send('a', 'b', 'c');
  expect(target.events).toEqual([['a'], ['b']]);
  await target.answer(done);
  expect(target.events).toEqual([['a'], ['b'], ['c']]);
});

test('a window collects until it ends or the batch is full', async () => {
  const { target, clock, send } = mapped(5, { batchSize: 3, windowMs: 2000 });
  send('a', 'b');
  clock.advance(1999);
  expect(target.events).toEqual([]);
  clock.advance(1);
  expect(target.events).toEqual([['a', 'b']]);
  send('c', 'd', 'e', 'f');
  expect(target.events).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
  clock.advance(2000);
  expect(target.events.at(-1)).toEqual(['f']);
});

test('a failed batch comes back when its visibility ends, an orderly stop gives it back at once', async () => {
  const { target, clock, queue, source, send } = mapped(5, { batchSize: 2 });
  send('a');
  await target.answer(failed);
  expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
  clock.advance(30_000);
  await Promise.resolve();
  expect(target.events).toEqual([['a'], ['a']]);
  source.stop();
  source.giveBack();
  expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  expect(target.events).toHaveLength(2);
});

test.each([
  [
    'sqs:GetQueueAttributes',
    { events: 0, asked: ['sqs:GetQueueAttributes'], left: { visible: 1, inFlight: 0 } },
  ],
  [
    'sqs:ReceiveMessage',
    { events: 0, asked: ['sqs:GetQueueAttributes', 'sqs:ReceiveMessage'], left: { visible: 1, inFlight: 0 } },
  ],
  [
    'sqs:DeleteMessage',
    {
      events: 1,
      asked: ['sqs:GetQueueAttributes', 'sqs:ReceiveMessage', 'sqs:DeleteMessage'],
      left: { visible: 0, inFlight: 1 },
    },
  ],
])('a mapping whose role may not %s does not do it', async (forbidden, { events, asked, left }) => {
  const actions: string[] = [];
  const { target, queue, send } = mapped(1, { batchSize: 1 }, (action) => {
    actions.push(action);
    return action !== forbidden;
  });
  send('a');
  await target.answer(done);
  expect(target.events).toHaveLength(events);
  expect([...new Set(actions)]).toEqual(asked);
  expect(queue.counts()).toMatchObject(left);
});

describe('an asynchronous invocation', () => {
  const spec = { functionName: 'f', asyncRetries: 2, asyncMaxAgeMs: 21_600_000 } as FunctionSpec;

  test('is tried again after one and two minutes, then given up aloud', async () => {
    const clock = new ManualClock();
    const problems: string[] = [];
    const ids = new Set<string>();
    let tries = 0;
    const target = {
      spec,
      invoke: async (_event: string, requestId = '') => {
        tries += 1;
        ids.add(requestId);
        return failed;
      },
    };
    await new AsyncInvoker(clock, (message) => problems.push(message)).invoke(target, '{}');
    const step = async (ms: number) => {
      clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
      return tries;
    };
    expect([await step(59_999), await step(1), await step(119_999), await step(1)]).toEqual([1, 2, 2, 3]);
    expect(await step(86_400_000)).toBe(3);
    expect(ids.size).toBe(1);
    expect(problems).toEqual(['f: an asynchronous event failed for good: no']);
  });

  test('is given up when it would be too old', async () => {
    const problems: string[] = [];
    const target = { spec: { ...spec, asyncMaxAgeMs: 60_000 - 1 }, invoke: async () => failed };
    await new AsyncInvoker(new ManualClock(), (message) => problems.push(message)).invoke(target, '{}');
    expect(problems).toHaveLength(1);
  });

  test("is not reported as given up when the cloud's own end cuts it", async () => {
    const problems: string[] = [];
    const sender = new AsyncInvoker(new ManualClock(), (message) => problems.push(message));
    let end: (result: InvocationResult) => void = () => undefined;
    const local = {
      spec: { ...spec, asyncRetries: 0 },
      invoke: async () => await new Promise<InvocationResult>((resolve) => (end = resolve)),
      stop: async () => end(failed),
    };
    const invoked = sender.invoke(local, '{}');
    for (const undo of endOfWork([local], [], [sender]).toReversed()) await undo();
    await invoked;
    expect(problems).toEqual([]);
  });
});
