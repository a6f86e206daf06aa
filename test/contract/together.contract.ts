/** The contract of every store for writing two records together (S3). */

import type { Store } from '../../lib/core/ports.ts';
import { anExecution, aStep } from './records.ts';

const T = 1_700_000_000_000;

export function together(store: () => Store): void {
  const both = (writeId: string, execution = 2, step = 2) => ({
    executionId: 'e-1',
    execution: anExecution({ version: execution, writeId, wakeAt: T + 1 }),
    step: aStep({ version: step, writeId, status: 'done' }),
  });
  beforeEach(async () => {
    await store().create(anExecution());
    await store().write({ executionId: 'e-1', step: aStep() });
  });

  it('is made whole', async () => {
    expect(await store().write(both('w-2'))).toBe('written');
    const { execution, step } = both('w-2');
    expect(await store().read('e-1')).toStrictEqual({ execution, steps: { a: step } });
  });

  it.each([
    ['the execution', 3, 2],
    ['the step', 2, 3],
    ['both', 1, 1],
  ])('is not made at all when %s has moved on', async (_, execution, step) => {
    const before = await store().read('e-1');
    expect(await store().write(both('w-2', execution, step))).toBe('conflict');
    expect(await store().read('e-1')).toStrictEqual(before);
  });

  it('that is repeated counts as written (S15)', async () => {
    await store().write(both('w-2'));
    expect(await store().write(both('w-2'))).toBe('written');
  });

  it('of many at once is made by one', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, (_, at) => store().write(both(`w-x${at}`))));
    expect(results.filter((result) => result === 'written')).toHaveLength(1);
  });
}
