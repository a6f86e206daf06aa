/**
 * The refusal of a workflow: the place, the mistake, and the reason as a code for programs.
 *
 * Owns: the error, and the place of an error that the author's function throws itself. Does not own: which
 * mistakes are refused (`check.ts`, `workflow.ts`).
 */

import { isSteadfastError, refuse, type SteadfastError } from '../../core/values/errors.ts';
import { defined } from '../../core/values/defined.ts';

export interface Problem {
  readonly reason: string;
  readonly message: string;
}

export const problem = (reason: string, message: string): Problem => ({ reason, message });

/** Makes the error `workflow-refused`, with the details `{ workflow, step?, reason }`. */
export function refusal(workflow: string, step: string | undefined, what: Problem): SteadfastError {
  const place = step === undefined ? `workflow '${workflow}'` : `workflow '${workflow}', step '${step}'`;
  const details = { workflow, ...defined({ step }), reason: what.reason };
  return refuse('workflow-refused', `${place}: ${what.message}`, details);
}

interface Building {
  readonly workflow: string;
  readonly steps: readonly { readonly name: string }[];
}

/**
 * Runs an author's function. If the function throws, its error's text gets the place: the step after which it
 * was thrown.
 */
export function built<R>(draft: Building, build: () => R): R {
  const { workflow: name, steps } = draft;
  try {
    const result = build();
    if (typeof (Object(result) as { then?: unknown }).then === 'function') throw asynchronous(name, result);
    return result;
  } catch (error) {
    const isRefusal = isSteadfastError(error) && error.code !== 'not-a-value';
    if (isRefusal || typeof error !== 'object' || error === null || !('message' in error)) throw error;
    const last = steps.at(-1)?.name;
    const place = last === undefined ? 'before its first step' : `after step '${last}'`;
    // Changes the error instead of replacing it, so that its stack still leads to the line.
    error.message = `workflow '${name}', ${place}: ${String(error.message)}${hintTo(String(error.message))}`;
    throw error;
  }
}

/** Refuses an asynchronous function: the steps after its first `await` would be declared too late. */
function asynchronous(name: string, result: unknown): SteadfastError {
  // Later errors of the function are ignored.
  void Promise.resolve(result).then(undefined, () => undefined);
  const message =
    'its function only declares steps, and nothing runs in it: remove async and await, and return no promise';
  return refusal(name, undefined, problem('async-builder', message));
}

/**
 * V8's message about a field of a step before its declaration. Only fields of steps are listed; a `name`
 * could belong to any object.
 */
const TOO_EARLY = /^Cannot read properties of undefined \(reading '(?:output|token|failure)'\)/;
/**
 * V8's message about a variable before its declaration, which may be a step or anything else further down in
 * the file.
 */
const UNDECLARED = /^Cannot access '(.*)' before initialization/;

/**
 * V8's message about `w.input.items.forEach()`: every field of a reference is a reference, never a function.
 */
const METHOD = /\.([a-zA-Z]+) is not a function$/;

function hintTo(message: string): string {
  if (TOO_EARLY.test(message))
    return ': a step is used before it is declared; declare it first (steps that wait for each other would never begin)';
  const [, name] = UNDECLARED.exec(message) ?? [];
  if (name !== undefined) return `: ${name} is used before it is declared; declare it first`;
  const [, method = ''] = METHOD.exec(message) ?? [];
  if (method in Array.prototype)
    return ": a list of the execution has no items while the workflow is built: write w.map('…', list, agent, (item) => ({ … }))";
  if (method in String.prototype)
    return ': a text of the execution is not there while the workflow is built: let an agent compute with it, and compare in `when` with eq, ne, isIn, matches';
  return '';
}
