/**
 * The breaker of one process's agent: the process's copy of the record, and its reports to it.
 *
 * Owns: when the record is read (once per process; then after a failed call, every 5 s while it is open, else
 * every 10 s) and written (a failed call, a trial, the first answer after failures), the count of answered
 * calls in between, the handling of a lost race (read, apply again). Does not own: the rules
 * (`core/step/breaker.ts`), the consequences for the step (`core/step/defer.ts`).
 *
 * C1 an answered call costs no call to the store, except one read in 10 s of a busy process, and one write
 * after failures. The breaker only spares a service in trouble: if its record cannot be written, work goes
 * on. But a pause in it is a person's order: a process that could not read the record within 10 s makes no
 * call, because the service may be doing the wrong things.
 */

import type { Breakers, Ports } from '../core/ports.ts';
import type { NotBefore } from '../core/records/state.ts';
import type { FailedCall } from '../core/records/unanswered.ts';
import type { Failure } from '../core/values/failure.ts';
import { defined } from '../core/values/defined.ts';
import {
  afterAnswers,
  afterBugs,
  afterCalls,
  afterTrial,
  type Breaker,
  newBreaker,
  OPEN_FRESH_MS,
  notBeforeOf,
  provesNoAction,
  type TrialOutcome,
  WINDOW_MS,
  withTrial,
} from '../core/step/breaker.ts';
import { announceOnce } from '../engine/announce.ts';
import { changeRecord } from '../engine/change-record.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { Latch } from './latch.ts';
import { Unwritten } from './unwritten.ts';

/**
 * How long a read of a closed breaker counts: an operator may have paused the agent since, even if no call
 * failed.
 */
export const CLOSED_FRESH_MS = 10_000;
/** Lost races in a row after which a failure is left for the next write. */
const MAX_LAPS = 5;
/** How long the breaker may delay the report of an attempt that is over. */
const PATIENCE_MS = 2_000;

/**
 * How often the record is read before a call, and how long each try may take: 2 s together, less than the
 * time left to an agent that may claim.
 */
const READ_TRIES = 2;
const READ_MS = 1_000;

/**
 * The call may be made, perhaps as the trial; or an open breaker defers it; or the agent's pause cannot be
 * read.
 */
export type Pass = { readonly trial?: string; readonly notBefore?: NotBefore } | 'unread';

/** News for the breaker's record: the end of a trial, calls that failed, or that calls are answered again. */
type News =
  | { readonly trial: string; readonly outcome: TrialOutcome }
  | { readonly failure: Failure }
  | 'answered';

/** The record as read, or that there is none. */
interface Known {
  readonly breaker: Breaker | undefined;
  readonly readAt: number;
  readonly order: number;
}

/** One per process. Any number of attempts may use it at once. */
export class ProcessBreaker {
  readonly #agent: string;
  #known: Known | undefined;
  /**
   * Numbers the answers: a read at its beginning, a write at its end. Of two answers the one with the higher
   * number counts.
   */
  #order = 0;
  readonly #unwritten = new Unwritten();
  /** Set if the latest call failed while the breaker was closed: others may have opened it since. */
  #suspects = false;
  #answered = 0;
  #answeredAt = 0;
  /** When this process last recorded that calls are answered again. */
  #saidAt = 0;
  /** When a call other than a probe was last answered, and when that was last written. */
  #actedAt: number | undefined;
  #saidActedAt = 0;
  /** How many attempts a bug has ended since the last write, and when that was. */
  #bugs = 0;
  #saidBugAt = Number.NEGATIVE_INFINITY;

  constructor(agent: string) {
    this.#agent = agent;
  }

