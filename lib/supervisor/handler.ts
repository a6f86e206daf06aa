/**
 * The supervisors' Lambda function: ports → supervisor → one tick.
 *
 * Owns: one invocation, on the schedule or because another role called. Does not own: the sweeps
 * (`supervisor/sweep.ts`), how long a supervisor stays (`supervisor/stay.ts`).
 */

import type { Context } from 'aws-lambda';
import { clock } from '../aws/clock.ts';
import { metering, once } from '../aws/invocation.ts';
import { OpenGauge, type OpenNow, openNow } from '../aws/open-now.ts';
import { type OwnPorts, portsOf, receiptsOf, releaseHere, sweepEvery, telemetryOf } from '../aws/ports.ts';
import { calledBy } from '../aws/wake-bus.ts';
import { sayable } from '../core/values/errors.ts';
import type { PlanCache } from '../engine/plans.ts';
import { Grace } from './outage.ts';
import { receiptBook } from './receipts.ts';
import { releaseNote } from './release.ts';
import { takeOver, tickStay } from './stay.ts';
import { type Part, tick } from './sweep.ts';

/** A tick ends this long before its process would be killed. */
const TICK_RESERVE_MS = 3_000;

/**
 * The supervisors' Lambda function. On the schedule it makes one tick, with as many sweeps as are useful.
 * Called by another role, it does the same on all shards, while work is due and no other supervisor has come.
 * It calls no supervisor itself.
 */
export function supervisorHandler(): (event: unknown, context: Context) => Promise<{ sweeps: number }> {
  const telemetry = telemetryOf({ role: 'supervisor' });
  const { logger, meter } = telemetry;
  // A sweep evaluates many executions at once, and their messages are sent together.
  const ports = once(() => portsOf(telemetry, { messages: Number.POSITIVE_INFINITY }));
  const plans: PlanCache = new Map();
  const grace = new Grace();
  const gauge = new OpenGauge();
  let noteRelease: (() => Promise<void>) | undefined;
  const work = async (event: unknown, context: Context): Promise<{ sweeps: number }> => {
    const untilAt = clock.now() + context.getRemainingTimeInMillis() - TICK_RESERVE_MS;
    const sweepEveryMs = sweepEvery();
    const called = calledBy(event);
    const { presences } = ports();
    const stay =
      called === undefined
        ? tickStay(presences, ports(), untilAt)
        : await takeOver(presences, ports(), called, { untilAt, sweepEveryMs });
    if (stay === undefined) return { sweeps: 0 };
    const part = partOf(event);
    const receipts = receiptsOf(ports());
    const leave = receiptBook(receipts, ports());
    noteRelease ??= releaseHere((release) => releaseNote(receipts, ports(), release));
    // Beside the sweeps, which do not wait for it.
    const noted = noteRelease?.();
    const options = { untilAt, sweepEveryMs, part, grace, leave, stay };
    // Counts while the first sweeps run, and only in a tick, once a minute.
    const counted = called === undefined && gauge.isDue(clock.now()) ? countOpen(ports()) : undefined;
    const sweeps = await tick(ports(), plans, options);
    const due = sweeps.reduce((sum, sweep) => sum + sweep.due, 0);
    const open = await counted;
    await noted;
    if (open !== undefined) meter.open(open);
    if (counted !== undefined || due > 0) gauge.counted(due > 0 ? undefined : open, clock.now());
    const failed = sweeps.reduce((sum, sweep) => sum + sweep.failed, 0);
    const oldestOverdueMs = Math.max(0, ...sweeps.map((sweep) => sweep.oldestOverdueMs));
    // Sweeps of called supervisors must not hide that ticks have stopped.
    meter.swept({ made: called === undefined ? sweeps.length : 0, oldestOverdueMs, failed });
    logger.info(called === undefined ? 'tick' : 'called', { ...part, sweeps: sweeps.length, due, failed });
    return { sweeps: sweeps.length };
  };
  return (event, context) => metering(telemetry, context, () => work(event, context));
}

/** How much of the reserved time the count at the end of a tick may take. */
const COUNT_WITHIN_MS = 1_000;

/** Gives up a count that is not ready in time. */
const countOpen = ({ table: { client, name, agents }, log }: OwnPorts): Promise<OpenNow | undefined> =>
  Promise.race([
    openNow(client, name, agents, clock.now()).catch((error: unknown) => {
      log.note({ what: 'count-failed', detail: sayable(error) });
      return undefined;
    }),
    clock.sleep(COUNT_WITHIN_MS).then(() => undefined),
  ]);

/** The part that an event names. Without one, as when invoked by hand, one supervisor has all shards. */
function partOf(event: unknown): Part {
  const { part, of } = (event ?? {}) as { readonly part?: unknown; readonly of?: unknown };
  const isPart = Number.isInteger(part) && Number.isInteger(of) && Number(part) >= 0;
  return isPart && Number(part) < Number(of) ? { part: Number(part), of: Number(of) } : { part: 0, of: 1 };
}
