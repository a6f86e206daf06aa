/**
 * Outputs of a list's items that were too large to be kept, and what would read them.
 *
 * Owns: which expressions read what was left out, and why that fails. Does not own: what is kept
 * (`execution/on-child.ts`), what follows for the step that reads it.
 *
 * S6 nothing is read in their place: neither nothing at all nor what `orElse` says, for the items
 * were done. `exists` alone may ask.
 */

import type { MapStep, Stage } from '../plan/plan.ts';
import type { Expr } from '../plan/refs.ts';
import { valuesReadIn } from '../plan/refs-in.ts';
import { MAX_GATHERED_BYTES } from '../records/children.ts';
import type { Failure } from '../values/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';

/** Why an expression cannot be evaluated, or nothing. */
export function leftOutIn(expr: Expr | undefined, steps: Snapshot['steps']): Failure | undefined {
  // Most executions have no such list, and no expression is searched for them.
  if (expr === undefined || !Object.values(steps).some(isLeftOut)) return undefined;
  for (const { source, path } of valuesReadIn(expr)) {
    const name = source.startsWith('step:') ? source.slice('step:'.length) : '';
    const bytes = steps[name]?.children?.leftOutBytes;
    if (bytes === undefined || (path.length > 0 && path[0] !== 'items')) continue;
    const message = `it reads the outputs of the items of '${name}', which have ${bytes} bytes together; kept are ${MAX_GATHERED_BYTES}: have each item answer with less, for example a reference to a store of yours`;
    return { code: 'list-too-large', message };
  }
  return undefined;
}

/** The same of a list: of what it maps over, and of what each item is given. */
export const leftOutOfList = ({ over, each }: MapStep, steps: Snapshot['steps']): Failure | undefined => {
  const recovery: readonly Stage[] = each.recovery ?? [];
  const others = recovery.flatMap((stage) => (stage.kind === 'withInput' ? [stage.input] : []));
  return leftOutIn([over, each.input, ...others], steps);
};

const isLeftOut = ({ children }: Snapshot['steps'][string] & object): boolean =>
  children?.leftOutBytes !== undefined;
