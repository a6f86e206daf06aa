/**
 * The parts that an agent's declaration requires of its implementation, those that it makes useless, and
 * names that are not parts.
 *
 * Owns: these rules. Does not own: the types that say the same to an author's compiler (`lib/index.ts`).
 */

import { isPlainObject } from '../values/json.ts';
import { nearest } from '../values/nearest.ts';
import type { AgentSpec } from './agent.ts';

const PARTS: readonly string[] = ['execute', 'probe', 'undo'];

/** The parts of an implementation that the declaration requires, besides `execute`. */
export const partsOf = ({
  effect,
  probe,
  undo,
  acceptsMs,
}: Pick<AgentSpec, 'effect' | 'probe' | 'undo' | 'acceptsMs'>): ('probe' | 'undo')[] => [
  ...(probe === 'required' || (probe === undefined && effect === 'probed') || acceptsMs !== undefined
    ? (['probe'] as const)
    : []),
  ...(undo === 'required' ? (['undo'] as const) : []),
];

/** Parts that would never be called, although the author relies on them. */
export const uselessPartsOf = ({ effect, probe }: Pick<AgentSpec, 'effect' | 'probe'>): 'probe'[] =>
  effect === 'unsafe' || probe === 'none' ? ['probe'] : [];

/**
 * The mistake in an implementation without checked types: no `execute`, an unknown part, or one that is not a
 * function. Otherwise an unknown option would be silently ignored.
 * @param needsExecute false if the parts of another implementation stay
 */
export function partProblem(implementation: unknown, needsExecute = true): string | undefined {
  const own = Object(implementation) as Readonly<Record<string, unknown>>;
  // An object of a class may have fields and methods of any name.
  const stranger = isPlainObject(own)
    ? Object.keys(own).find((key) => !PARTS.includes(key) && own[key] !== undefined)
    : undefined;
  if (stranger !== undefined) return strangerText(stranger);
  const wrong = PARTS.find((part) => own[part] !== undefined && typeof own[part] !== 'function');
  if (wrong !== undefined)
    return `'${wrong}' of its handler is not a function: write ${wrong}: async (ctx, input) => …`;
  if (!needsExecute || own['execute'] !== undefined) return undefined;
  return 'its handler has no execute: write .handler({ execute: async (ctx, input) => … })';
}

function strangerText(key: string): string {
  const meant = nearest(key, PARTS);
  const text = `'${key}' is not a part of a handler; `;
  return meant === undefined
    ? `${text}there are ${PARTS.join(', ')}; options are declared with the agent or its step, and what the handler uses belongs into its module or a class`
    : `${text}did you mean '${meant}'?`;
}
