/**
 * The parts that an agent's declaration requires of its implementation, and those that it makes useless.
 *
 * Owns: that rule. Does not own: the types that say the same to an author's compiler (`lib/index.ts`).
 */

import type { AgentSpec } from './agent.ts';

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
