/**
 * The refusal of a workflow: where it is, what is wrong, and by which reason programs know it.
 *
 * Owns: the error, and the place of what an author's function throws itself. Does not own: what is
 * refused (`check.ts`, `workflow.ts`).
 */

import { isSteadfastError, refuse, type SteadfastError } from '../values/errors.ts';
import { given } from '../values/given.ts';

export interface Problem {
  readonly reason: string;
  readonly message: string;
}

export const problem = (reason: string, message: string): Problem => ({ reason, message });

/** @returns `workflow-refused`, with the details `{ workflow, step?, reason }` */
export function refusal(workflow: string, step: string | undefined, what: Problem): SteadfastError {
  const place = step === undefined ? `workflow '${workflow}'` : `workflow '${workflow}', step '${step}'`;
  const details = { workflow, ...given({ step }), reason: what.reason };
  return refuse('workflow-refused', `${place}: ${what.message}`, details);
}

interface Building {
  readonly workflow: string;
  readonly steps: readonly { readonly name: string }[];
}

/**
 * What the author's function throws that is no refusal of ours gets its place: the step that it came after.
 */
export function built<R>(draft: Building, build: () => R): R {
  const { workflow: name, steps } = draft;
  try {
    return build();
  } catch (error) {
    const isRefusal = isSteadfastError(error) && error.code !== 'not-a-value';
    if (isRefusal || typeof error !== 'object' || error === null || !('message' in error)) throw error;
    const last = steps.at(-1)?.name;
    const place = last === undefined ? 'before its first step' : `after step '${last}'`;
    // The same error, so that its stack still leads to the line.
    error.message = `workflow '${name}', ${place}: ${String(error.message)}`;
    throw error;
  }
}
