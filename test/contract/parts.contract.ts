/** The contract of every store for reading only some steps of an execution. */

import type { Store } from '../../lib/core/ports.ts';
import { anExecution, aStep } from './records.ts';

export function parts(store: () => Store): void {
  it('has the steps that were asked for, as far as they are there, and the execution', async () => {
    const execution = anExecution({ input: { text: 'x'.repeat(3_000) } });
    await store().create(execution);
    const [a, b] = [aStep(), aStep({ name: 'b', status: 'done', output: { n: 1 } })];
    for (const step of [a, b]) await store().write({ executionId: 'e-1', step });
    const part = await store().readSteps?.('e-1', ['b', 'c']);
    expect(part?.steps).toStrictEqual({ b });
    expect(part?.isReadInPart).toBe(true);
    expect(part?.execution.input).toEqual(execution.input);
    expect((await store().readSteps?.('e-1', []))?.execution.version).toBe(1);
  });

  it('of an execution that was never made is nothing', async () => {
    expect(await store().readSteps?.('nobody', ['a'])).toBeUndefined();
  });
}
