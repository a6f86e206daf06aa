/** Other processes act between two calls of an erasure: it erases only an execution that has ended. */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Erasure, Ports } from '../../lib/core/ports.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { valueKeysIn } from '../../lib/core/records/large-values.ts';
import { START_MS } from '../../lib/core/records/retention.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import { retry as retryExecution } from '../../lib/scheduler/commands.ts';
import { memoryValues } from '../../lib/memory/world.ts';
import { anAgent, anyObject, drain, type Harness, harness } from '../engine/harness.ts';

const LARGE = 'x'.repeat(40_000);
const worker = anAgent('worker', { undo: 'none' });

const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => {
  w.step('one', worker, { text: LARGE });
  return {};
}) as Workflow;

const outer = workflow('outer', { input: anyObject, within: '2h' }, (w) => {
  const first = w.child('child', inner, { text: LARGE }, { recovery: [retry(0)] } as never);
  const list = w.map('many', worker, (w.input as never as { items: never }).items, (n) => ({ n }) as never, {
    after: [first],
  });
  w.step('last', worker, { text: LARGE }, { after: [list] });
  return {};
}) as Workflow;

/** A world whose `hook.before` is called, with a number, before each call of an erasure. */
function world(fails: (step: string) => boolean = () => false) {
  const values = memoryValues();
  const storedAt = new Map<string, number>();
  const hook: { before: (call: number) => Promise<void>; calls: number } = {
    before: async () => undefined,
    calls: 0,
  };
  const after =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given) => {
      hook.calls += 1;
      await hook.before(hook.calls);
      return call(...given);
    };
  const around = (memory: Parameters<NonNullable<Parameters<typeof harness>[3]>>[0]): Ports => {
    const { recordsOf, remove } = memory.store.inventory();
    const erasure: Erasure = {
      recordsOf: after(recordsOf),
      remove: after(remove),
      values: {
        list: after(async (prefix: string) => ({
          items: [...values.objects.keys()]
            .filter((key) => key.startsWith(prefix))
            .map((key) => ({ key, storedAt: storedAt.get(key) ?? 0, bytes: 1 })),
        })),
        remove: after(async (keys: readonly string[]) => {
          for (const key of keys) values.objects.delete(key);
        }),
      },
    };
    const put = async (key: string, json: string): Promise<void> => {
      storedAt.set(key, memory.clock.now());
      await values.put(key, json);
    };
    return { ...memory, largeValues: { ...values, put }, erasure };
  };
  /** The effect keys of all acts, in order. */
  const done: string[] = [];
  const h = harness(
    outer,
    {
      worker: {
        execute: async ({
          step,
          idempotencyKey,
        }: {
          readonly step: string;
          readonly idempotencyKey: string;
        }) => {
          if (fails(step)) throw new PermanentError('no');
          done.push(idempotencyKey);
          return step.startsWith('many[') ? {} : { text: LARGE };
        },
      } as never,
    },
    1,
    around,
  );
  const found = async () => (await h.store.inventory(10_000).page({ index: 0, of: 1 })).items;
  const run = async (id: string): Promise<Snapshot> => {
    const state = await h.run(id);
    // A minute later, no write that was decided before is still under way.
    h.clock.advanceTo(h.clock.now() + 60_000);
    return state;
  };
  return { ...h, values, hook, found, run, done };
}
type World = ReturnType<typeof world>;

const items = [1, 2];
const KEY = 'order-1';

/** Checks that every stored value named in a record exists. */
async function expectWhole(h: World): Promise<void> {
  const ids = (await h.found()).flatMap((one) => (one.kind === 'execution' ? [one.execution.id] : []));
  for (const id of ids) {
    const missing = valueKeysIn(await h.state(id)).filter((key) => !h.values.objects.has(key));
    expect({ id, missing }).toEqual({ id, missing: [] });
  }
}

