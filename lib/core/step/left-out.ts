/**
 * Values that cannot be read: outputs of a list's items that were too large to be kept, and lost values
 * outside the table.
 *
 * Owns: finding the expressions that read them, and the failure. Does not own: which outputs are kept
 * (`execution/on-child.ts`), the consequences for the step that reads one.
 *
 * S6 such a value does not count as absent, and `orElse` does not replace it, because the work was done. Only
 * `exists` may read it.
 */

import { type MapStep, ownExpressions } from '../plan/plan.ts';
import type { Expr } from '../plan/refs.ts';
import { sourcesIn, valuesReadIn } from '../plan/refs-in.ts';
import { MAX_GATHERED_BYTES } from '../records/children.ts';
import { holderOf, isLost, MAX_WHOLE_BYTES, mostBytes } from '../records/large-values.ts';
import type { Failure } from '../values/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';

/** Why an expression cannot be evaluated; undefined if it can. */
export function leftOutIn(expr: Expr | undefined, state: Snapshot): Failure | undefined {
  const { steps } = state;
  if (expr === undefined) return undefined;
  const lost = lostIn(expr, state);
  if (lost !== undefined) return lostValue(lost.what, lost.bytes);
  // Most executions have no such list, so their expressions need not be searched.
  if (!Object.values(steps).some(isLeftOut)) return undefined;
  for (const { source, path } of valuesReadIn(expr)) {
    const name = source.startsWith('step:') ? source.slice('step:'.length) : '';
    const { leftOutBytes: bytes, lostBytes } = steps[name]?.children ?? {};
    if (bytes === undefined || (path.length > 0 && path[0] !== 'items')) continue;
    if (lostBytes !== undefined) return lostValue(`the output of an item of '${name}'`, lostBytes);
    const message = `it reads the outputs of the items of '${name}', which have ${bytes} bytes in all; at most ${mostBytes(state, MAX_GATHERED_BYTES, MAX_WHOLE_BYTES)} are allowed: let each item return less, for example a reference to a store of yours`;
    return { code: 'list-too-large', message };
  }
  return undefined;
}

/** The same for a list: for the value that it maps over, and for each item's input. */
export const leftOutOfList = (step: MapStep, state: Snapshot): Failure | undefined =>
  leftOutIn(ownExpressions(step), state);

/** A lost value that the expression reads in any way, even by `exists`. */
export function lostIn(
  expr: Expr,
  state: Snapshot,
): { readonly what: string; readonly bytes: number } | undefined {
  const { execution, steps, values } = state;
  if (values === undefined || values.lost.size === 0) return undefined;
  for (const source of sourcesIn(expr)) {
    const name = source.startsWith('step:') ? source.slice('step:'.length) : undefined;
    const ref =
      source === 'input' ? execution.inputAt : name === undefined ? undefined : steps[name]?.outputAt;
    const holder = name === undefined ? 'input' : holderOf(name);
    if (ref === undefined || !isLost(state, { holder, ref })) continue;
    const what = name === undefined ? 'the input of the execution' : `the output of '${name}'`;
    return { what, bytes: ref.bytes };
  }
  return undefined;
}

/** The same for the input of the current round. */
export function lostOfRound(state: Snapshot, record: Step | undefined): Failure | undefined {
  const ref = record?.children?.rounds?.inputAt;
  if (record === undefined || ref === undefined || !isLost(state, { holder: holderOf(record.name), ref }))
    return undefined;
  return lostValue(`the input of a round of '${record.name}'`, ref.bytes);
}

export const isLostFailure = (failure: Failure | undefined): boolean => failure?.code === 'value-lost';

/** The failure of a step that reads a lost value. */
export const lostValue = (what: string, bytes: number): Failure => ({
  code: 'value-lost',
  message: `it reads ${what}, a large value (${bytes} bytes) that has been deleted or replaced`,
});

const isLeftOut = ({ children }: Snapshot['steps'][string] & object): boolean =>
  children?.leftOutBytes !== undefined;
