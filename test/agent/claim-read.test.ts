/** A claim reads only a part of a long execution; every other decision reads all of it (C1, S10, S13). */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Message } from '../../lib/core/decisions/message.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { StepHandle } from '../../lib/index.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness, type Harness, settle } from '../engine/harness.ts';

const STEPS = 60;
const LATE = `s${STEPS - 5}`;
const worker = anAgent('worker');

const chain = (steps: number, pointOfNoReturn = false): Workflow =>
  workflow('chain', { input: anyObject, within: '1h' }, (w) => {
    let before: StepHandle<Record<string, unknown>> | undefined;
    for (let at = 0; at < steps; at += 1) {
      const after = before === undefined ? {} : { after: [before] };
      const input = { n: before === undefined ? w.input['n'] : before.output['n'] };
      before = w.step(`s${at}`, worker, input as never, {
        ...after,
        ...(pointOfNoReturn && at === 3 ? { pointOfNoReturn: true } : {}),
      });
    }
    return { n: (before as StepHandle<Record<string, unknown>>).output['n'] };
  }) as Workflow;

/** Counts the reads, and calls `meddle` between the reads of a part. */
function counting(meddle: (step: string) => Promise<void> = async () => undefined) {
  const reads = { whole: 0, part: 0, records: 0 };
  const wrap = (world: MemoryWorld): Ports => ({
    ...world,
    store: Object.assign(Object.create(world.store) as typeof world.store, {
      read: async (id: string) => {
        reads.whole += 1;
        return world.store.read(id);
      },
      readSteps: async (id: string, names: readonly string[]) => {
        reads.part += 1;
        reads.records += names.length;
        const { steps } = (await world.store.readSteps(id, names)) ?? { steps: {} };
        await meddle(names[0] ?? '');
        const execution = await world.store.readExecution(id);
        return execution && { execution, steps };
      },
    }),
  });
  return { reads, wrap };
}

const undone: string[] = [];
const execute = async (_: unknown, input: unknown): Promise<unknown> => ({
  n: ((input as { n: number }).n ?? 0) + 1,
});
const agents = { worker: { execute, undo: async (ctx: { step: string }) => void undone.push(ctx.step) } };
beforeEach(() => {
  undone.length = 0;
});

/**
 * A partial read reads one record after another, the execution's last. A cancel, with all its consequences,
 * happens at one of these reads. A step's message also arrives too early, while its predecessors run: then
 * the step may not be claimed.
 */
describe('a diamond, read in part throughout', () => {
  const diamond = workflow('diamond', { input: anyObject, within: '1h' }, (w) => {
    const a = w.step('a', worker, {});
    const [b, c] = [w.step('b', worker, {}, { after: [a] }), w.step('c', worker, {}, { after: [a] })];
    const d = w.step('d', worker, {}, { after: [b, c] });
    w.step('e', worker, {}, { after: [d] });
    return {};
  }) as Workflow;
  /** How many reads of the queue happen between a cancel and the next read. */
  const SINGLE_FLIGHT = 8;
  const NEXT: Record<string, readonly string[]> = { a: ['b', 'c'], b: ['d'], c: ['d'], d: ['e'], e: [] };

  async function runCanceledAt(read: number, singleFlight: number) {
    let id = '';
    let reads = 0;
    const events: string[] = [];
    const at = async (): Promise<void> => {
      if ((reads += 1) !== read) return;
      await cancel(h.scheduler, id, { reason: 'no' }).catch(() => undefined);
      for (let turn = 0; turn < singleFlight; turn += 1) await settle();
    };
    const wrap = (world: MemoryWorld): Ports => ({
      ...world,
      queue: {
        send: async (sends) => {
          const plan = [...h.scheduler.workflows.values()][0]?.planHash ?? '';
          await world.queue.send(sends.map((send) => ({ ...send, message: { ...send.message, plan } })));
        },
      },
      store: Object.assign(Object.create(world.store) as typeof world.store, {
        readSteps: async (execution: string, names: readonly string[]) => {
          const steps: Record<string, Step> = {};
          for (const name of names) {
            Object.assign(steps, (await world.store.readSteps(execution, [name]))?.steps);
            await at();
          }
          const own = await world.store.readExecution(execution);
          return own && { execution: own, steps };
        },
      }),
    });
    const early = (step: string): void => {
      const [plan] = [...h.scheduler.workflows.values()];
      for (const next of NEXT[step] ?? []) {
        const message = {
          v: 1,
          execution: id,
          step: next,
          mode: 'execute',
          attempt: 1,
          plan: plan?.planHash,
        };
        h.sent.push({ agent: 'worker', delayMs: 0, message: message as Message });
      }
    };
    const h: Harness = harness(
      diamond,
      {
        worker: {
          execute: async ({ step }) => {
            events.push(`+${step}`);
            early(step);
            for (let turn = 0; turn < 8; turn += 1) await settle();
            return {};
          },
          undo: async ({ step }) => void events.push(`-${step}`),
        },
      },
      1,
      wrap,
      { recordsARead: 0 },
    );
    ({ id } = await h.begin());
    const { execution } = await h.run(id);
    return { status: execution.status, events, reads };
  }

  it('and canceled at any of these reads begins nothing once it has begun to undo, and undoes all (S10)', async () => {
    const { status, events, reads } = await runCanceledAt(0, 0);
    expect([status, [...events].sort()]).toEqual(['succeeded', ['+a', '+b', '+c', '+d', '+e']]);
    expect(reads).toBeGreaterThan(5);
    const statuses = new Set<string>();
    const tries = Array.from({ length: reads * SINGLE_FLIGHT }, (_, at) => [
      1 + (at % reads),
      Math.floor(at / reads),
    ]);
    for (const [read = 0, singleFlight = 0] of tries) {
      const canceled = await runCanceledAt(read, singleFlight);
      statuses.add(canceled.status);
      if (canceled.status === 'succeeded') continue;
      const firstUndo = canceled.events.findIndex((event) => event.startsWith('-'));
      const begun = canceled.events.slice(0, firstUndo < 0 ? undefined : firstUndo);
      const after = firstUndo < 0 ? [] : canceled.events.slice(firstUndo);
      expect([read, singleFlight, begun.map((event) => event.slice(1)).sort()]).toEqual([
        read,
        singleFlight,
        after.map((event) => event.replace(/^-/, '')).sort(),
      ]);
    }
    expect(statuses).toContain('canceled');
  });
});

