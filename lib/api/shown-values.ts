/**
 * Values that lie beside the table, as an answer shows them.
 *
 * Owns: which are loaded for it. Does not own: loading (`engine/large-values.ts`), what there is no room for
 * (`fitting.ts`).
 *
 * What is not loaded is named like what there is no room for (`omitted`).
 */

import type { Ports } from '../core/ports.ts';
import { holderOf, type WantedValue } from '../core/records/large-values.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { loadedValue } from '../engine/large-values.ts';
import { MAX_ANSWER_BYTES } from './fitting.ts';

/**
 * The state with as many values as an answer may hold: first the wanted step's, then the input, then the
 * rest.
 * @param only the step that is wanted
 */
export async function withShown(ports: Ports, state: Snapshot, only?: string): Promise<Snapshot> {
  const { input, inputAt } = state.execution;
  const wanted: WantedValue[] =
    inputAt !== undefined && input === null ? [{ holder: 'input', ref: inputAt }] : [];
  for (const { name, output, outputAt: ref } of Object.values(state.steps)) {
    if (ref === undefined || output !== undefined) continue;
    const value: WantedValue = { holder: holderOf(name), ref };
    if (name === only) wanted.unshift(value);
    else wanted.push(value);
  }
  let left = MAX_ANSWER_BYTES;
  let shown = state;
  for (const value of wanted) {
    if (value.ref.bytes > left) continue;
    left -= value.ref.bytes;
    shown = await loadedValue(ports, shown, value);
  }
  return shown;
}
