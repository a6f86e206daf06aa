/**
 * Parcels that wait for a release between the steps of two agents. Meanwhile, the agents move to other
 * functions.
 */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Parcel = z.object({ parcel: z.int(), slow: z.boolean() });

const work = (name: string) =>
  agent(name, {
    input: Parcel,
    output: z.object({ done: z.string() }),
    effect: 'idempotent',
    undo: 'none',
    lease: '5s',
    timeout: '5s',
  });
export const packParcel = work('pack-parcel');
export const shipParcel = work('ship-parcel');

export const moved = workflow('moved', { input: Parcel, within: '1d' }, (w) => {
  const packed = w.step('pack', packParcel, w.input);
  const labelled = w.step('label', shipParcel, { parcel: w.input.parcel, slow: false }, { after: [packed] });
  const released = w.callback('release', { output: z.object({}), within: '1h', after: [labelled] });
  w.step('ship', packParcel, { parcel: w.input.parcel, slow: false }, { after: [released] });
});
