/**
 * The container worker's handling of messages, with a queue, processes and a clock that the test controls.
 */

import type { Inbox, Received } from '../../lib/aws/sqs-inbox.ts';
import type { Clock } from '../../lib/core/ports.ts';
import type { AttemptProcess, Ran } from '../../lib/worker/attempt-process.ts';
import type { ClaimedAttempt } from '../../lib/core/decisions/events.ts';
import { Worker } from '../../lib/worker/worker.ts';

const message = (messageId: string): Received => ({ messageId, body: '{}', receipt: `r-${messageId}` });
/** Runs all work that needs no time to pass. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};

interface Sleep {
  readonly at: number;
  readonly wake: () => void;
}

function manualClock(): Clock & { pass: (ms: number) => Promise<void> } {
  let now = 0;
  const sleeps = new Set<Sleep>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((over) => {
        const sleep = { at: now + ms, wake: over };
        sleeps.add(sleep);
        signal?.addEventListener('abort', () => {
          sleeps.delete(sleep);
          over();
        });
      }),
    pass: async (ms) => {
      const untilAt = now + ms;
      for (;;) {
        await settle();
        const next = [...sleeps].filter(({ at }) => at <= untilAt).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        now = next.at;
        sleeps.delete(next);
        next.wake();
      }
      now = untilAt;
      await settle();
    },
  };
}

const attemptOf = (token: string): ClaimedAttempt => ({ executionId: 'e', step: 'film', token });

function world({
  records,
  ...options
}: {
  concurrency?: number;
  stopWithinMs?: number;
  records?: 'slowly';
} = {}) {
  const clock = manualClock();
  const waiting: Received[] = [];
  const done: string[] = [];
  const lines: string[] = [];
  const answers = new Map<string, (ran: Ran) => void>();
  let processes = 0;
  let broken = false;
  let arrived = (): void => undefined;
  const inbox: Inbox = {
    receive: async (most, hiddenS, signal) => {
      done.push(`receive ${most} ${hiddenS}`);
      if (broken) throw Object.assign(new Error('no'), { name: 'ServiceUnavailable' });
      if (waiting.length === 0) {
        await new Promise<void>((wake, leave) => {
          arrived = wake;
          signal.addEventListener('abort', () => leave(new Error('aborted')));
        });
      }
      return waiting.splice(0, most);
    },
    hide: async ({ messageId }, seconds) => void done.push(`hide ${messageId} ${seconds}`),
    remove: async ({ messageId }) => void done.push(`remove ${messageId}`),
  };
  const startProcess = (): AttemptProcess => {
    processes += 1;
    let current = '';
    let isAlive = true;
    return {
      get isAlive() {
        return isAlive;
      },
      run: ({ messageId }) =>
        new Promise((over) => {
          current = messageId;
          answers.set(messageId, (ran) => {
            isAlive &&= ran.how !== 'died' && ran.dead === undefined;
            over(ran);
          });
        }),
      kill: async () => {
        isAlive = false;
        answers.get(current)?.({ how: 'died', dead: attemptOf(current) });
      },
    };
  };
  const log = (what: string): void => void lines.push(what);
  const protection = {
    begin: async () => void done.push('protect'),
    end: async () => void done.push('release'),
  };
  let recorded = (): void => undefined;
  const recordDeath = async ({ token }: ClaimedAttempt): Promise<void> => {
    done.push(`record ${token}`);
    if (records === 'slowly') await new Promise<void>((over) => (recorded = over));
  };
  const parts = {
    inbox,
    startProcess,
    protection,
    recordDeath,
    clock,
    log,
    concurrency: 1,
    stopWithinMs: 1_000,
    ...options,
  };
  const worker = new Worker(parts);
  return {
    worker,
    clock,
    done,
    lines,
    running: worker.run(),
    started: () => processes,
    breakDown: (isBroken: boolean) => {
      broken = isBroken;
    },
    send: async (...ids: string[]) => {
      waiting.push(...ids.map(message));
      arrived();
      await settle();
    },
    answer: async (id: string, how: Ran['how'], more: Omit<Ran, 'how'> = {}) => {
      answers.get(id)?.({ how, ...more });
      await settle();
    },
    recorded: async () => {
      recorded();
      await settle();
    },
    /** The events since the last call, without the receives. */
    happened: () => done.splice(0).filter((each) => !/^(?:receive|protect|release)/.test(each)),
    /** The calls to ECS since the last call. */
    protections: () => done.filter((each) => /^(?:protect|release)/.test(each)),
  };
}

