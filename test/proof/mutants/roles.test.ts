/** What planted bugs showed that no other test asks of the roles: heartbeats end with their attempt, questions with their time. */

import { PermanentError } from '../../../lib/core/records/errors.ts';
import { human, workflow } from '../../../lib/core/plan/workflow.ts';
import { anAgent, anyObject, harness, settle } from '../../engine/harness.ts';

const undo = async (): Promise<void> => undefined;

describe('an attempt', () => {
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

describe('a question that nobody has answered', () => {
  it('is answered by the first look after its time (L1)', async () => {
    const worker = anAgent('worker');
    const flow = workflow('flow', { input: anyObject, within: '10d' }, (w) => {
      w.step('asked', worker, {}, { recovery: [human({ within: '1h' })] });
    });
    const execute = async (): Promise<never> => {
      throw new PermanentError('declined');
    };
    const h = harness(flow, { worker: { execute, undo } });
    const { id } = await h.begin();
    for (const send of h.sent.splice(0)) await h.deliver(send);
    await settle();
    const question = (await h.state(id)).incidents?.[1];
    expect(question).toMatchObject({ step: 'asked' });
    expect(question).not.toHaveProperty('resolvedAt');
    h.clock.advanceTo(question?.deadlineAt ?? 0);
    await h.sweep();
    expect((await h.state(id)).incidents?.[1]).toMatchObject({ by: 'deadline', choice: 'undo-all' });
  });
});
