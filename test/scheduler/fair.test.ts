/** Fair shares: an execution's group goes from its input into each of its messages. */

import * as z from 'zod/mini';
import { bankTransfer } from '../../examples/bank-transfer/workflow.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { start } from '../../lib/scheduler/start.ts';
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

  it('is the paying account of a bank transfer: another customer has another share', async () => {
    const h = harness(bankTransfer, { 'hold-funds': fine, 'screen-transfer': fine, 'post-booking': fine });
    const pay = async (transfer: string, account: string, to: string): Promise<unknown> => {
      const sides = { from: { bank: 'north', account }, to: { bank: 'south', account: to } };
      const by = { kind: 'local', name: 'ann' } as const;
      const request = { workflow: 'bank-transfer', input: { transfer, ...sides, amount: 1 }, by };
      return (await start(h.scheduler, request)).fairGroup;
    };
    const ada = await pay('t1', 'ada', 'ben');
    expect(ada).toMatch(/^[a-z0-9]{16}$/);
    expect(await pay('t2', 'ada', 'cleo')).toBe(ada);
    expect(await pay('t3', 'dan', 'ben')).not.toBe(ada);
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
