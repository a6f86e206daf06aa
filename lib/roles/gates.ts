/**
 * What a supervisor may send to whom in one sweep.
 *
 * Owns: one read of an agent's breaker per sweep, and only when there is something for that agent; at most so many messages
 * per sweep and agent, and when the rest's turn is. A sweep through very much takes as long as many: for each sweep's time
 * it counts as another one. Does not own: what is then parked or put off (`core/dispatch.ts`).
 *
 * After an outage everything is due at once. Sweeps go through it oldest first; what a sweep has no messages left for is
 * put off by as many sweeps as it takes, so that it is looked at once more and not in every sweep.
 */

import { type Breaker, passageOf } from '../core/breaker.ts';
import type { Gate, Gates } from '../core/dispatch.ts';
import type { Ports } from '../core/ports.ts';

/** A supervisor sends only what was lost or held back, so this bounds a stampede and nothing else. */
export const SENDS_PER_SWEEP = 300;
/** Where one message may bring the trial, the others wait at least this much longer. */
const TRIAL_MS = 10_000;

export interface GateKeeper {
  /** @param agents how many messages are meant for each. Never rejects. */
  readonly ask: (agents: Readonly<Record<string, number>>) => Promise<Gates>;
}

interface Pace {
  readonly since: number;
  readonly breaker: Promise<Breaker | undefined>;
  left: number;
  putOff: number;
  /** The one message that may become the trial. */
  triedOut: boolean;
}

/** For one sweep. */
export function gateKeeper(ports: Ports, sweepEveryMs: number): GateKeeper {
  const paces = new Map<string, Pace>();
  const paceOf = (agent: string): Pace => {
    const known = paces.get(agent);
    const since = ports.clock.now();
    if (known !== undefined && since - known.since < sweepEveryMs) return known;
    // A breaker that cannot be read holds nothing back: the agent has one more to ask.
    const breaker = Promise.resolve(ports.breakers?.read(agent)).catch(() => {
      ports.log.note({ what: 'breaker-failed', agent });
      return undefined;
    });
    const putOff = Math.max(0, (known?.putOff ?? 0) - SENDS_PER_SWEEP);
    const pace = { since, breaker, left: SENDS_PER_SWEEP, putOff, triedOut: false };
    paces.set(agent, pace);
    return pace;
  };
  const gateOf = async (agent: string, wanted: number): Promise<Gate> => {
    const pace = paceOf(agent);
    const breaker = await pace.breaker;
    const now = ports.clock.now();
    const passage = passageOf(breaker, now);
    if (passage.kind === 'hold') return { hold: passage.hold, sends: 0, laterAt: passage.hold.until };
    if (passage.kind === 'trial' && pace.triedOut) {
      const hold = { agent, since: breaker?.openedAt ?? now, until: now + TRIAL_MS };
      return { hold, sends: 0, laterAt: hold.until };
    }
    if (passage.kind === 'trial') pace.triedOut = true;
    const allowed = passage.kind === 'trial' ? 1 : pace.left;
    const sends = Math.min(wanted, allowed);
    pace.left -= sends;
    pace.putOff += wanted - sends;
    const sweeps = Math.ceil(pace.putOff / SENDS_PER_SWEEP);
    return { sends, laterAt: now + Math.floor((sweeps - ports.dice.random() / 2) * sweepEveryMs) };
  };
  return {
    ask: async (agents) => {
      const asked = Object.entries(agents).map(
        async ([agent, wanted]) => [agent, await gateOf(agent, wanted)] as const,
      );
      return Object.fromEntries(await Promise.all(asked));
    },
  };
}
