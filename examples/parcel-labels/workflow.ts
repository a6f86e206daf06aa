/**
 * Parcel labels: print a parcel's label, then order its pickup. A Python program prints the label.
 *
 * Owns: the workflow. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`).
 */

import { retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { orderPickup, printLabel, Text } from './contracts.ts';

const PATIENCE = retry(6, { delay: '500ms', maxDelay: '5s' });

const Parcel = z.object({ parcel: Text, address: Text, kilograms: z.number().check(z.positive()) });
export type Parcel = z.infer<typeof Parcel>;

export const parcelLabels = workflow('parcel-labels', { input: Parcel, within: '1h' }, (w) => {
  const { parcel, address, kilograms } = w.input;
  const print = w.step('print', printLabel, { parcel, address }, { recovery: [PATIENCE] });
  const pickup = w.step('pickup', orderPickup, { parcel, label: print.output.label, kilograms });
  return { label: print.output.label, pickup: pickup.output.pickup };
});
