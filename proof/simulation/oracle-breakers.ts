/**
 * Judges the breakers of agents at every write of their records.
 *
 * Owns: S9 for all executions together: no trial begins while the agent is paused or another trial may be
 * running; a breaker defers work only for a limited time; calls count as failing since the first failure
 * after the last answer; only an attempt's first inconclusive probe is a failed call; some time after a
 * pause, its agent claims nothing. Does not own: what is deferred meanwhile (`oracle.ts`).
 */

import type { Breakers } from '../../lib/core/ports.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { CANNOT_TELL } from '../../lib/core/values/failure.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { KindCounts } from './kinds.ts';
import { actedAs } from './oracle-order.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** After this time, a trial without a result no longer blocks the next one. */
const LONGEST_TRIAL_MS = 60_000;
/** The longest cooldown, including the random addition. */
const LONGEST_COOLDOWN_MS = 150_000;

interface Judge {
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly violate: (agent: string, problem: string) => void;
}

/** A process's read of a pause is at most 10 s old, and takes up to 2 s; a retried claim takes longer. */
const PAUSE_KNOWN_MS = 12_000 + CLOCKS_DIFFER_MS + 4_000;

export class OracleBreakers {
  readonly #judge: Judge;
  readonly #known = new Map<string, Breaker>();
  /** True times of answers, by agent. */
  readonly #answeredAt = new Map<string, number>();
  readonly #pausedAt = new Map<string, number>();
  /** By agent, when a record with a failed call, or an open or paused one, was written. */
  readonly #failedAt = new Map<string, number>();
  /** By agent, when a process failed to read or write the record. */
  readonly #troubledAt = new Map<string, number>();
  /** By step, the time of the latest inconclusive probe. */
  readonly #untoldAt = new Map<string, number>();
  /** By attempt, when a never-frozen process recorded a probe as a failed call. */
  readonly #probeCountedAt = new Map<string, number>();
  /** Write ids of processes that have been frozen. */
  readonly #lagging = new Set<string>();

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** The agent's service has answered a call. */
  answered(agent: string): void {
    this.#answeredAt.set(agent, this.#judge.now());
  }

  /** Notes an inconclusive probe. */
  untold(executionId: string, step: string): void {
    this.#untoldAt.set(`${executionId}/${step}`, this.#judge.now());
  }

  /** Notes a write that may be outdated, because its process has been frozen. */
  lags({ writeId }: Breaker): void {
    this.#lagging.add(writeId);
  }

  troubled(agent: string): void {
    this.#troubledAt.set(agent, this.#judge.now());
  }

  /** Wraps the breakers' store to judge every write. */
  behind({ read, write }: Breakers): Breakers {
    return {
      read,
      write: async (next) => {
        const result = await write(next);
        const before = this.#known.get(next.agent);
        if (result === 'written' && before?.writeId !== next.writeId) this.#written(before, next);
        return result;
      },
    };
  }

  #written(before: Breaker | undefined, next: Breaker): void {
    const { now, kinds, violate } = this.#judge;
    const { agent, pause, openedAt } = next;
    this.#known.set(agent, next);
    if (pause === undefined) this.#pausedAt.delete(agent);
    else if (before?.pause === undefined) this.#pausedAt.set(agent, now());
    if (pause !== undefined && openedAt !== undefined && before?.pause === undefined)
      kinds.pausedWhileOpen += 1;
    if (next.failedAt !== before?.failedAt || isShut(before) || isShut(next))
      this.#failedAt.set(agent, now());
    if (!this.#lagging.has(next.writeId))
      for (const { mode, executionId, step, attempt, at } of next.calls ?? [])
        if (mode === 'probe' && before?.calls?.some((one) => one.at === at && one.step === step) !== true)
          this.#probeCountedAt.set(`${executionId}/${step}/${attempt}`, now());
    for (const problem of problemsOf(before, next, now())) violate(agent, problem);
    const since = before?.failingSince;
    const answeredAt = this.#answeredAt.get(agent) ?? Number.NEGATIVE_INFINITY;
    // The times are from different clocks.
    const isSilent = since !== undefined && answeredAt < since - 2 * CLOCKS_DIFFER_MS;
    if (isSilent && next.failingSince !== since)
      violate(agent, `S9 calls fail since ${next.failingSince}, and did since ${since}`);
  }

  /** Judges a step's write by a never-frozen process. */
  judge(problems: string[], plan: Plan, { execution, steps }: Snapshot, after: Step): void {
    const step = plan.steps.find(({ name }) => name === after.name);
    if (step?.kind !== 'agent') return;
    const known = steps[after.name];
    if (known !== undefined)
      this.#judgeReport(problems, actedAs(step, known).agent, execution.id, known, after);
    if (after.leaseUntil !== undefined && after.token !== known?.token)
      this.#judgeClaim(problems, actedAs(step, after).agent);
  }

  /**
   * Checks that an attempt's first inconclusive probe is recorded as a failed call before the step is
   * written.
   */
  #judgeReport(problems: string[], agent: string, executionId: string, known: Step, after: Step): void {
    const last = after.attempts.at(-1);
    const code = last?.outcome === 'cannot-tell' ? last.failure?.code : undefined;
    const saidAt = this.#untoldAt.get(`${executionId}/${after.name}`);
    if (code !== CANNOT_TELL || saidAt === undefined || after.probes !== known.probes + 1) return;
    if (known.probes > 0) this.#judgeLater(problems, agent, executionId, after);
    if (known.probes > 0 || isShut(this.#known.get(agent))) return;
    this.#judge.kinds.untoldFirst += 1;
    const countedAt = Math.max(this.#failedAt.get(agent) ?? 0, this.#troubledAt.get(agent) ?? 0);
    if (countedAt < saidAt)
      problems.push(`S9 the first probe of '${after.name}' cannot tell, and '${agent}' has no failed call`);
  }

  /** Checks that a later inconclusive probe of the same attempt is not recorded as a failed call. */
  #judgeLater(problems: string[], agent: string, executionId: string, after: Step): void {
    this.#judge.kinds.untoldLater += 1;
    const saidAt = this.#untoldAt.get(`${executionId}/${after.name}`) ?? Number.POSITIVE_INFINITY;
    const countedAt = this.#probeCountedAt.get(`${executionId}/${after.name}/${after.attempt}`) ?? 0;
    if (countedAt >= saidAt)
      problems.push(`S9 a later probe of '${after.name}' cannot tell, and counts again for '${agent}'`);
  }

  /** Checks that a paused agent claims nothing. */
  #judgeClaim(problems: string[], agent: string): void {
    const pausedMs = this.#judge.now() - (this.#pausedAt.get(agent) ?? Number.POSITIVE_INFINITY);
    if (pausedMs > PAUSE_KNOWN_MS)
      problems.push(`S9 '${agent}' claims a step ${pausedMs} ms after it was paused`);
  }
}

const isShut = (breaker: Breaker | undefined): boolean =>
  breaker?.openedAt !== undefined || breaker?.pause !== undefined;

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
