import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueHeap } from '../../local/sqs/due-heap.ts';
import { FileJournal, noJournal } from '../../local/sqs/journal.ts';
import { Queue } from '../../local/sqs/queue.ts';
import { ManualClock } from './manual-clock.ts';

const settings = {
  queueName: 'work',
  arn: 'arn:aws:sqs:us-east-1:0:work',
  visibilityTimeoutMs: 30_000,
  delayMs: 0,
  retentionMs: 100_000,
  receiveWaitMs: 0,
  maxMessageBytes: 1000,
};

describe('messages of several groups', () => {
  const bodies = (queue: Queue, max: number): string[] =>
    queue.receiveNow(max).map(({ message }) => message.body);

  test('take turns: the next is of the group with the fewest in flight, then the one that waits longest', () => {
    const queue = new Queue(settings, new ManualClock(), noJournal);
    for (let at = 1; at <= 4; at += 1) queue.send({ body: `a${at}`, group: 'a' });
    queue.send({ body: 'b1', group: 'b' });
    queue.send({ body: 'b2', group: 'b' });
    expect(bodies(queue, 4)).toEqual(['a1', 'b1', 'a2', 'b2']);
    queue.send({ body: 'c1', group: 'c' });
    expect(bodies(queue, 2)).toEqual(['c1', 'a3']);
  });

  test('without a group each is its own, in the order of sending', () => {
    const queue = new Queue(settings, new ManualClock(), noJournal);
    queue.send({ body: 'a1', group: 'a' });
    queue.send({ body: 'a2', group: 'a' });
    queue.send({ body: 'x' });
    queue.send({ body: 'y' });
    expect(bodies(queue, 4)).toEqual(['a1', 'x', 'y', 'a2']);
  });

  test('count as long as they are in flight: until they are deleted, or visible again', () => {
    const clock = new ManualClock();
    const queue = new Queue(settings, clock, noJournal);
    for (const body of ['a1', 'a2', 'a3']) queue.send({ body, group: 'a' });
    const [first, second] = queue.receiveNow(2);
    queue.send({ body: 'b1', group: 'b' });
    queue.send({ body: 'b2', group: 'b' });
    queue.delete(first?.receiptHandle ?? '');
    queue.changeVisibility(second?.receiptHandle ?? '', 60_000);
    expect(bodies(queue, 3)).toEqual(['b1', 'a3', 'b2']);
    clock.advance(60_000);
    // All are visible again, and none is in flight.
    expect(bodies(queue, 4).toSorted()).toEqual(['a2', 'a3', 'b1', 'b2']);
  });

  test('one of ten thousand does not wait for the rest, nor does a backlog of one group take longer for it', () => {
    const queue = new Queue(settings, new ManualClock(), noJournal);
    for (let at = 0; at < 10_000; at += 1) queue.send({ body: `a${at}`, group: 'a' });
    queue.receiveNow(10);
    queue.send({ body: 'b1', group: 'b' });
    expect(bodies(queue, 1)).toEqual(['b1']);
    expect(queue.receiveNow(10_000)).toHaveLength(9_990);
  });
});

describe('a queue on file', () => {
  let directory = '';
  let path = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'queue-'));
    path = join(directory, 'work.jsonl');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('has after a restart what it had: visible, delayed, in flight with its count; not what was deleted', () => {
    const clock = new ManualClock();
    const before = new Queue(settings, clock, new FileJournal(path));
    before.send({ body: 'deleted' });
    before.delete(before.receiveNow(1)[0]?.receiptHandle ?? '');
    before.send({ body: 'in flight' });
    before.receiveNow(1);
    before.send({ body: 'visible' });
    before.send({ body: 'delayed', delayMs: 5000 });
    // Opens the journal again without closing the first queue, as after the death of the process.
    const after = new Queue(settings, clock, new FileJournal(path));
    expect(after.counts()).toEqual({ visible: 1, inFlight: 1, delayed: 1 });
    expect(after.receiveNow(10).map((each) => each.message.body)).toEqual(['visible']);
    clock.advance(30_000);
    const late = after.receiveNow(10);
    expect(late.map((each) => [each.message.body, each.receiveCount])).toEqual(
      expect.arrayContaining([
        ['in flight', 2],
        ['delayed', 1],
      ]),
    );
  });

  test('a line torn by a crash is dropped, a broken one in the middle is an error', () => {
    const clock = new ManualClock();
    const before = new Queue(settings, clock, new FileJournal(path));
    before.send({ body: 'whole' });
    appendFileSync(path, '{"t":"s","m":{"messageId":"x","bo');
    const after = new Queue(settings, clock, new FileJournal(path));
    expect(after.peek().map((message) => message.body)).toEqual(['whole']);
    after.send({ body: 'next' });
    expect(new Queue(settings, clock, new FileJournal(path)).counts().visible).toBe(2);
    appendFileSync(path, 'nonsense\n');
    expect(() => new Queue(settings, clock, new FileJournal(path))).toThrow(/JSON/);
  });

  test('the file does not grow with what is gone', () => {
    const queue = new Queue(settings, new ManualClock(), new FileJournal(path));
    for (let index = 0; index < 8000; index += 1) {
      queue.send({ body: `message ${index}` });
      queue.delete(queue.receiveNow(1)[0]?.receiptHandle ?? '');
    }
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(20_002);
  });
});

test('a watcher hears of every message that becomes visible, also of those a receiver was faster to find', async () => {
  const clock = new ManualClock();
  const queue = new Queue(settings, clock, noJournal);
  const heard: number[] = [];
  const stop = queue.watch(() => heard.push(queue.visibleCount()));
  queue.send({ body: 'now' });
  expect(heard).toEqual([1]);
  queue.receiveNow(1);
  queue.send({ body: 'one', delayMs: 10 });
  queue.send({ body: 'two', delayMs: 10 });
  clock.advance(10);
  await Promise.resolve();
  expect(heard.at(-1)).toBe(2);
  stop();
  heard.length = 0;
  queue.send({ body: 'unheard' });
  expect(heard).toEqual([]);
});

test('with nobody waiting there is no timer; with a watcher there is one', () => {
  const clock = new ManualClock();
  const queue = new Queue(settings, clock, noJournal);
  queue.send({ body: 'later', delayMs: 10 });
  expect(clock.pending).toBe(0);
  queue.watch(() => {});
  queue.send({ body: 'later still', delayMs: 20 });
  expect(clock.pending).toBe(1);
});

test('a message older than the retention is gone', () => {
  const clock = new ManualClock();
  const queue = new Queue(settings, clock, noJournal);
  queue.send({ body: 'old' });
  clock.advance(100_001);
  expect(queue.receiveNow(1)).toEqual([]);
  expect(queue.peek()).toEqual([]);
});

test('the heap gives the earliest first, equal ones in order', () => {
  const heap = new DueHeap<string>();
  const pushed = [5, 3, 9, 3, 1, 7, 1, 8, 2];
  for (const [index, at] of pushed.entries()) heap.push(at, `${at}:${index}`);
  const popped: string[] = [];
  for (let entry = heap.peek(); entry !== undefined; entry = heap.peek()) {
    popped.push(entry.item);
    heap.pop();
  }
  expect(popped).toEqual(['1:4', '1:6', '2:8', '3:1', '3:3', '5:0', '7:5', '8:7', '9:2']);
});
