/** The contract of every store of plans: a plan is never removed or overwritten. */

import type { Store } from '../../lib/core/ports.ts';
import { aPlan } from './records.ts';

export const plans: (store: () => Store) => void = (store) => {
  it('is read back as it was written', async () => {
    await store().writePlan('hash-1', aPlan);
    expect(await store().readPlan('hash-1')).toStrictEqual(aPlan);
  });

  it('that is not there is nothing', async () => {
    expect(await store().readPlan('hash-2')).toBeUndefined();
  });

  it('is never overwritten', async () => {
    await store().writePlan('hash-1', aPlan);
    await store().writePlan('hash-1', { ...aPlan, withinMs: 1 });
    expect(await store().readPlan('hash-1')).toStrictEqual(aPlan);
  });
};
