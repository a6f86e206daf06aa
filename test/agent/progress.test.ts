/** `progressWithin` ends an attempt that sends heartbeats but makes no progress, and no other attempt. */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import { anAgent, anyObject, harness, settle } from '../engine/harness.ts';
import { aProcess } from '../engine/process.ts';

const LIMITS = { lease: '10s', progressWithin: '4s', timeout: '50s' } as const;
const copier = anAgent('copier', LIMITS);
const copying = workflow('copying', { input: anyObject, within: '1h' }, (w) => {
  w.step('copy', copier, {}, { recovery: [retry(2, { delay: '1s', maxDelay: '1s' })] });
});
const undo = async (): Promise<void> => undefined;
const never = new Promise<never>(() => undefined);

describe('an agent with progressWithin', () => {
  it('that sends heartbeats but does not advance is caught within progressWithin and one sweep, and tried again', async () => {
    let tries = 0;
    const signals: boolean[] = [];
    const execute = async (ctx: AttemptContext): Promise<object> => {
      tries += 1;
      if (tries > 1) return {};
      ctx.signal.addEventListener('abort', () => signals.push(true));
      return never;
    };
    const h = harness(copying, { copier: { execute, undo } });
    const { id } = await h.begin();
    const startedAt = h.clock.now();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    const [first, second] = steps['copy']?.attempts ?? [];
    expect(first).toMatchObject({ outcome: 'unknown', failure: { code: 'no-progress' } });
    // progressWithin of 4 s and the margin for clocks of 1 s; the harness sweeps as soon as something is due.
    expect((first?.endedAt ?? 0) - startedAt).toBeLessThanOrEqual(5_100);
    expect(second).toMatchObject({ number: 2, outcome: 'done' });
    expect(signals).toEqual([true]);
  });

  it('that advances slowly is left alone, however long it takes', async () => {
    let intervened = 0;
    const execute = async (ctx: AttemptContext): Promise<object> => {
      for (let block = 0; block < 10; block += 1) {
        await h.clock.sleep(3_900);
        ctx.progress(block);
      }
      return {};
    };
    const h = harness(copying, { copier: { execute, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    intervened = h.notes.filter((note) => note.what === 'lease-ended').length;
    expect([execution.status, steps['copy']?.attempt, intervened]).toEqual(['succeeded', 1, 0]);
  });

  it('that reports a long token keeps what fits of it, and half of no character (S17)', async () => {
    const execute = async (ctx: AttemptContext): Promise<object> => {
      ctx.progress(`${'x'.repeat(199)}😀`);
      await h.clock.sleep(3_900);
      ctx.progress('\ud83d');
      await h.clock.sleep(3_900);
      return {};
    };
    const h = harness(copying, { copier: { execute, undo } });
    const { id } = await h.begin();
    const seen = new Set<string | number | undefined>();
    await h.run(id, {
      until: ({ execution, steps }) => {
        seen.add(steps['copy']?.progress);
        return execution.endedAt !== undefined;
      },
    });
    expect([...seen].filter((token) => token !== undefined)).toEqual(['x'.repeat(199), '\ufffd']);
  });

  it('that reports the same token again and again does not advance', async () => {
    let tries = 0;
    const execute = async (ctx: AttemptContext): Promise<object> => {
      tries += 1;
      if (tries > 1) return {};
      for (let round = 0; round < 40; round += 1) {
        await h.clock.sleep(1_000);
        ctx.progress('47 %');
      }
      return {};
    };
    const h = harness(copying, { copier: { execute, undo } });
    const { id } = await h.begin();
    const { steps } = await h.run(id);
    expect(steps['copy']?.attempts[0]).toMatchObject({
      outcome: 'unknown',
      failure: { code: 'no-progress' },
    });
  });
});

describe('an agent with progressWithin that is noticed only after 40 seconds', () => {
  /**
   * Returns the record of a first attempt whose process dies after this time, or, if undefined, ignores its
   * abort signal.
   */
  const foundLate = async (limits: object, diesAfterMs: number | undefined): Promise<unknown> => {
    let tries = 0;
    const execute = async (): Promise<object> => {
      tries += 1;
      return tries > 1 ? {} : never;
    };
    const agent = anAgent('copier', { timeout: '50s', ...limits });
    const late = workflow('late', { input: anyObject, within: '1h' }, (w) => {
      w.step('copy', agent, {}, { recovery: [retry(2, { delay: '1s', maxDelay: '1s' })] });
    });
    const h = harness(late, { copier: { execute, undo } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const startedAt = h.clock.now();
    void h.clock.sleep(diesAfterMs ?? 3_600_000).then(() => doomed.kill());
    // Another timer, so that time moves on without an evaluation.
    void h.clock.sleep(40_000);
    const portsOf = ({ message }: { message: { attempt: number } }): typeof doomed.ports | undefined =>
      message.attempt === 1 ? doomed.ports : undefined;
    await h.run(id, { portsOf, supervised: false, until: () => h.clock.now() >= startedAt + 40_000 });
    const { steps } = await h.run(id, { portsOf });
    expect(steps['copy']?.attempts).toHaveLength(2);
    return steps['copy']?.attempts[0]?.failure?.code;
  };
  const short = { lease: '10s', progressWithin: '4s' };
  const long = { lease: '3s', progressWithin: '9s' };

  it.each([
    ['died before its first heartbeat, its lease as long as it may stand still', short, 1],
    ['died after its first heartbeat', short, 1_400],
    ['died long before its time without progress was over', long, 1],
    ['died within its last lease but one', long, 5_500],
  ])('and %s went silent', async (_, limits, diesAfterMs) => {
    expect(await foundLate(limits, diesAfterMs)).toBe('lease-ended');
  });

  it.each([
    ['in a lease as long as it may stand still', short],
    ['for several leases', long],
  ])('and heartbeat to the end, %s, did not advance', async (_, limits) => {
    expect(await foundLate(limits, undefined)).toBe('no-progress');
  });
});

describe('an attempt that has ended', () => {
  it('costs no time beyond its work, and no heartbeat comes after it', async () => {
    const flow = workflow('flow', { input: anyObject, within: '1h' }, (w) => {
      w.step('only', anAgent('worker', { lease: '10s' }), {});
    });
    let writes = 0;
    const h = harness(flow, { worker: { execute: async () => ({}), undo } }, 1, (world) => ({
      ...world,
      store: Object.assign(Object.create(world.store) as typeof world.store, {
        write: (write: Parameters<typeof world.store.write>[0]) => {
          writes += 1;
          return world.store.write(write);
        },
      }),
    }));
    const { id } = await h.begin();
    const startedAt = h.clock.now();
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(h.clock.now()).toBe(startedAt);
    const before = writes;
    for (let second = 1; second <= 20; second += 1) {
      h.clock.advanceTo(startedAt + second * 1_000);
      await settle();
    }
    expect(writes).toBe(before);
  });
});

describe('progress that is given as a number', () => {
  const reporting = (...numbers: readonly number[]) => {
    let tries = 0;
    const h = harness(copying, {
      copier: {
        execute: async (ctx: AttemptContext): Promise<object> => {
          tries += 1;
          if (tries > 1) return {};
          for (const one of numbers) {
            await h.clock.sleep(1_500);
            ctx.progress(one);
          }
          return {};
        },
        undo,
      },
    });
    return h;
  };

  it.each([
    ['that stays the same', [0.46, 0.47, 0.47, 0.47, 0.47, 0.47, 0.47]],
    ['that goes up and down below what it was', [0.47, 0.45, 0.46, 0.47, 0.45, 0.46, 0.47]],
    ['that is no number', [Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN]],
    ['that is now and then no number', [0.47, Number.NaN, 0.47, Number.NaN, 0.47, Number.NaN, 0.47]],
    ['that no store can hold', [1e200, 1e201, 1e202, Number.POSITIVE_INFINITY, 1e203, 1e204]],
  ])('%s is no progress', async (_, numbers) => {
    const h = reporting(...numbers);
    const { steps } = await h.run((await h.begin()).id);
    expect(steps['copy']?.attempts[0]).toMatchObject({ failure: { code: 'no-progress' } });
  });

  it('that grows is progress, and the largest is kept', async () => {
    const h = reporting(0.1, 0.2, 0.15, 0.3, 0.4, 0.47, 0.5);
    const { id } = await h.begin();
    const seen = new Set<string | number | undefined>();
    const { steps } = await h.run(id, {
      until: ({ execution, steps: records }) => {
        seen.add(records['copy']?.progress);
        return execution.endedAt !== undefined;
      },
    });
    expect(steps['copy']?.attempts).toMatchObject([{ outcome: 'done' }]);
    const numbers = [...seen].filter((one) => typeof one === 'number');
    expect(numbers).toHaveLength(seen.size - 1);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  });
});
