/**
 * Recording the death of an attempt: despite lost races and an outage of the store, but only for a limited
 * time.
 */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { recordDeath } from '../../lib/engine/death.ts';
import { anAgent, anyObject, harness, settle } from '../engine/harness.ts';
import { failingWrite, never, withStore } from '../engine/process.ts';

const HOURS_MS = 6 * 3_600_000;
const flow = workflow('film', { input: anyObject, within: '1d' }, (w) => {
  w.step('encode', anAgent('encoder', { timeout: '50s' }), {});
});

/** Starts an attempt that does not end. */
async function underWay() {
  const implementations = { encoder: { execute: () => never, undo: () => never } };
  const h = harness(flow, implementations, 1, undefined, { processMs: HOURS_MS });
  const { id } = await h.begin();
  const state = await h.run(id, { until: ({ steps }) => steps['encode']?.status === 'running' });
  const token = state.steps['encode']?.token ?? '';
  const attempt = { executionId: id, step: 'encode', token, exit: 'exit code 3' };
  const record = async () => (await h.state(id)).steps['encode'];
  /** Records the death while time passes. */
  const recorded = async (ports: Ports, stopping?: { aborted: boolean }): Promise<void> => {
    let isOver = false;
    const signal = stopping && {
      ...stopping,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    };
    void recordDeath(ports, new Map(), attempt, signal).then(() => (isOver = true));
    for (;;) {
      await settle();
      if (isOver) return;
      h.clock.advanceTo(h.clock.now() + 100);
    }
  };
  return { h, attempt, record, recorded };
}

const DIED = { code: 'process-died', message: 'the process of the attempt died: exit code 3' };

describe('the death of an attempt', () => {
  it('is recorded, and what follows from it is sent', async () => {
    const { h, record, recorded } = await underWay();
    h.sent.length = 0;
    await recorded(h);
    expect(await record()).toMatchObject({ status: 'retrying', failure: DIED });
    expect((await record())?.processDeadlineAt).toBeLessThan(h.clock.now() + 10_000);
    expect(h.sent.map(({ message }) => message)).toMatchObject([{ step: 'encode', attempt: 2 }]);
  });

  it('is recorded once, however often it is reported', async () => {
    const { h, record, recorded } = await underWay();
    await recorded(h);
    const { version } = (await record()) ?? {};
    await recorded(h);
    expect((await record())?.version).toBe(version);
  });

  it.each(['before', 'after'] as const)(
    'is tried again where a write fails %s it took place',
    async (fault) => {
      const { h, record, recorded } = await underWay();
      await recorded(failingWrite(h, 1, fault));
      expect(await record()).toMatchObject({ status: 'retrying' });
    },
  );

  it('is decided again where another write came first', async () => {
    const { h, record, recorded } = await underWay();
    let lost = 0;
    const raced = withStore(h, (store) => ({
      write: async (write) => ((lost += 1) <= 2 ? 'conflict' : store.write(write)),
    }));
    await recorded(raced);
    expect(lost).toBeGreaterThan(2);
    expect(await record()).toMatchObject({ status: 'retrying' });
  });

  const away = (h: Ports): Ports => withStore(h, () => ({ read: () => Promise.reject(new Error('away')) }));

  it('is given up, and said, when the store is away for a minute: then the process deadline is waited for', async () => {
    const { h, attempt, record, recorded } = await underWay();
    const notes: unknown[] = [];
    const startedAt = h.clock.now();
    await recorded({ ...away(h), log: { note: (note) => void notes.push(note) } });
    expect(h.clock.now() - startedAt).toBeGreaterThan(50_000);
    expect(h.clock.now() - startedAt).toBeLessThan(65_000);
    const { executionId, step } = attempt;
    expect(notes).toEqual([{ what: 'death-not-recorded', executionId, step }]);
    expect((await record())?.processDeadlineAt).toBeGreaterThan(startedAt + HOURS_MS);
  });

  it('is tried once by a worker that stops', async () => {
    const { h, recorded } = await underWay();
    const startedAt = h.clock.now();
    await recorded(away(h), { aborted: true });
    expect(h.clock.now()).toBe(startedAt);
  });

  it('in an execution that does not exist changes nothing', async () => {
    const { h, attempt } = await underWay();
    await recordDeath(h, new Map(), { ...attempt, executionId: 'gone' });
  });
});
