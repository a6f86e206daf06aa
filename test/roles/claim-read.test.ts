/** A step of a long execution is claimed on a part of it; nothing else is decided on a part (C1, S10, S13). */

import type { Send } from '../../lib/core/decide.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Message } from '../../lib/core/state.ts';
import { type Workflow, workflow } from '../../lib/core/workflow.ts';
import type { StepHandle } from '../../lib/index.ts';
import { cancel } from '../../lib/roles/commands.ts';
import type { MemoryWorld } from '../../lib/testing/memory.ts';
import { anAgent, anyObject, harness } from './harness.ts';

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

/** Counts the reads, and may meddle between those of a part. */
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

describe('a long chain', () => {
  it('is performed step by step on parts of it, each with what it needs, and read whole at its end', async () => {
    const { reads, wrap } = counting();
    const h = harness(chain(STEPS), agents, 1, wrap);
    const { id } = await h.begin({ n: 0 });
    const { execution } = await h.run(id, { supervised: false });
    expect([execution.status, execution.output]).toEqual(['succeeded', { n: STEPS }]);
    expect(reads.part).toBeGreaterThan(15);
    expect(reads.records).toBe(2 * reads.part);
    // Those near its start, and the last one, which ends it.
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

  it('that is canceled between the two reads of a part starts nothing more (S10)', async () => {
    let id = '';
    const { reads, wrap } = counting(async (step) => {
      if (step === LATE) await cancel(h.scheduler, id, { reason: 'no' });
    });
    const h = harness(chain(STEPS), agents, 1, wrap);
    ({ id } = await h.begin({ n: 0 }));
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps[LATE]?.status]).toEqual(['canceled', 'sealed']);
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
