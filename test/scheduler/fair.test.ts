/** Fair shares: whose an execution is, from its input to each of its messages. */

import * as z from 'zod/mini';
import { retry, workflow } from '../../lib/core/plan/builder/workflow.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const worker = anAgent('worker');
const quick = { recovery: [retry(0)] };
const fine = { execute: async () => ({}), undo: async () => undefined };

describe('whose an execution is (fairBy)', () => {
  const input = z.object({ tenant: z.string() });
  const part = workflow('part', { input: anyObject, within: '30s' }, (w) => {
    w.step('a', worker, {}, quick);
  });
  const fair = workflow('fair', { input, within: '1m', fairBy: ({ tenant }) => tenant }, (w) => {
    w.step('a', worker, {}, quick);
    w.child('part', part, {});
  });

  it('goes out with each message as a hash, also with those of executions that it runs', async () => {
    const h = harness(fair, { worker: fine });
    const { id, fairGroup } = await h.begin({ tenant: 'acme' });
    expect(fairGroup).toMatch(/^[a-z0-9]{16}$/);
    expect(h.sent.map(({ group }) => group)).toEqual([fairGroup, fairGroup]);
    await h.run(id);
    const child = await h.scheduler.ports.store.readExecution(`${id}.part.0`);
    expect(child).toMatchObject({ status: 'succeeded', fairGroup });
    expect((await h.begin({ tenant: 'acme' })).fairGroup).toBe(fairGroup);
    expect((await h.begin({ tenant: 'other' })).fairGroup).not.toBe(fairGroup);
  });

  it('is nobody where the input does not say', async () => {
    const unsaid = {
      input: anyObject,
      within: '1m',
      fairBy: (given: unknown) => Object(given).tenant as never,
    };
    const free = workflow('free', unsaid, (w) => void w.step('a', worker, {}, quick));
    const h = harness(free, { worker: fine });
    for (const given of [{}, { tenant: null }, { tenant: true }, { tenant: { a: 1 } }])
      expect(await h.begin(given)).not.toHaveProperty('fairGroup');
    expect((await h.begin({ tenant: 7 })).fairGroup).toBe((await h.begin({ tenant: '7' })).fairGroup);
  });

  it('is refused where a function returns nothing, as JavaScript lets it', () => {
    const unsaid = { input: anyObject, within: '1m', fairBy: () => undefined as never } as const;
    expect(() => workflow('free', unsaid, (w) => void w.step('a', worker, {}))).toThrow(
      /'fairBy' reads nothing of the input/,
    );
  });
});
