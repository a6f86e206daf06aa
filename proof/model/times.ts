/**
 * Stored records without what can no longer matter: the model's abstraction of time, names and history.
 *
 * Owns: the model's clock (it always shows `NOW`; when time passes, all stored times move into the past),
 * which differences between past times are forgotten, which fields carry no rule. Does not own: any rule.
 *
 * Times are on a grid of ticks. A past time is kept exactly for one tick (a pickup time); older ones are all
 * equal. Fields that this file does not know are kept unchanged; a number whose name ends in At or Until
 * moves like any other time.
 */

import type { Pause } from '../../lib/core/records/pauses.ts';
import { type Execution, isLeased, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { leaseEndsAt } from '../../lib/core/step/lease.ts';

export const TICK: number = 10_000;
export const NOW: number = 1_000_000_000;
/** The limits of every step in the model; see `config.ts`. */
export const SETTLE_TICKS = 1;
const FLOOR = NOW - TICK;
/** A process deadline that passed so long ago that nothing can act any more. */
const DEAD = FLOOR - SETTLE_TICKS * TICK;
/** An overdue wake time; far enough in the past that no lease ends before it. */
const OVERDUE = NOW - 10 * TICK;
/** A deadline that has not passed: it passes by a separate event, not with the clock. */
export const NEVER: number = NOW + 1_000_000 * TICK;
/** After all times except the end of a pause. */
const FAR = NOW + 10_000 * TICK;
/** The gap after one repeated dispatch; the model forgets further doublings. */
const DISPATCH_GAP_TICKS = 2;

const isTime = (key: string, value: unknown): value is number =>
  typeof value === 'number' && /(?:At|Until)$/.test(key) && key !== 'deadlineAt';

const floorOf = (key: string): number => (key === 'processDeadlineAt' ? DEAD : FLOOR);

type Fields = Record<string, unknown>;

function moved(record: object, ticks: number): Fields {
  const fields: Fields = { ...record };
  for (const [key, value] of Object.entries(fields)) {
    if (isTime(key, value) && value < NEVER) fields[key] = Math.max(floorOf(key), value - ticks * TICK);
  }
  return fields;
}

export interface Abstraction {
  /** True if probes in vain are counted and end at their limit; otherwise there is no limit. */
  readonly giveUp: boolean;
  /** True if all messages are forged: repeated dispatches then do not matter. */
  readonly noDispatches: boolean;
}

export function abstractStep(step: Step, ticks: number, abstraction: Abstraction): Step {
  const fields = moved(step, ticks);
  const held = isLeased(step);
  const quiet = step.processDeadlineAt - ticks * TICK + SETTLE_TICKS * TICK;
  const asked = (step.claimedAt ?? 0) - ticks * TICK;
  for (const key of ['failure', 'progress', 'progressAt', 'heartbeatAt', 'claimedAt', 'processes'])
    delete fields[key];
  // About the attempt under way one fact matters: whether it is a probe that began before earlier attempts
  // were dead.
  if (held)
    fields['claimedAt'] = step.mode === 'probe' && asked < quiet ? FLOOR - TICK : Math.max(FLOOR, asked);
  if (held && step.mode !== 'probe') fields['claimedAt'] = FLOOR;
  if (held && leaseEndsAt(step.leaseUntil - ticks * TICK) <= NOW) fields['leaseUntil'] = FLOOR;
  if (step.retryAt !== undefined && step.retryAt - ticks * TICK <= NOW && abstraction.noDispatches) {
    fields['retryAt'] = FLOOR;
  }
  const over = ['fenced', 'skipped', 'tolerated', 'compensated', 'compensation-failed'].includes(step.status);
  // Attempts that are over can no longer act, so it does not matter how long their processes live.
  const dead = over || (!held && !step.mayHaveActed);
  return {
    ...(fields as unknown as Step),
    ...(abstraction.noDispatches ? { changedAt: FLOOR } : {}),
    version: 1,
    writeId: '',
    heartbeat: 0,
    attempts: [],
    // After the first probe in vain, the model leaves only one more.
    probes: abstraction.giveUp && step.probes > 0 ? 19 : 0,
    undoAttempt: Math.min(step.undoAttempt, 1),
    ...(dead ? { processDeadlineAt: DEAD } : {}),
    ...(step.token === undefined ? {} : { token: 'x' }),
    ...(step.actedToken === undefined ? {} : { actedToken: 'x' }),
    ...processesAfter(step, ticks, dead),
    ...acceptedAfter(step, ticks),
  };
}

/**
 * A probe knows when it was asked, and until when earlier attempts could act; its process lives no longer.
 */
const ASKED_FLOOR = NOW - 4 * TICK;

/** Accepted work without its token, its progress and the number of its probes. */
function acceptedAfter(step: Step, ticks: number): Pick<Step, 'accepted' | 'claimedAt'> & object {
  const { accepted, claimedAt = 0, processDeadlineAt } = step;
  if (accepted === undefined) return {};
  const isProbed = isLeased(step) && step.mode === 'probe';
  const after = (at: number, floor: number): number =>
    Math.max(isProbed ? ASKED_FLOOR : floor, at - ticks * TICK);
  return {
    accepted: {
      at: FLOOR,
      untilAt: after(accepted.untilAt, FLOOR),
      askFrom: after(accepted.askFrom, FLOOR),
      everyMs: accepted.everyMs,
      seq: 0,
      asked: 0,
    },
    ...(isProbed
      ? { claimedAt: after(claimedAt, FLOOR), processDeadlineAt: after(processDeadlineAt, DEAD) }
      : {}),
  };
}

const latestToken = ({ mode, token, actedToken }: Step): string | undefined =>
  mode === 'probe' ? actedToken : token;

/** Keeps the latest process deadline of the earlier attempts; a single one is the record's own. */
function processesAfter(step: Step, ticks: number, dead: boolean): Pick<Step, 'processes'> {
  if (step.processes === undefined || dead) return {};
  const latest = latestToken(step);
  const untilAt = (isLatest: boolean): number =>
    Math.max(
      DEAD,
      ...(step.processes ?? [])
        .filter(({ token }) => (token === latest) === isLatest)
        .map(({ deadlineAt }) => deadlineAt - ticks * TICK),
    );
  const earlier = untilAt(false);
  const processes = [{ deadlineAt: earlier }, { token: 'x', deadlineAt: untilAt(true) }];
  return earlier <= DEAD ? {} : { processes };
}

/** The record with the asker's token; or, for a probe, with the token of the attempt that acted. */
export function ownedBy(record: Step, token: string, acted: boolean): Step {
  const isLatest = acted || record.mode !== 'probe';
  const { processes } = record;
  return {
    ...record,
    ...(record.mode === 'probe' && acted ? { actedToken: token } : { token }),
    ...(processes === undefined || !isLatest
      ? {}
      : { processes: processes.map((one) => (one.token === undefined ? one : { ...one, token })) }),
  };
}

export function abstractExecution(execution: Execution, ticks: number, abstraction: Abstraction): Execution {
  const fields = moved(execution, ticks);
  delete fields['output'];
  // No decision reads it.
  delete fields['riskSince'];
  const { wakeAt, cause } = execution;
  if (wakeAt !== undefined) {
    const at = wakeAt - ticks * TICK;
    fields['wakeAt'] = at <= NOW ? OVERDUE : at;
  }
  if (cause !== undefined) {
    const at = abstraction.noDispatches ? FLOOR : Math.max(FLOOR, cause.at - ticks * TICK);
    fields['cause'] = { kind: cause.kind, at, failure: { code: '', message: '' } };
  }
  const pause = execution.pauses?.at(-1);
  if (pause !== undefined) fields['pauses'] = [abstractPause(pause, ticks, abstraction)];
  // Keeps the deadline from passing: a pause gives its time back, and does not end by itself.
  if (execution.deadlineAt > NOW) fields['deadlineAt'] = NEVER;
  if (typeof fields['wakeAt'] === 'number' && fields['wakeAt'] > FAR) fields['wakeAt'] = NEVER;
  return {
    ...(fields as unknown as Execution),
    version: versionOf(execution),
    writeId: '',
    startedAt: FLOOR,
    ...(execution.retries === undefined ? {} : { retries: [{ at: FLOOR, reason: '' }] }),
    ...(execution.endedAt === undefined ? {} : { endedAt: FLOOR }),
    commands: [],
    dispatches: abstraction.noDispatches ? {} : abstractDispatches(execution.dispatches, ticks),
  };
}

/**
 * A small version number that still tells ends apart, because a parent knows its child's ends by their
 * versions: one number for each epoch before its end, one for the end, one for after it.
 */
const versionOf = ({ status, version, parent }: Execution): number => {
  if (parent === undefined) return 1;
  return isTerminal(status) ? version : 4 * Math.floor((version + 1) / 4) + 1;
};

/**
 * A pause ends by a command: its deadline is after everything that is modelled. While it lasts, it counts as
 * just begun, so that any claim which was decided before it may still be written.
 */
function abstractPause(pause: Pause, ticks: number, { noDispatches }: Abstraction): Pause {
  const { number, withinMs, endedAt } = pause;
  if (endedAt === undefined) return { number, at: NOW, reason: '', withinMs };
  const endAt = noDispatches ? FLOOR : Math.max(FLOOR, endedAt - ticks * TICK);
  return { number, at: FLOOR, reason: '', withinMs, endedAt: endAt };
}

/** The dispatches without times in their keys, and without entries whose gap is over. */
function abstractDispatches(dispatches: Execution['dispatches'], ticks: number): Execution['dispatches'] {
  const kept: Record<string, { count: number; lastAt: number }> = {};
  for (const [key, { lastAt }] of Object.entries(dispatches)) {
    const at = lastAt - ticks * TICK;
    if (at + DISPATCH_GAP_TICKS * TICK > NOW) kept[key.replace(/@.*$/, '')] = { count: 1, lastAt: at };
  }
  return kept;
}

/** Ticks until something in the record changes by time alone; 0: nothing will. */
export function nextChange(record: Execution | Step): number {
  let next = 0;
  const consider = (ticks: number): void => {
    if (next === 0 || ticks < next) next = ticks;
  };
  for (const [key, value] of Object.entries(record)) {
    if (!isTime(key, value) || value === NEVER) continue;
    const at = key === 'leaseUntil' ? leaseEndsAt(value) : value;
    if (at > NOW) consider(Math.ceil((at - NOW) / TICK));
    else if (value > floorOf(key)) consider(1);
  }
  if ('accepted' in record && record.accepted !== undefined) considerAccepted(record, consider);
  if ('pauses' in record && (record.pauses?.at(-1)?.endedAt ?? FLOOR) > FLOOR) consider(1);
  if ('cause' in record && record.cause !== undefined && record.cause.at > FLOOR) consider(1);
  if ('dispatches' in record && Object.keys(record.dispatches).length > 0) consider(1);
  return next;
}

function considerAccepted(record: Step, consider: (ticks: number) => void): void {
  const { untilAt = 0, askFrom = 0 } = record.accepted ?? {};
  const isProbed = isLeased(record) && record.mode === 'probe';
  const floor = isProbed ? ASKED_FLOOR : FLOOR;
  const times = [untilAt, askFrom, ...(isProbed ? [record.claimedAt ?? 0, record.processDeadlineAt] : [])];
  for (const at of times)
    if (at > NOW) consider(Math.ceil((at - NOW) / TICK));
    else if (at > floor) consider(1);
}
