/**
 * Each failed call of a process counts once for the breaker, although several attempts may write the count.
 */

import { ProcessBreaker } from '../../lib/agent/breaker.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { anAgent, anyObject, harness, settle } from '../engine/harness.ts';

const T0 = 1_700_000_000_000;
const shipping = workflow('shipping', { input: anyObject, within: '1h' }, (w) => {
  w.step('ship', anAgent('carrier'), {});
  return {};
});

it('counts each failure once, though the answer to a write of another attempt is late', async () => {
  const h = harness(shipping, { carrier: { execute: async () => ({}), undo: async () => ({}) } });
  const inner = memoryBreakers();
  const late: (() => void)[] = [];
  const write = async (breaker: Breaker) => {
    const result = await inner.write(breaker);
    if (breaker.version === 1 && result === 'written')
      await new Promise<void>((resolve) => void late.push(resolve));
    return result;
  };
  const ports = { ...h, breakers: { read: (agent: string) => inner.read(agent), write } };
  const process = new ProcessBreaker('carrier');
  const fails = (attempt: number) => {
    const call = { executionId: 'x', step: 'ship', attempt, mode: 'probe', at: T0 + attempt } as const;
    return process.failed(ports, undefined, { code: 'x', message: 'y' }, call);
  };
  await process.pass(ports, 1_000);
  const first = fails(1);
  await settle();
  await fails(2);
  expect(await inner.read('carrier')).toMatchObject({ version: 2, score: 2 });
  late[0]?.();
  await first;
  await fails(3);
  const known = await inner.read('carrier');
  expect(known).toMatchObject({ version: 3, score: 3 });
  expect(known?.calls?.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});
