/**
 * The refusal of a workflow: where it is, what is wrong, and by which reason programs know it.
 *
 * Owns: the error. Does not own: what is refused (`check.ts`, `workflow.ts`).
 */

import { refuse, type SteadfastError } from '../records/errors.ts';
import { given } from '../records/given.ts';

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