describe('a worker', () => {
  it('has its task left alone from before an attempt until after it, however it ends (W3)', async () => {
    const w = world();
    await w.send('a');
    expect(w.protections()).toEqual(['protect']);
    await w.answer('a', 'handled');
    await w.send('b');
    await w.answer('b', 'died');
    expect(w.protections()).toEqual(['protect', 'release', 'protect', 'release']);
  });

  it('removes a message when its process says that it was handled, and uses the process again', async () => {
    const w = world();
    await w.send('a');
    expect(w.happened()).toEqual([]);
    await w.answer('a', 'handled');
    await w.send('b');
    await w.answer('b', 'handled');
    expect(w.happened()).toEqual(['remove a', 'remove b']);
    expect(w.started()).toBe(1);
  });

  it('takes no more than it performs at the same time', async () => {
    const w = world({ concurrency: 2 });
    await w.send('a', 'b', 'c');
    expect(w.started()).toBe(2);
    expect(w.done.filter((each) => each.startsWith('receive'))).toEqual(['receive 2 30']);
    await w.answer('b', 'handled');
    expect(w.done).toContain('receive 1 30');
    await w.answer('c', 'handled');
    expect(w.happened()).toEqual(['remove b', 'remove c']);
    expect(w.started()).toBe(2);
  });

  it('keeps a message hidden for as long as it works, and not longer than SQS does', async () => {
    const w = world();
    await w.send('a');
    await w.clock.pass(35_000);
    expect(w.happened()).toEqual(['hide a 30', 'hide a 30', 'hide a 30']);
    await w.clock.pass(13 * 3_600_000);
    const renewals = w.happened().length;
    expect(renewals).toBeLessThan(12 * 360);
    await w.answer('a', 'handled');
    expect(w.happened()).toEqual(['remove a']);
    await w.clock.pass(60_000);
    expect(w.happened()).toEqual([]);
  });

  it('leaves the message of a process that died, and works on with another', async () => {
    const w = world();
    await w.send('a');
    await w.answer('a', 'died');
    expect(w.happened()).toEqual([]);
    expect(w.lines).toEqual(['process-died']);
    await w.send('b');
    await w.answer('b', 'handled');
    expect(w.happened()).toEqual(['remove b']);
    expect(w.started()).toBe(2);
  });

  it('records the death of an attempt before anything else, and keeps its task and its message meanwhile (W3, W4)', async () => {
    const w = world({ records: 'slowly' });
    await w.send('a');
    await w.answer('a', 'died', { dead: attemptOf('a') });
    await w.clock.pass(10_000);
    expect(w.done).not.toContain('release');
    expect(w.happened()).toEqual(['record a', 'hide a 30']);
    await w.recorded();
    expect(w.done).toContain('release');
    await w.send('b');
    await w.answer('b', 'handled');
    expect(w.happened()).toEqual(['remove b']);
  });

  it('records no death where something of the attempt may still run, and says so (W4)', async () => {
    const w = world();
    await w.send('a');
    await w.answer('a', 'died', { lingers: true });
    expect(w.happened()).toEqual([]);
    expect(w.lines).toEqual(['process-lingers', 'process-died']);
  });

  it('records that of an attempt which returned after it had lost its lease, and does not use its process again', async () => {
    const w = world();
    await w.send('a');
    await w.answer('a', 'handled', { dead: attemptOf('a') });
    await w.send('b');
    await w.answer('b', 'handled');
    expect(w.happened()).toEqual(['record a', 'remove a', 'remove b']);
    expect(w.started()).toBe(2);
  });

  it('hides for a while what its code cannot handle now, and keeps it', async () => {
    const w = world();
    await w.send('newer');
    await w.answer('newer', 'give-back');
    expect(w.happened()).toEqual(['hide newer 20']);
  });

  it('pauses while the queue cannot be asked', async () => {
    const w = world();
    w.breakDown(true);
    await w.send('a');
    await w.answer('a', 'handled');
    w.done.length = 0;
    await w.clock.pass(6_000);
    expect(w.done.length).toBeLessThanOrEqual(4);
    w.breakDown(false);
    await w.clock.pass(2_000);
    await w.send('b');
    await w.answer('b', 'handled');
    expect(w.happened()).toEqual(['remove b']);
  });

  it('that stops waits for what is under way, and takes nothing new', async () => {
    const w = world();
    await w.send('a');
    w.worker.stop();
    await w.send('b');
    await w.answer('a', 'handled');
    await w.running;
    expect(w.happened()).toEqual(['remove a']);
  });

  it('that stops and waits in vain kills, and gives the messages back at once', async () => {
    const w = world({ concurrency: 2 });
    await w.send('a', 'b');
    w.worker.stop();
    await w.clock.pass(999);
    expect(w.happened()).toEqual([]);
    await w.clock.pass(1);
    await w.running;
    expect(w.happened().sort()).toEqual(['hide a 0', 'hide b 0', 'record a', 'record b']);
    expect(w.lines).toContain('stopping-by-force');
  });

  it('that stops while it waits for messages ends at once', async () => {
    const w = world();
    await settle();
    w.worker.stop();
    await w.running;
    expect(w.happened()).toEqual([]);
  });
});
