/**
 * The breakers of agents, judged at every write of their records.
 *
 * Owns: S9 for all executions together: no trial begins while an operator has paused the agent or while another trial may be under way, and
 * nothing of a breaker holds longer than its bound. Does not own: what is deferred meanwhile (`oracle.ts`).
 */

import type { Breakers } from '../../lib/core/ports.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { KindCounts } from './kinds.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** A trial that has said nothing for so long keeps nobody from the next one. */
const LONGEST_TRIAL_MS = 60_000;
/** The longest cooldown, with what is added at random. */
const LONGEST_COOLDOWN_MS = 150_000;

interface Judge {
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly violate: (agent: string, problem: string) => void;
}

/** The breakers with a judge behind every write. */
export function judgedBreakers(breakers: Breakers, { now, kinds, violate }: Judge): Breakers {
  const known = new Map<string, Breaker>();
  return {
    read: breakers.read,
    write: async (next) => {
      const result = await breakers.write(next);
      const before = known.get(next.agent);
      if (result === 'conflict' || before?.writeId === next.writeId) return result;
      known.set(next.agent, next);
      if (next.pause !== undefined && next.openedAt !== undefined && before?.pause === undefined)
        kinds.pausedWhileOpen += 1;
      for (const problem of problemsOf(before, next, now())) violate(next.agent, problem);
      return result;
    },
  };
}

function problemsOf(before: Breaker | undefined, next: Breaker, now: number): string[] {
  const problems: string[] = [];
  const { trial, trialUntil = 0, openUntil = 0, pause } = next;
  const begins = trial !== undefined && trial !== before?.trial;
  if (begins && pause !== undefined) problems.push('S9 a trial begins while its agent is paused');
  if (begins && (before?.openUntil ?? 0) > now + CLOCKS_DIFFER_MS)
    problems.push('S9 a trial begins before its cooldown is over');
  if (begins && before?.trial !== undefined && (before.trialUntil ?? 0) > now + CLOCKS_DIFFER_MS)
    problems.push('S9 a trial begins beside another one');
  if (trialUntil > now + LONGEST_TRIAL_MS + CLOCKS_DIFFER_MS)
    problems.push(`S9 a trial that may be dead holds its breaker for ${trialUntil - now} ms`);
  if (openUntil > now + LONGEST_COOLDOWN_MS + CLOCKS_DIFFER_MS)
    problems.push(`S9 a cooldown takes ${openUntil - now} ms`);
  return problems;
}
