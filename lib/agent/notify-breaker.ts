/**
 * Passes the evidence of an attempt about its service to the breaker of its process.
 *
 * Owns: which attempts count. Does not own: which reports are evidence about a service
 * (`core/step/breaker.ts`).
 */

import type { Ports } from '../core/ports.ts';
import type { NotBefore } from '../core/records/state.ts';
import { CANNOT_TELL, type Failure } from '../core/values/failure.ts';
import { BUG } from '../core/values/bug.ts';
import { saidOf } from '../core/step/breaker.ts';
import type { FailedCall } from '../core/records/unanswered.ts';
import type { Claim, Ran } from './attempt.ts';
import type { Worker } from './author-code.ts';

/**
 * Counts the attempt's outcome.
 * @returns the breaker if it is open now; the failed attempt is then not charged
 */
export async function notifyBreaker(
  ports: Ports,
  { breaker }: Worker,
  claim: Claim,
  { report, lost }: Ran,
  trial: string | undefined,
): Promise<NotBefore | undefined> {
  const said = saidOf(report, claim.state.steps[claim.planStep.name]?.probes ?? 0);
  if (breaker === undefined || (lost && said === 'failed')) return undefined;
  if (said === 'nothing') {
    if ('failure' in report && report.failure?.code === BUG) await breaker.bug(ports, report.failure);
    if (trial !== undefined) await breaker.freed(ports, trial);
    return undefined;
  }
  if (said === 'found-nothing') await breaker.foundNothing(ports, trial);
  if (said === 'answered') await breaker.answered(ports, trial, report.kind !== 'found');
  if (said !== 'failed') return undefined;
  const failure = ('failure' in report ? report.failure : undefined) ?? UNTOLD;
  return breaker.failed(ports, trial, failure, failedCall(claim, ports.clock.now()));
}

const UNTOLD: Failure = { code: CANNOT_TELL, message: 'its probe could not tell, and gave no reason' };

function failedCall({ state, planStep }: Claim, at: number): FailedCall | undefined {
  const record = state.steps[planStep.name];
  if (record?.mode === undefined) return undefined;
  const { mode, attempt, name: step } = record;
  return { executionId: state.execution.id, step, attempt, mode, at };
}
