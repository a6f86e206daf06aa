/**
 * Refuses unknown options of a test, because in JavaScript a misspelled one would silently be ignored. Also
 * finds the agents that need not be given.
 *
 * Does not own: which options exist (tables beside their types, kept equal by the compiler).
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

/** @throws SteadfastError `bad-option` */
export function checkChoice(of: string, value: unknown, choices: readonly string[]): void {
  if (choices.includes(value as string)) return;
  const allowed = choices.map((choice) => `'${choice}'`).join(' or ');
  throw refuse('bad-option', `${of} is '${String(value)}'; write ${allowed}`);
}

/** The workers of declared agents (`httpAgent`), which a test need not give. */
export const declaredIn = ({ agents }: Pick<Workflow, 'agents'>): readonly Worker[] =>
  agents.flatMap((agent) => {
    const { worker } = Object((agent as { handler?: unknown }).handler) as { worker?: Worker };
    return worker === undefined ? [] : [worker];
  });
