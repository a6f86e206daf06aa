/**
 * What an agent's declaration requires of its implementation, and which parts it makes useless.
 *
 * Owns: that rule. Does not own: the types that say the same to an author's compiler (`lib/index.ts`).
 */

import type { AgentSpec } from './agent.ts';

/** Which parts of an implementation the declaration asks for, beside `execute`. */
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

/** Parts that would never be called, although the author counts on them. */
export const uselessPartsOf = ({ effect, probe }: Pick<AgentSpec, 'effect' | 'probe'>): 'probe'[] =>
  effect === 'unsafe' || probe === 'none' ? ['probe'] : [];
