/**
 * Judges who may report an attempt's end, by the writing process, not by the product's tokens.
 *
 * Owns: checking S5 on every write to a step. Only the process that claimed the step may renew its lease or
 * report an outcome. Only an attempt's own process, or a probe, may report a lost attempt as done. Does not
 * own: who may claim (`oracle.ts`).
 */

import { asIncident } from '../../lib/core/records/question.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { Process } from './process.ts';

/**
 * Failure codes that another process may write: it saw that the attempt is over, and claims nothing about the
 * outcome.
 */
const SEEN_BY_OTHERS: ReadonlySet<string | undefined> = new Set([
  'lease-ended',
  'no-progress',
  'process-died',
]);

export class OracleWriters {
  readonly #claimants = new Map<string, Process>();
  #writer: Process | undefined;

  /** The process whose request is being executed. */
  get writer(): Process | undefined {
    return this.#writer;
  }

  /** Executes a request of a process. */
  by<Answer>(process: Process, execute: () => Answer): Answer {
    this.#writer = process;
    try {
      return execute();
    } finally {
      this.#writer = undefined;
    }
  }

  judge(problems: string[], before: Snapshot, { step: after, question }: Write): void {
    const writer = this.#writer;
    if (after?.token === undefined || writer === undefined) return;
    const known = before.steps[after.name];
    if (after.leaseUntil !== undefined && after.token !== known?.token) {
      this.#claimants.set(after.token, writer);
      return;
    }
    if (known === undefined || asIncident(question)?.choice === 'give-output') return;
    const isOwn = this.#isOwn(known.token);
    const isOfAskedAbout = isSaidLate(after) && this.#isOwn(known.actedToken);
    if (isOwn || isOfAskedAbout) return;
    const what = whatIsSaid(known, after);
    if (what !== undefined)
      problems.push(`S5 '${after.name}': ${what} by another process than the one that claimed it`);
  }

  /** Records created by the simulation have no claimant. */
  #isOwn(token: string | undefined): boolean {
    const claimant = token === undefined ? undefined : this.#claimants.get(token);
    return claimant !== undefined && claimant === this.#writer;
  }
}

const isSaidLate = ({ status }: Step): boolean => status === 'done' || status === 'accepted';

/** Outcomes that only the attempt itself can know. */
function whatIsSaid(known: Step, after: Step): string | undefined {
  if (known.leaseUntil === undefined)
    return isSaidLate(after) && known.status !== after.status ? 'a late success is said' : undefined;
  if (after.leaseUntil !== undefined)
    return after.leaseUntil > known.leaseUntil ? 'its lease is renewed' : undefined;
  // A probe of accepted work is not an attempt.
  const last = after.attempts.at(-1);
  const isSeen =
    after.status === 'accepted'
      ? SEEN_BY_OTHERS.has(after.failure?.code)
      : last?.outcome !== 'done' && SEEN_BY_OTHERS.has(last?.failure?.code);
  return isSeen ? undefined : `the end of an attempt is said (${after.status})`;
}