async function interleaved(
  prepared: () => Promise<{
    readonly h: World;
    readonly id: string;
    /** Another process's act. @returns whether it leaves an execution in progress */
    readonly other: () => Promise<boolean>;
  }>,
): Promise<number> {
  for (let at = 1; ; at += 1) {
    const { h, id, other } = await prepared();
    let isUnderWay = false;
    h.hook.before = async (call) => {
      if (call === at) isUnderWay = await other();
    };
    const result = await erase(h.scheduler, id).catch((error: { readonly code?: string }) => error);
    expect(result).toMatchObject(
      'status' in result
        ? { status: 'erased' }
        : { code: expect.stringMatching(/^(not-erasable|unknown-execution)$/) },
    );
    h.hook.before = async () => undefined;
    const isThere = (await h.store.readExecution(id)) !== undefined;
    expect({ at, isThere }).toEqual({ at, isThere: isThere || isUnderWay });
    if (isThere) {
      const { execution, steps } = await h.run(id);
      expect({ at, status: execution.status }).toEqual({ at, status: 'succeeded' });
      expect({ at, steps: Object.keys(steps).sort() }).toEqual({ at, steps: ['child', 'last', 'many'] });
      expect({ at, done: h.done }).toEqual({ at, done: [...new Set(h.done)] });
      await expectWhole(h);
      await erase(h.scheduler, id);
    } else await erase(h.scheduler, id).catch(() => undefined);
    expect({ at, found: await h.found() }).toEqual({ at, found: [] });
    expect({ at, left: [...h.values.objects.keys()] }).toEqual({ at, left: [] });
    if (h.hook.calls < at) return at;
  }
}

it('starts that repeated it: none leaves a copy of its input, and one that another was faster than does', async () => {
  const h = world();
  const input = { items, text: LARGE };
  const starts = await Promise.all([h.begin(input, KEY), h.begin(input, KEY)]);
  expect(new Set(starts.map(({ id, life }) => `${id} ${life}`)).size).toBe(1);
  const { id } = starts[0] as { readonly id: string };
  const both = h.values.objects.size;
  await h.begin(input, KEY);
  expect(h.values.objects.size).toBe(both);
  await h.run(id);
  h.clock.advanceTo(h.clock.now() + START_MS + 1);
  await erase(h.scheduler, id);
  expect([...h.values.objects.keys()]).toEqual([]);
});

it('a retry', async () => {
  const calls = await interleaved(async () => {
    let isBroken = true;
    const h = world((step) => isBroken && step === 'one');
    const { id } = await h.begin({ items }, KEY);
    expect((await h.run(id)).execution.status).not.toBe('succeeded');
    isBroken = false;
    const other = async (): Promise<boolean> =>
      retryExecution(h.scheduler, id, {}).then(
        () => true,
        ({ code }) => {
          expect(code).toBe('unknown-execution');
          return false;
        },
      );
    return { h, id, other };
  });
  expect(calls).toBeGreaterThan(20);
});

it('a start with the same key, whose executions go on meanwhile', async () => {
  const calls = await interleaved(async () => {
    const h = world();
    const { id, life: first } = await h.begin({ items }, KEY);
    await h.run(id);
    const other = async (): Promise<boolean> => {
      h.clock.advanceTo(h.clock.now() + 5_000);
      const { life } = await h.begin({ items }, KEY);
      await drain(h as Harness);
      return life !== first;
    };
    return { h, id, other };
  });
  expect(calls).toBeGreaterThan(20);
});

it.each([
  ['another erasure', false],
  ['another erasure, after which its key begins another one', true],
])('%s', async (_, begins) => {
  const calls = await interleaved(async () => {
    const h = world();
    const { id } = await h.begin({ items }, KEY);
    await h.run(id);
    const other = async (): Promise<boolean> => {
      const { before } = h.hook;
      h.hook.before = async () => undefined;
      await erase(h.scheduler, id).catch(({ code }) => expect(code).toBe('unknown-execution'));
      if (begins) {
        h.clock.advanceTo(h.clock.now() + 5_000);
        await h.begin({ items }, KEY);
        await drain(h as Harness);
      }
      h.hook.before = before;
      return begins;
    };
    return { h, id, other };
  });
  expect(calls).toBeGreaterThan(20);
});