  /** Asks whether a call may be made. Never rejects. @param timeoutMs the call's longest time */
  async pass(ports: Ports, timeoutMs: number): Promise<Pass> {
    const { breakers } = ports;
    if (breakers === undefined) return {};
    await this.#refresh(ports, breakers);
    const now = ports.clock.now();
    if (this.#known === undefined || now - this.#known.readAt > CLOSED_FRESH_MS) return 'unread';
    try {
      if ((notBeforeOf(this.#known.breaker, now)?.at ?? Number.POSITIVE_INFINITY) <= now)
        return await this.#try(ports, breakers, timeoutMs);
    } catch {
      ports.log.note({ what: 'breaker-failed', agent: this.#agent });
    }
    return defined({ notBefore: notBeforeOf(this.#known.breaker, now) });
  }

  /** Reads the record if the last read is too old. Never rejects. */
  async #refresh(ports: Ports, breakers: Breakers): Promise<void> {
    const { clock, log } = ports;
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      const startedAt = clock.now();
      if (!this.#isOutdated(startedAt)) return;
      const read = this.#read(ports, breakers).then(
        () => true,
        () => false,
      );
      const over = new Latch();
      const late = clock.sleep(READ_MS, over).then(() => false);
      const isRead = await Promise.race([read, late]);
      over.end();
      if (isRead) return;
      log.note({ what: 'breaker-failed', agent: this.#agent });
      // A store that refuses at once is overloaded: wait before the next try.
      if (tries + 1 < READ_TRIES) await clock.sleep(startedAt + READ_MS - clock.now());
    }
  }

  #isOutdated(now: number): boolean {
    const known = this.#known;
    if (known === undefined || this.#suspects) return true;
    const isClosed = notBeforeOf(known.breaker, now) === undefined;
    return now - known.readAt >= (isClosed ? CLOSED_FRESH_MS : OPEN_FRESH_MS);
  }

  /** Counts an answered call. @param acted true unless it was a probe */
  async answered(ports: Ports, trial: string | undefined, acted = false): Promise<void> {
    const now = ports.clock.now();
    if (now - this.#answeredAt >= WINDOW_MS) this.#answered = 0;
    this.#answered += 1;
    this.#suspects = false;
    this.#answeredAt = now;
    if (acted) this.#actedAt = now;
    if (trial !== undefined) return this.#tell(ports, { trial, outcome: 'answered' });
    // A service may fail now and then, so not each answer after a failure is written; the next failure's
    // write counts them all.
    const { failingSince, unanswered } = this.#known?.breaker ?? {};
    const isDue = (saidAt: number): boolean => now - saidAt >= CLOSED_FRESH_MS;
    const isActing = acted && unanswered !== undefined && isDue(this.#saidActedAt);
    if (!isActing && (failingSince === undefined || !isDue(this.#saidAt))) return;
    if (acted) this.#saidActedAt = now;
    this.#saidAt = now;
    await this.#tell(ports, 'answered');
  }

  /** Notes a probe that found nothing done. It answers a failed call only if one is known. */
  async foundNothing(ports: Ports, trial: string | undefined): Promise<void> {
    const known = this.#known?.breaker;
    if (trial !== undefined && provesNoAction(known)) return this.freed(ports, trial);
    if (trial === undefined && (known?.failingSince === undefined || provesNoAction(known))) return;
    await this.answered(ports, trial);
  }

  /** Frees a trial that showed nothing about the service: another may be made at once. */
  async freed(ports: Ports, trial: string): Promise<void> {
    await this.#tell(ports, { trial, outcome: 'nothing' });
  }

  /**
   * Counts an attempt that a bug in the agent's code has ended: operators must know, and nothing waits for
   * it.
   */
  async bug(ports: Ports, failure: Failure): Promise<void> {
    const { breakers } = ports;
    const now = ports.clock.now();
    this.#bugs += 1;
    if (breakers === undefined || now - this.#saidBugAt < OPEN_FRESH_MS) return;
    this.#saidBugAt = now;
    const attempts = this.#bugs;
    this.#bugs = 0;
    const told = changeRecord(breakers, [this.#agent], (before = newBreaker(this.#agent)) =>
      afterBugs(before, attempts, failure, decisionInputsOf(ports)),
    ).catch(() => ports.log.note({ what: 'breaker-failed', agent: this.#agent }));
    await Promise.race([told, ports.clock.sleep(PATIENCE_MS)]);
  }

  /** Counts a failed call. @returns why the agent is deferred now; undefined if it is not */
  async failed(
    ports: Ports,
    trial: string | undefined,
    failure: Failure,
    call?: FailedCall,
  ): Promise<NotBefore | undefined> {
    if (ports.breakers !== undefined) this.#unwritten.add({ call, isTrial: trial !== undefined });
    this.#suspects = true;
    await this.#tell(ports, trial === undefined ? { failure } : { trial, outcome: failure });
    return notBeforeOf(this.#known?.breaker, ports.clock.now());
  }

  async #tell(ports: Ports, news: News): Promise<void> {
    const { breakers } = ports;
    if (breakers === undefined) return;
    const told = this.#write(ports, breakers, news).catch(() => {
      ports.log.note({ what: 'breaker-failed', agent: this.#agent });
    });
    await Promise.race([told, ports.clock.sleep(PATIENCE_MS)]);
  }

  async #write(ports: Ports, breakers: Breakers, news: News): Promise<void> {
    const isTrial = typeof news === 'object' && 'trial' in news;
    for (let lap = 0; lap < MAX_LAPS; lap += 1) {
      if (lap > 0 || isTrial) await this.#read(ports, breakers);
      const before = this.#known?.breaker;
      const inputs = decisionInputsOf(ports);
      // Failures that could not be written yet go with the next one.
      const carried = news === 'answered' ? [] : this.#unwritten.calls;
      const failed = carried.filter((one) => !one.isTrial).length;
      const calls = carried.flatMap(({ call }) => call ?? []);
      const answered = inputs.now - this.#answeredAt < WINDOW_MS ? this.#answered : 0;
      if (news !== 'answered' && !isTrial && failed === 0) return;
      const [answeredAt, actedAt] = [this.#answeredAt, this.#actedAt];
      const next =
        news === 'answered'
          ? afterAnswers(before, answered, inputs, answeredAt, actedAt)
          : isTrial
            ? before && afterTrial(before, news.trial, news.outcome, inputs)
            : afterCalls(
                before,
                this.#agent,
                { failed, answered, answeredAt, actedAt, calls, ...news },
                inputs,
              );
      if (next === undefined && news === 'answered') return;
      if (next === undefined) {
        // The breaker is already open: failures that came since are not news, and will not be once it has
        // closed.
        this.#unwritten.drop();
        return;
      }
      this.#unwritten.carry(next.writeId, { failed: carried, answered });
      if ((await breakers.write(next)) === 'conflict') continue;
      this.#learn({ breaker: next, readAt: inputs.now, order: (this.#order += 1) });
      await this.#note(ports, before, next);
      return;
    }
  }

  async #read(ports: Ports, breakers: Breakers): Promise<void> {
    const readAt = ports.clock.now();
    const order = (this.#order += 1);
    this.#learn({ breaker: await breakers.read(this.#agent), readAt, order });
  }

  /**
   * Keeps what another attempt of this process may have read later meanwhile. The read that began last
   * counts, not the higher version: the record may have been deleted and created again from version 1.
   */
  #learn(known: Known): void {
    const answered = this.#unwritten.settle(known.breaker?.writeId);
    this.#answered = Math.max(0, this.#answered - answered);
    const { breaker, order } = this.#known ?? { order: 0 };
    if (known.order > order || (known.breaker?.version ?? 0) > (breaker?.version ?? 0)) this.#known = known;
  }

  /** Takes the trial: of several attempts at a half-open breaker, the first to write gets it. */
  async #try(ports: Ports, breakers: Breakers, timeoutMs: number): Promise<Pass> {
    // What this process knows may be seconds old, and another process may have taken the trial since.
    await this.#read(ports, breakers);
    const before = this.#known?.breaker;
    const inputs = decisionInputsOf(ports);
    const notBefore = notBeforeOf(before, inputs.now);
    if (notBefore === undefined || before === undefined) return {};
    if (notBefore.at > inputs.now) return { notBefore };
    const next = withTrial(before, timeoutMs, inputs);
    if ((await breakers.write(next)) === 'conflict') {
      await this.#read(ports, breakers);
      return defined({ notBefore: notBeforeOf(this.#known?.breaker, inputs.now) });
    }
    this.#learn({ breaker: next, readAt: inputs.now, order: (this.#order += 1) });
    ports.log.note({ what: 'breaker-trial', agent: this.#agent });
    return { trial: inputs.writeId };
  }

  async #note(ports: Ports, before: Breaker | undefined, next: Breaker): Promise<void> {
    const agent = this.#agent;
    const at = ports.clock.now();
    const since = before?.openedAt;
    if (since === undefined && next.openedAt !== undefined) {
      // The error's code is the service's own text, which may be a payload (S17); only the record has it.
      ports.log.note({ what: 'breaker-opened', agent });
      await announceOnce(ports, { about: 'breaker', change: 'opened', agent, at, view: '/agents' });
    }
    if (since !== undefined && next.openedAt === undefined) {
      ports.log.note({ what: 'breaker-closed', agent, ms: at - since });
      await announceOnce(ports, { about: 'breaker', change: 'closed', agent, at, since, view: '/agents' });
    }
  }
}
