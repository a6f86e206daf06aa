/**
 * The breakers of agents, judged at every write of their records.
 *
 * Owns: S9 for all executions together: no trial begins while an operator has paused the agent or while
 * another trial may be under way, a breaker defers nothing beyond its bound, and calls count as failing since
 * the first failure after the last answer; a probe that cannot tell is a failed call, but only the first one;
 * an agent that was paused long enough ago claims nothing.
 * Does not own: what is deferred meanwhile (`oracle.ts`).
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

/** After this time a trial without a result no longer blocks the next one. */
const LONGEST_TRIAL_MS = 60_000;
/** The longest cooldown, including the random addition. */
const LONGEST_COOLDOWN_MS = 150_000;

interface Judge {
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly violate: (agent: string, problem: string) => void;
}

/**
 * Knowledge of a pause is 10 s old at most, and a read takes up to 2 s; a claim that is retried takes some
 * more.
 */
const PAUSE_KNOWN_MS = 12_000 + CLOCKS_DIFFER_MS + 4_000;

export class OracleBreakers {
  readonly #judge: Judge;
  readonly #known = new Map<string, Breaker>();
  /** True times of answers, by agent. */
  readonly #answeredAt = new Map<string, number>();
  readonly #pausedAt = new Map<string, number>();
  /** When a record was written in which a call has failed, or that was open or paused before or after. */
  readonly #failedAt = new Map<string, number>();
  /** When a process could not read or write the record. */
  readonly #troubledAt = new Map<string, number>();
  /** When the latest probe of each step could not tell, by step. */
  readonly #untoldAt = new Map<string, number>();
  /** When a probe was written as a failed call by a process that was never frozen, by attempt. */
  readonly #probeCountedAt = new Map<string, number>();
  /** Write ids of processes that were frozen once. */
  readonly #lagging = new Set<string>();

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** The agent's service has answered a call. */
  answered(agent: string): void {
    this.#answeredAt.set(agent, this.#judge.now());
  }

  /** A probe has reported that it cannot tell. */
  untold(executionId: string, step: string): void {
    this.#untoldAt.set(`${executionId}/${step}`, this.#judge.now());
  }

  /** A process that was frozen once writes an old finding. */
  lags({ writeId }: Breaker): void {
    this.#lagging.add(writeId);
  }

  troubled(agent: string): void {
    this.#troubledAt.set(agent, this.#judge.now());
  }

  /** The breakers with a judge behind every write. */
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
    // The times come from different clocks: a warm process has several, one after the other.
    const isSilent = since !== undefined && answeredAt < since - 2 * CLOCKS_DIFFER_MS;
    if (isSilent && next.failingSince !== since)
      violate(agent, `S9 calls fail since ${next.failingSince}, and did since ${since}`);
  }

  /** A process that was never frozen writes a step. */
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
   * An attempt's first probe that cannot tell is a failed call; its breaker's record shows this before the
   * step's.
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

  /**
   * A probe that cannot tell is not a failed call if an earlier probe of its attempt could not tell either.
   */
  #judgeLater(problems: string[], agent: string, executionId: string, after: Step): void {
    this.#judge.kinds.untoldLater += 1;
    const saidAt = this.#untoldAt.get(`${executionId}/${after.name}`) ?? Number.POSITIVE_INFINITY;
    const countedAt = this.#probeCountedAt.get(`${executionId}/${after.name}/${after.attempt}`) ?? 0;
    if (countedAt >= saidAt)
      problems.push(`S9 a later probe of '${after.name}' cannot tell, and counts again for '${agent}'`);
  }

  /** A paused agent claims nothing, for any purpose. */
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
