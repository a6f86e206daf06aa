/**
 * What a test's options say: the refusal of one that there is not (a misspelled one would be left out in
 * silence, in JavaScript), and the agents that need not be given.
 *
 * Does not own: which options there are (tables beside their types, which the compiler holds equal to them).
 */

import type { Worker } from '../lib/agent/author-code.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import { refuse } from '../lib/core/values/errors.ts';
import { type Keys, optionProblem } from '../lib/core/values/options.ts';

/** @throws SteadfastError `bad-option` */
export function checkOptions(of: string, options: unknown, keys: Keys): void {
  const found = optionProblem(options, keys);
  if (found !== undefined) throw refuse('bad-option', `${of}: ${found}`);
}

/** Those whose work is declared (`httpAgent`) bring it along, if the test has none in its place. */
export const declaredIn = ({ agents }: Pick<Workflow, 'agents'>): readonly Worker[] =>
  agents.flatMap((agent) => {
    const { worker } = Object((agent as { handler?: unknown }).handler) as { worker?: Worker };
    return worker === undefined ? [] : [worker];
  });
