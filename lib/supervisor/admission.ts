/**
 * Limits the messages that a supervisor sends to each agent in one sweep.
 *
 * Owns: reading an agent's breaker once per sweep, only if there are messages for that agent; how many
 * messages it gets per sweep: as many as its queue has room for, but always a few; and when the rest has its
 * turn. A sweep that overruns counts as one per sweep interval. Does not own: deferring
 * (`core/supervision/dispatch.ts`).
 *
 * After an outage all work is due at once, and sweeps handle it oldest first. A sweep that may send no more
 * defers the rest, by as many sweeps as the agent's backlog takes at full pace, including what its queue has
 * in excess. Agents may be faster or slower, so this is an estimate: its users must limit how wrong it may
 * be.
 */

import type { Ports } from '../core/ports.ts';
import type { Admission, Admissions } from '../core/decisions/events.ts';
import { type Breaker, notBeforeOf } from '../core/step/breaker.ts';

/**
 * The most messages to one agent in a sweep. Only lost or deferred work is sent, so this matters in a
 * stampede.
 */
export const SENDS_PER_SWEEP = 300;
/** Sends allowed even into a full queue, so that a message lost in a crowd has its turn, too. */
export const FREE_SENDS = 30;
/** With this many waiting, one more would be taken so late that it would count as lost. */
export const FULL_QUEUE = 3_000;
/** The longest gap between two dispatches. */
const MAX_DEFER_MS = 900_000;
/** If one message may become the trial, the others wait for at least this much longer. */
const TRIAL_MS = 10_000;
/**
 * The shortest time until an agent that is not deployed is tried again; the longest is half as much more. It
 * limits how late its work continues once it is deployed, and how often all that waits for it is written.
 */
const MISSING_AGAIN_MS = 30_000;

interface Room {
  /** How many more messages may wait in its queue. */
  readonly sends: number;
  /** How many messages too many are in its queue, before any message sent now. */
  readonly beyond: number;
}

interface RateLimit {
  readonly since: number;
  readonly breaker: Promise<Breaker | undefined>;
  /** The room in the queue, read only if more messages are needed than are sent without a check. */
  room: Promise<Room> | undefined;
  wanted: number;
  sent: number;
  deferred: number;
  /** The groups (`fairBy`) that have had a message sent. */
  readonly groups: Set<string>;
  /** Set once the message that may become the trial is chosen. */
  triedOut: boolean;
}

function nextRate(ports: Ports, agent: string, known: RateLimit | undefined, since: number): RateLimit {
  // A breaker that cannot be read defers nothing: the agent itself reads it again.
  const breaker = Promise.resolve(ports.breakers?.read(agent)).catch(() => {
    ports.log.note({ what: 'breaker-failed', agent });
    return undefined;
  });
  const deferred = Math.max(0, (known?.deferred ?? 0) - SENDS_PER_SWEEP);
  return {
    since,
    breaker,
    room: undefined,
    wanted: 0,
    sent: 0,
    deferred,
    groups: new Set(),
    triedOut: false,
  };
}

/**
 * Says what may be sent. Never rejects.
 * @param agents how many messages each agent would get
 * @param group of the execution (`fairBy`)
 */
export type Ask = (agents: Readonly<Record<string, number>>, group?: string) => Promise<Admissions>;

