/**
 * What a supervisor may send to whom in one sweep.
 *
 * Owns: one read of an agent's breaker per sweep, and only when there is something for that agent; at most so many messages
 * per sweep and agent, no more than its queue has room for but always a few, and when the rest's turn is. A sweep through
 * very much takes as long as many: for each sweep's time it counts as another one. Does not own: what is then parked or put
 * off (`core/dispatch.ts`).
 *
 * After an outage everything is due at once. Sweeps go through it oldest first; what a sweep has no messages left for is
 * put off by as many sweeps as it takes at the full pace, so that it is not looked at in every sweep. Where a queue is full
 * that is too early, and it is put off again.
 */

import { type Breaker, passageOf } from '../core/breaker.ts';
import type { Gate, Gates } from '../core/dispatch.ts';
import type { Ports } from '../core/ports.ts';

/** A supervisor sends only what was lost or held back, so this bounds a stampede and nothing else. */
export const SENDS_PER_SWEEP = 300;
/** So many of them whatever its queue holds: a message that was lost in a crowd has its turn as well. */
export const FREE_SENDS = 30;
/** With so many waiting, one more would not be taken sooner, but pass for lost itself, and be sent again. */
export const FULL_QUEUE = 3_000;
/** Where one message may bring the trial, the others wait at least this much longer. */
const TRIAL_MS = 10_000;

export interface GateKeeper {
  /** @param agents how many messages are meant for each. Never rejects. */
  readonly ask: (agents: Readonly<Record<string, number>>) => Promise<Gates>;
}

interface Pace {
  readonly since: number;
  readonly breaker: Promise<Breaker | undefined>;
  /** Asked when more are wanted than are free. */
  room: Promise<number> | undefined;
  wanted: number;
  sent: number;
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
    const pace: Pace = { since, breaker, room: undefined, wanted: 0, sent: 0, putOff, triedOut: false };
    paces.set(agent, pace);
    return pace;
  };
  /** How many messages the agent may get in all. Several looks ask at once: those that are free are given away at once. */
  const limitOf = async (agent: string, pace: Pace): Promise<number> => {
    pace.room ??= roomIn(ports, agent);
    return Math.max(FREE_SENDS, Math.min(SENDS_PER_SWEEP, await pace.room));
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
    pace.wanted += wanted;
    const free = passage.kind === 'trial' ? 1 : wanted;
    const isFree = passage.kind === 'trial' || pace.wanted <= FREE_SENDS;
    const limit = isFree ? pace.sent + free : await limitOf(agent, pace);
    const answeredAt = ports.clock.now();
    const sends = Math.max(0, Math.min(wanted, limit - pace.sent));
    pace.sent += sends;
    pace.putOff += wanted - sends;
    const sweeps = Math.ceil(pace.putOff / SENDS_PER_SWEEP);
    return { sends, laterAt: answeredAt + Math.floor((sweeps - ports.dice.random() / 2) * sweepEveryMs) };
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

/** A queue that cannot be asked has room: what is sent in vain is dropped, what is not sent is late. */
async function roomIn({ queue, log }: Ports, agent: string): Promise<number> {
  if (queue.depths === undefined) return SENDS_PER_SWEEP;
  const depths = await queue.depths([agent]).catch(() => undefined);
  const depth = depths?.[agent];
  if (depth !== undefined) return FULL_QUEUE - depth.waiting;
  log.note({ what: 'depth-failed', agent });
  return SENDS_PER_SWEEP;
}
