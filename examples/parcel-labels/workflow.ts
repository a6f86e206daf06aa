/**
 * Parcel labels: print a parcel's label, then order its pickup. The label is printed by a program in Python.
 *
 * Owns: the agents' contracts and the workflow. Does not own: how an agent does its work (`agents/`).
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '20s', settle: '1s' } as const;
const PATIENCE = retry(6, { first: '500ms', max: '5s' });

const Text = z.string().check(z.minLength(1));

/** The printer prints as often as it is asked, but keeps a journal of what it has printed. */
export const printLabel = agent('print-label', {
  input: z.object({ parcel: Text, address: Text }),
  output: z.object({ label: Text }),
  effect: 'probed',
  runsIn: 'container', // where Python is
  maxNoProgress: '10s', // the program says when the paper is in, and when it is printed
  ...LIMITS,
});

/** The carrier takes one order for each effect key. */
export const orderPickup = agent('order-pickup', {
  input: z.object({ parcel: Text, label: Text, kilograms: z.number() }),
  output: z.object({ pickup: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

const Parcel = z.object({ parcel: Text, address: Text, kilograms: z.number().check(z.positive()) });
export type Parcel = z.infer<typeof Parcel>;

export const parcelLabels = workflow('parcel-labels', { input: Parcel, within: '1h' }, (w) => {
  const { parcel, address, kilograms } = w.input;
  const print = w.step('print', printLabel, { parcel, address }, { recovery: [PATIENCE] });
  const pickup = w.step('pickup', orderPickup, { parcel, label: print.output.label, kilograms });
  return { label: print.output.label, pickup: pickup.output.pickup };
});
