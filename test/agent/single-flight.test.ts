/** In one process, messages whose reports are written at the same time share one evaluation. */

import type { AffectedSteps } from '../../lib/core/decisions/decision.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Worker } from '../../lib/agent/author-code.ts';
import { SingleFlight } from '../../lib/agent/single-flight.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';
import { withStore } from '../engine/process.ts';

const worker = anAgent('worker');

/** Evaluations that end when the test lets them. */
function evaluations() {
  const begun: { readonly what: string; readonly end: (failure?: Error) => void }[] = [];
  const evaluate = (affected: AffectedSteps) =>
    new Promise<void>((resolve, reject) => {
      const end = (failure?: Error) => (failure === undefined ? resolve() : reject(failure));
      begun.push({ what: String(affected), end });
    });
  return { begun, evaluate, names: () => begun.map(({ what }) => what) };
}

const codeReturned = () => new Promise((resolve) => setImmediate(resolve));

describe('evaluations of one execution by one process', () => {
  it('begin at once if none is under way, and go on with the state that the caller knows', async () => {
    const singleFlight = new SingleFlight();
    const { begun, evaluate, names } = evaluations();
    const first = singleFlight.take('e', ['a'], evaluate);
    const other = singleFlight.take('f', ['b'], evaluate);
    expect(names()).toEqual(['a', 'b']);
    for (const { end } of begun) end();
    await Promise.all([first, other]);
    void singleFlight.take('e', ['c'], evaluate);
    expect(names()).toEqual(['a', 'b', 'c']);
  });

  it('become one after the one that is under way, about all that wait', async () => {
    const singleFlight = new SingleFlight();
    const { begun, evaluate, names } = evaluations();
    const over: string[] = [];
    const take = (name: string) => singleFlight.take('e', [name], evaluate).then(() => over.push(name));
    const all = [take('a'), take('b'), take('c')];
    await codeReturned();
    expect(names()).toEqual(['a']);
    begun[0]?.end();
    await codeReturned();
    expect([names(), over]).toEqual([['a', 'b,c'], ['a']]);
    // The second evaluation has begun to read: a later caller may have written after that.
    all.push(take('d'));
    await codeReturned();
    begun[1]?.end();
    await codeReturned();
    expect([names(), over]).toEqual([
      ['a', 'b,c', 'd'],
      ['a', 'b', 'c'],
    ]);
    begun[2]?.end();
    await Promise.all(all);
    void take('e');
    expect(names().at(-1)).toBe('e');
  });

  it('fail with the one that they waited for, and hold up nobody who comes later', async () => {
    const singleFlight = new SingleFlight();
    const { begun, evaluate, names } = evaluations();
    const take = (name: string) => singleFlight.take('e', [name], evaluate);
    const ends = [take('a'), take('b'), take('c')].map((end) => end.catch((error: Error) => error.message));
    begun[0]?.end(new Error('one'));
    expect(await Promise.all(ends)).toEqual(['one', 'one', 'one']);
    const later = take('d');
    expect(names()).toEqual(['a', 'd']);
    begun[1]?.end();
    await later;
  });

  it('are waited for by nobody who could send meanwhile', async () => {
    const atWork = { messages: 3 };
    const singleFlight = new SingleFlight(atWork);
    const { begun, evaluate } = evaluations();
    const all = ['a', 'b', 'c'].map((name) => singleFlight.take('e', [name], evaluate));
    expect(atWork.messages).toBe(1);
    begun[0]?.end();
    await codeReturned();
    begun[1]?.end();
    await Promise.all(all);
    expect(atWork.messages).toBe(3);
  });
});

describe('a batch of messages of one execution', () => {
  const SIDE = 10;
  const wide = workflow('wide', { input: anyObject, within: '1h' }, (w) => {
    const side = Array.from({ length: SIDE }, (_, at) => w.step(`s${at}`, worker, {}));
    w.step('last', worker, {}, { after: side });
    return {};
  });
  const fine = { execute: async () => ({}), undo: async () => undefined };

  /**
   * Performs all at once in one process, on a store that takes some turns of the event loop for each call.
   */
  const performed = async (settings: Pick<Worker, 'singleFlight'>, of = wide) => {
    const count = { reads: 0, refused: 0 };
    const slow = async <Value>(call: () => Promise<Value>): Promise<Value> => {
      for (let singleFlight = 0; singleFlight < 3; singleFlight += 1) await codeReturned();
      return call();
    };
    const wrap: Parameters<typeof harness>[3] = (world) =>
      withStore(world, (store) => ({
        read: (id) => {
          count.reads += 1;
          return slow(() => store.read(id));
        },
        write: async (write) => {
          const result = await slow(() => store.write(write));
          if (result === 'conflict') count.refused += 1;
          return result;
        },
      }));
    const h = harness(of, { worker: fine }, 1, wrap, settings);
    const { id } = await h.begin();
    while (h.sent.length > 0) await Promise.all(h.sent.splice(0).map((send) => h.deliver(send)));
    expect((await h.state(id)).execution.status).toBe('succeeded');
    return count;
  };

  it('is followed by two evaluations, not by one for each message, which would lose races against each other', async () => {
    const apart = await performed({});
    const together = await performed({ singleFlight: new SingleFlight() });
    expect(apart.refused).toBeGreaterThan(SIDE);
    // Both evaluations may find that the last step's turn has come.
    expect(together.refused).toBeLessThanOrEqual(2);
    // Each of the eleven claims reads, and so does the second message of the last step.
    expect(together.reads).toBeLessThan(2 * SIDE);
    expect(apart.reads).toBeGreaterThan(4 * SIDE);
  });

  it('is followed at once by work that needs no evaluation of the others: the next in its lane', async () => {
    const lanes = workflow('lanes', { input: anyObject, within: '1h' }, (w) => {
      for (let at = 0; at < SIDE; at += 1) {
        const first = w.step(`first${at}`, worker, {});
        w.step(`second${at}`, worker, {}, { after: [first] });
      }
      return {};
    });
    const { reads } = await performed({ singleFlight: new SingleFlight() }, lanes);
    // Twenty claims, and few evaluations where the last ones have ended.
    expect(reads).toBeLessThanOrEqual(2 * SIDE + 3);
  });
});