/** Makes the admissions of one sweep. */
export function admissionControl(ports: Ports, sweepEveryMs: number, freeSends = FREE_SENDS): Ask {
  const rates = new Map<string, RateLimit>();
  const rateOf = (agent: string): RateLimit => {
    const known = rates.get(agent);
    const since = ports.clock.now();
    if (known !== undefined && since - known.since < sweepEveryMs) return known;
    const rate = nextRate(ports, agent, known, since);
    rates.set(agent, rate);
    return rate;
  };
  const roomOf = (agent: string, rate: RateLimit): Promise<Room> => {
    rate.room ??= roomIn(ports, agent);
    return rate.room;
  };
  const ofMissing = missingAdmissions(ports, sweepEveryMs);
  const admissionOf = async (agent: string, wanted: number, group?: string): Promise<Admission> => {
    if (ports.queue.reaches?.(agent) === false) return ofMissing(agent, wanted);
    const rate = rateOf(agent);
    const breaker = await rate.breaker;
    const now = ports.clock.now();
    const notBefore = notBeforeOf(breaker, now);
    const isTrial = notBefore !== undefined && notBefore.at <= now;
    if (notBefore !== undefined && (!isTrial || rate.triedOut)) {
      const at = isTrial ? now + TRIAL_MS : notBefore.at;
      return { sends: 0, notBefore: { ...notBefore, at } };
    }
    if (isTrial) rate.triedOut = true;
    rate.wanted += wanted;
    // Several evaluations ask at once, so grant the free sends before waiting for an answer.
    const free = isTrial ? 1 : wanted;
    const isFree = isTrial || rate.wanted <= freeSends;
    const room = isFree ? { sends: rate.sent + free, beyond: 0 } : await roomOf(agent, rate);
    const limit = isFree ? room.sends : Math.max(freeSends, Math.min(SENDS_PER_SWEEP, room.sends));
    const sends = Math.max(isFirstOf(group, rate) ? 1 : 0, Math.min(wanted, limit - rate.sent));
    rate.sent += sends;
    rate.deferred += wanted - sends;
    const answeredAt = ports.clock.now();
    const sweeps = Math.ceil((rate.deferred + room.beyond) / SENDS_PER_SWEEP);
    const laterMs = Math.floor((sweeps - ports.random.number() / 2) * sweepEveryMs);
    return {
      sends,
      notBefore: { why: 'unclaimed', at: answeredAt + Math.min(MAX_DEFER_MS, laterMs) },
      busyUntil: answeredAt + Math.floor((room.beyond / SENDS_PER_SWEEP) * sweepEveryMs),
    };
  };
  return async (agents, group) => {
    const asked = Object.entries(agents).map(
      async ([agent, wanted]) => [agent, await admissionOf(agent, wanted, group)] as const,
    );
    return Object.fromEntries(await Promise.all(asked));
  };
}

/**
 * Lets the first message of each group in a sweep pass. If one group has filled a queue, it is not full for
 * other groups, because messages are taken in fair turns.
 */
function isFirstOf(group: string | undefined, { groups }: RateLimit): boolean {
  if (group === undefined || groups.has(group) || groups.size >= SENDS_PER_SWEEP) return false;
  groups.add(group);
  return true;
}

/**
 * The admissions of agents that are not deployed. A crowd is tried again only as fast as it could be sent.
 */
function missingAdmissions(ports: Ports, sweepEveryMs: number): (agent: string, wanted: number) => Admission {
  const asked = new Map<string, number>();
  return (agent, wanted) => {
    const before = asked.get(agent);
    if (before === undefined) ports.log.note({ what: 'agent-missing', agent, detail: deployAgain(agent) });
    asked.set(agent, (before ?? 0) + wanted);
    const crowdMs = Math.floor(((before ?? 0) / SENDS_PER_SWEEP) * sweepEveryMs);
    const againMs = Math.floor(MISSING_AGAIN_MS * (1 + ports.random.number() / 2));
    const laterMs = Math.min(MAX_DEFER_MS, Math.max(againMs, crowdMs));
    return { sends: 0, notBefore: { why: 'not-deployed', at: ports.clock.now() + laterMs } };
  };
}

const deployAgain = (agent: string): string =>
  `no agent '${agent}' is deployed, and executions under way need it: deploy it again`;

/**
 * Returns the room in an agent's queue. If its depth cannot be read, the whole queue counts as room: a
 * superfluous message is dropped, but one not sent is late.
 */
async function roomIn({ queue, log }: Ports, agent: string): Promise<Room> {
  const unknown = { sends: SENDS_PER_SWEEP, beyond: 0 };
  if (queue.depths === undefined) return unknown;
  const depths = await queue.depths([agent]).catch(() => undefined);
  const depth = depths?.[agent];
  if (depth !== undefined)
    return { sends: FULL_QUEUE - depth.waiting, beyond: Math.max(0, depth.waiting - FULL_QUEUE) };
  log.note({ what: 'depth-failed', agent });
  return unknown;
}
