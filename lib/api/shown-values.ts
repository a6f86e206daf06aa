/**
 * Loads values that are stored outside the table for an answer.
 *
 * Owns: which values are loaded. Does not own: loading (`engine/large-values.ts`), what does not fit
 * (`fitting.ts`).
 *
 * A value that is not loaded is named in `omitted`, like one that does not fit.
 */

import type { Ports } from '../core/ports.ts';
import { holderOf, type WantedValue } from '../core/records/large-values.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { loadedValue } from '../engine/large-values.ts';
import { MAX_ANSWER_BYTES } from './fitting.ts';

/**
 * The state with as many values as an answer can contain: first those of the chosen step, then the input,
 * then the rest.
 * @param only the chosen step
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
