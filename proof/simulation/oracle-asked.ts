/**
 * Judges how accepted work is asked for: by the messages, and by what the services have said.
 *
 * Owns: P7 a message asks once; the pause before the next probe is the service's wish or grows with the age
 * of the work, within limits, and ends with the time of the work, of its step and of its execution. Does not
 * own: how accepted work ends (`oracle-accepted.ts`), what the services say (`acceptance.ts`).
 *
 * All times are compared with that of the decision, so no clocks differ.
 */

import type { AgentStep, Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { Jobs } from './acceptance.ts';
import { actedAs } from './oracle-order.ts';
import { overTimeAt, turnOf } from './oracle-turns.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';
import type { Process } from './process.ts';

const SHORTEST_MS = 5_000;
const LONGEST_MS = 3_600_000;
const PART_OF_AGE = 0.1;
/** Rounding, and what a pause is counted from. */
const TOLERANCE_MS = 1_000;

export class OracleAsked {
  readonly #messages = new Set<string>();

  judge(
    problems: string[],
    plan: Plan,
    before: Snapshot,
    after: Step,
    { jobs, writer }: { readonly jobs: Jobs; readonly writer: Process | undefined },
  ): void {
    const { execution } = before;
    const known = before.steps[after.name];
    const step = plan.steps.find(({ name }) => name === after.name);
    if (known?.accepted === undefined || step?.kind !== 'agent') return;
    const isClaim = after.leaseUntil !== undefined && after.token !== known.token;
    const { message } = writer ?? {};
    if (isClaim && after.mode === 'probe' && message?.step === step.name && message.mode === 'probe') {
      const name = [execution.id, execution.life, step.name, message.seq].join('/');
      if (known.status === 'accepted' && this.#messages.has(name))
        problems.push(`P7 a message asks for '${step.name}' twice`);
      this.#messages.add(name);
    }
    const wish = jobs.wishOf(effectKeyOf(execution, step.name, after.key));
    const isRunning = after.status === 'accepted' && after.probes === 0 && after.deferred === undefined;
    // A late acceptance begins anew.
    const isSame = after.accepted?.at === known.accepted.at && known.restarted !== true;
    const isOld = writer === undefined || writer.frozenUntil > 0;
    if (known.status !== 'probing' || !isSame || !isRunning || isOld || wish === undefined) return;
    judgePause(problems, step, before, known, after, wish.askAfter);
  }
}

/** @param wishS what the service has said about the next probe */
function judgePause(
  problems: string[],
  step: AgentStep,
  before: Snapshot,
  { claimedAt = 0 }: Step,
  { name, accepted, changedAt: now, retryAt = 0, ...after }: Step,
  wishS: number | undefined,
): void {
  const { execution } = before;
  const lastPause = execution.pauses?.at(-1);
  const isPaused = (lastPause?.endedAt ?? 0) > claimedAt - CLOCKS_DIFFER_MS;
  const isForward = execution.status === 'running' || execution.status === 'waiting';
  if (accepted === undefined || !isForward || isPaused || execution.earlierPauses !== undefined) return;
  const { maxNoProgressMs = Number.POSITIVE_INFINITY } = actedAs(step, { name, ...after } as Step);
  const turnAt = turnOf(step, before);
  const overAt = Math.min(
    execution.deadlineAt,
    turnAt === undefined || step.withinMs === undefined
      ? Number.POSITIVE_INFINITY
      : overTimeAt(name, step.withinMs, turnAt, before),
  );
  if (overAt > now + CLOCKS_DIFFER_MS && retryAt > overAt + CLOCKS_DIFFER_MS)
    problems.push(`P7 '${name}' is asked for ${retryAt - overAt} ms after its time is over`);
  const endsAt = Math.min(accepted.untilAt, overAt, (accepted.progressAt ?? accepted.at) + maxNoProgressMs);
  const wantedMs =
    wishS === undefined ? Math.max(accepted.everyMs, (now - accepted.at) * PART_OF_AGE) : wishS * 1_000;
  const pauseMs = Math.min(Math.max(wantedMs, SHORTEST_MS), LONGEST_MS, endsAt - now - CLOCKS_DIFFER_MS);
  if (retryAt - now < pauseMs - TOLERANCE_MS)
    problems.push(`P7 '${name}' is asked for again after ${retryAt - now} ms, and not ${pauseMs}`);
}
