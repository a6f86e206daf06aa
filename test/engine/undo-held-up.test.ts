/**
 * L1: if an undo has not been able to begin for a day, a person is asked, so that no execution hangs
 * silently.
 */

import { explain } from '../../lib/explain/why.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import { MAX_NOT_CHARGED_MS } from '../../lib/core/step/defer.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness } from './harness.ts';

const HOUR = 3_600_000;
const rare = { lease: '2m', claimWithin: '2m' } as const;
const carrier = anAgent('carrier', rare);
const flow = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  const ship = w.step('ship', carrier, {});
  w.wait('later', { for: '1h', after: [ship] });
});

/** The breaker of a service that is down for ever; another process always has the trial. */
const dead = (now: number): Breaker => ({
  agent: 'carrier',
  version: 1,
  writeId: 'w-0',
  score: 8,
  failedAt: now,
  openedAt: now - HOUR,
  openUntil: now + 120_000,
  cooldowns: 9,
});

interface Canceled {
  readonly h: Harness;
  readonly id: string;
  readonly undos: () => number;
  readonly close: () => void;
}

async function canceled(): Promise<Canceled> {
  let undos = 0;
  let isDead = false;
  const wrap = (world: MemoryWorld): Ports => ({
    ...world,
    breakers: {
      read: async () => (isDead ? dead(world.clock.now()) : undefined),
      write: async () => 'conflict',
    },
  });
  const undo = async (): Promise<void> => {
    undos += 1;
  };
  const h = harness(flow, { carrier: { execute: async () => ({}), undo } }, 1, wrap);
  const { id } = await h.begin();
  await h.run(id, { until: ({ steps }) => steps['ship']?.status === 'done' });
  isDead = true;
  await cancel(h.scheduler, id, {});
  return { h, id, undos: () => undos, close: () => (isDead = false) };
}

/** Loses the message that was sent at once; from then on a supervisor reads the breaker first. */
const lost = { deliverable: () => false, maxMs: 48 * HOUR } as const;

const asked = ({ questions }: Snapshot): boolean =>
  Object.values(questions ?? {}).some(({ closedAt }) => closedAt === undefined);

describe('an undo that an open breaker holds back', () => {
  it('is put to a person after a day, without one call to the dead service', async () => {
    const { h, id, undos } = await canceled();
    const since = h.clock.now();
    const { steps, questions } = await h.run(id, { until: asked, ...lost });
    expect(h.clock.now() - since).toBeGreaterThanOrEqual(MAX_NOT_CHARGED_MS);
    expect(h.clock.now() - since).toBeLessThan(MAX_NOT_CHARGED_MS + HOUR);
    expect(steps['ship']).toMatchObject({ status: 'compensation-failed', undoAttempt: 0 });
    expect(steps['ship']).not.toHaveProperty('deferred');
    expect(questions?.[1]).toMatchObject({ kind: 'undo', step: 'ship', failure: { code: 'undo-overdue' } });
    expect(undos()).toBe(0);
    const why = explain(flow.plan, await h.state(id), h.clock.now());
    expect(why.steps.find(({ name }) => name === 'ship')?.because).toContain('no agent could undo it');
  });

  it('is undone after all when the service is back and the person has it tried again', async () => {
    const { h, id, undos, close } = await canceled();
    await h.run(id, { until: asked, ...lost });
    close();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
    expect((await h.run(id)).execution.status).toBe('canceled');
    expect(undos()).toBe(1);
  });

  it('is held back for another day before the person is asked again', async () => {
    const { h, id } = await canceled();
    await h.run(id, { until: asked, ...lost });
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
    const since = h.clock.now();
    const { questions } = await h.run(id, { until: asked, ...lost });
    expect(h.clock.now() - since).toBeGreaterThanOrEqual(MAX_NOT_CHARGED_MS);
    expect(questions?.[2]).toMatchObject({ kind: 'undo', step: 'ship' });
  });
});

it.each([
  ['2m', '2m'],
  // So long that the next repetition is never far.
  ['5m', '5m'],
  ['1h', '1h'],
] as const)(
  'an undo whose messages nobody takes is put to a person, too: pickup %s',
  async (pickup, lease) => {
    const waits = anAgent('waits', { lease, claimWithin: pickup });
    const other = workflow('waiting', { input: anyObject, within: '9h' }, (w) => {
      const ship = w.step('ship', waits, {});
      w.wait('later', { for: '8h', after: [ship] });
    });
    const h = harness(other, { waits: { execute: async () => ({}), undo: async () => undefined } });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['ship']?.status === 'done' });
    await cancel(h.scheduler, id, {});
    const since = h.clock.now();
    await h.run(id, { until: asked, ...lost });
    expect(h.clock.now() - since).toBeLessThan(MAX_NOT_CHARGED_MS + 3 * HOUR);
  },
);