describe('a long chain', () => {
  it('is performed step by step on parts of it, each with what it needs, and read whole at its end', async () => {
    const { reads, wrap } = counting();
    const h = harness(chain(STEPS), agents, 1, wrap);
    const { id } = await h.begin({ n: 0 });
    const { execution } = await h.run(id, { supervised: false });
    expect([execution.status, execution.output]).toEqual(['succeeded', { n: STEPS }]);
    expect(reads.part).toBeGreaterThan(15);
    expect(reads.records).toBe(2 * reads.part);
    // The steps near its start, and the last one, which ends it.
    expect(reads.whole).toBe(STEPS - reads.part + 1);
  });

  it.each<[string, Workflow]>([
    ['that is short', chain(30)],
    ['with a point of no return', chain(STEPS, true)],
  ])('%s is read whole', async (_, flow) => {
    const { reads, wrap } = counting();
    const h = harness(flow, agents, 1, wrap);
    const { execution } = await h.run((await h.begin({ n: 0 })).id, { supervised: false });
    expect([execution.status, reads.part]).toEqual(['succeeded', 0]);
  });

  it('is read whole where a part would be all its steps: the end follows from no part, which has no incidents', async () => {
    const { reads, wrap } = counting();
    const h = harness(chain(2), agents, 1, wrap, { recordsARead: 0 });
    const { execution } = await h.run((await h.begin({ n: 0 })).id, { supervised: false });
    expect([execution.status, reads.part]).toEqual(['succeeded', 0]);
  });

  it('has a join that waits for many read whole, and one that waits for three in part', async () => {
    const joined = workflow('joined', { input: anyObject, within: '1h' }, (w) => {
      const all = Array.from({ length: STEPS + 20 }, (_, at) => w.step(`s${at}`, worker, {}));
      w.step('three', worker, {}, { after: all.slice(0, 3) });
      w.step('four', worker, {}, { after: all.slice(0, 4) });
      return {};
    }) as Workflow;
    const asked: string[] = [];
    const { wrap } = counting(async (step) => void asked.push(step));
    const h = harness(joined, agents, 1, wrap);
    const { execution } = await h.run((await h.begin({ n: 0 })).id, { supervised: false });
    expect([execution.status, asked.includes('three'), asked.includes('four')]).toEqual([
      'succeeded',
      true,
      false,
    ]);
  });

  it('that is canceled between the two reads of a part starts nothing more (S10)', async () => {
    let id = '';
    const { reads, wrap } = counting(async (step) => {
      if (step === LATE) await cancel(h.scheduler, id, { reason: 'no' });
    });
    const h = harness(chain(STEPS), agents, 1, wrap);
    ({ id } = await h.begin({ n: 0 }));
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps[LATE]?.status]).toEqual(['canceled', 'fenced']);
    expect(undone).toHaveLength(STEPS - 5);
    expect(reads.part).toBeGreaterThan(10);
  });

  it.each<[string, Partial<Message>]>([
    ['names another plan', { plan: 'forged' }],
    ['names none', { plan: '' }],
    ['is for a step that is done', { step: 's50' }],
    ['is for an attempt that never was', { attempt: 7 }],
  ])('takes no harm from a message that %s (S13)', async (_, changes) => {
    const { wrap } = counting();
    const h = harness(chain(STEPS), agents, 1, wrap);
    const { id } = await h.begin({ n: 0 });
    const caught: Send[] = [];
    const deliverable = (send: Send): boolean => send.message.step !== LATE || (caught.push(send), false);
    await h.run(id, { deliverable, until: () => caught.length > 0 });
    const [sent] = caught;
    if (sent === undefined) throw new Error('nothing was sent');
    await h.deliver({ ...sent, message: { ...sent.message, ...changes } });
    const { execution } = await h.run(id);
    expect([execution.status, execution.output]).toEqual(['succeeded', { n: STEPS }]);
  });
});
