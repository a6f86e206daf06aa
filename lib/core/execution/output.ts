/**
 * The output of an execution.
 *
 * Owns: whether it is kept in the execution's record or computed again from the steps' outputs. Does not own:
 * its computation (`plan/refs.ts`).
 *
 * The record is written once more after the end, and each started KB costs again. A large output would copy
 * the contents of the steps' records, which are read with it, so it is not kept. The output of a part or a
 * child is kept, because its parent reads only that record.
 */

import type { Plan } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import { defined } from '../values/defined.ts';
import { type Json, utf8Bytes } from '../values/json.ts';
import { MAX_WHOLE_BYTES, mostBytes } from '../records/large-values.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Execution } from '../records/state.ts';
import { hasOutput } from '../records/value-ref.ts';
import { leftOutIn, lostIn } from '../step/left-out.ts';
import { scopeOf } from '../step/turn.ts';

/** An output up to this size is always kept: it costs hardly more than the rest of the record. */
const SMALL_BYTES = 200;
/**
 * The largest output that a record keeps: with the largest input it still fits into an item of the store (400
 * KB).
 */
const MAX_KEPT_BYTES = 100_000;
/** The largest output that is shown; a larger one must be read step by step. */
const MAX_SHOWN_BYTES = 100_000;

/**
 * Returns the fields for the output in the record of a successful execution. It never fails, because an end
 * must always be possible.
 */
export function storedOutput(
  plan: Plan,
  state: Snapshot,
): Pick<Execution, 'output' | 'outputBytes' | 'lostBytes'> {
  const output = made(plan, state);
  const bytes = utf8Bytes(JSON.stringify(output));
  const leftOut = leftOutIn(plan.output, state);
  // A missing input does not undo the execution: all its steps are done, and an end must be possible. The
  // output counts as too large to be shown, as it would be with that input.
  if (leftOut !== undefined)
    return {
      outputBytes: Math.max(bytes, MAX_SHOWN_BYTES + 1),
      ...defined({ lostBytes: lostIn(plan.output ?? null, state)?.bytes }),
    };
  const most =
    state.execution.parent === undefined ? SMALL_BYTES : mostBytes(state, MAX_KEPT_BYTES, MAX_WHOLE_BYTES);
  // An item whose output was not kept must not look like a failed item.
  if (isIncomplete(plan, state)) {
    const lost = Object.values(state.steps).find(({ children }) => children?.lostBytes !== undefined);
    return {
      outputBytes: Math.max(bytes, MAX_SHOWN_BYTES + 1),
      ...defined({ lostBytes: lost?.children?.lostBytes }),
    };
  }
  return bytes > most ? { outputBytes: bytes } : { output };
}

/** Returns the output, or the size of an output that is not shown. */
export function outputOf(plan: Plan, state: Snapshot): Pick<Execution, 'output' | 'outputBytes'> {
  const { output, outputAt, outputBytes } = state.execution;
  if (output !== undefined) return { output };
  if (outputAt !== undefined) return { outputBytes: outputAt.bytes };
  if (outputBytes === undefined) return {};
  return outputBytes > MAX_SHOWN_BYTES ? { outputBytes } : { output: made(plan, state) };
}

/** True if outputs of items are missing. Only a part of a list of workflows can lack them. */
const isIncomplete = ({ tolerated }: Plan, { steps }: Snapshot): boolean =>
  tolerated !== undefined &&
  Object.values(steps).some(
    (step) => step.status === 'done' && step.children !== undefined && !hasOutput(step),
  );

const made = (plan: Plan, state: Snapshot): Json => evaluateExpression(plan.output, scopeOf(state)) ?? null;
