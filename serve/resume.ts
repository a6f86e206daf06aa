/**
 * Recovers at the start from the death of the previous process: its attempts are dead, its messages lost.
 *
 * Owns: recovering at once, without waiting for leases and pickup times to expire. Does not own: the
 * consequences of a death (`lib/engine/death.ts`), which messages an execution needs (`lib/core`).
 *
 * Only one process has the file open, so any lease that this process did not give is dead (S4). Its death is
 * recorded as a worker records that of a process it killed. Then each execution is evaluated as after its
 * start, so that messages for ready steps are sent again.
 */

import type { Due, Ports } from '../lib/core/ports.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { Snapshot } from '../lib/core/records/snapshot.ts';
import { openWork } from '../lib/core/step/ready.ts';
import type { Plan } from '../lib/core/plan/plan.ts';
import { isLeased } from '../lib/core/records/state.ts';
import { type PlanCache, planOf } from '../lib/engine/plans.ts';
import { reconcile } from '../lib/engine/reconcile.ts';
import { recordDeath } from '../lib/engine/death.ts';

/** How many evaluations run at once. */
const LANES = 16;

export interface Resumed {
  readonly executions: number;
  /** The number of attempts recorded as dead. */
  readonly attempts: number;
  /** By missing agent, the executions that wait for it. */
  readonly missing: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface ResumeOptions {
  /** Whether this process created the token of a lease. */
  readonly isOurs: (token: string) => boolean;
  /**
   * Executions due after this had no message in flight, so they are not evaluated unless an attempt of theirs
   * died.
   */
  readonly untilAt: number;
  /**
   * Whether agents run in separate processes: then no agent can have ended the server, so no try is used up.
   */
  readonly agentsApart: boolean;
  readonly stopping: AbortSignal;
}

export async function resume(ports: Ports, plans: PlanCache, options: ResumeOptions): Promise<Resumed> {
  let [executions, attempts] = [0, 0];
  const missing = new Map<string, Set<string>>();
  const one = async (due: Due): Promise<void> => {
    const { executionId } = due;
    try {
      const dead = await resumeOne(ports, plans, due, options, missing);
      executions += 1;
      attempts += dead;
    } catch (error) {
      // The execution continues at its wake time.
      ports.log.note({ what: 'evaluation-failed', executionId, detail: sayable(error) });
    }
  };
  const shards = Array.from({ length: ports.store.shards }, (_, shard) => shard);
  await Promise.all(shards.map((shard) => eachDue(ports, shard, options, one)));
  return { executions, attempts, missing };
}

async function eachDue(
  { store }: Ports,
  shard: number,
  { stopping }: ResumeOptions,
  handle: (due: Due) => Promise<void>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await store.due(shard, Number.MAX_SAFE_INTEGER, cursor);
    const queue = [...page.items];
    const lane = async (): Promise<void> => {
      for (let due = queue.shift(); due !== undefined && !stopping.aborted; due = queue.shift())
        await handle(due);
    };
    await Promise.all(Array.from({ length: Math.min(LANES, queue.length) }, lane));
    cursor = page.cursor;
  } while (cursor !== undefined && !stopping.aborted);
}

/** @returns the number of dead attempts */
async function resumeOne(
  ports: Ports,
  plans: PlanCache,
  { executionId, wakeAt }: Due,
  { isOurs, untilAt, agentsApart, stopping }: ResumeOptions,
  missing: Map<string, Set<string>>,
): Promise<number> {
  const readAt = ports.clock.now();
  const state = await ports.store.read(executionId);
  if (state === undefined) return 0;
  const dead = deadIn(state, isOurs, readAt);
  for (const { step, token } of dead) {
    const death = { executionId, step, token, exit: 'it ended with its server' };
    await recordDeath(ports, plans, agentsApart ? { ...death, interrupted: true } : death, stopping);
  }
  const plan = await planOf(ports.store, plans, state.execution.plan);
  const left = dead.length > 0 ? await ports.store.read(executionId) : state;
  for (const agent of left === undefined ? [] : missingFor(ports, plan, left))
    missing.set(agent, (missing.get(agent) ?? new Set()).add(executionId));
  if (dead.length === 0 && wakeAt > untilAt) return 0;
  const known = dead.length > 0 ? {} : { known: { state, fresh: true, readAt } };
  await reconcile(ports, plan, executionId, { by: 'agent', affected: 'all', ...known });
  return dead.length;
}

/** Agents that the execution's open work needs and that this process does not have. */
const missingFor = ({ queue }: Ports, plan: Plan, state: Snapshot): readonly string[] =>
  openWork(plan, state).flatMap(({ step }) => {
    const agent = 'agent' in step ? step.agent : undefined;
    return agent === undefined || queue.reaches?.(agent) !== false ? [] : [agent];
  });

/** The dead attempts: those with a lease, and those without one whose process deadline has not passed. */
const deadIn = (
  { steps }: Snapshot,
  isOurs: (token: string) => boolean,
  now: number,
): readonly { readonly step: string; readonly token: string }[] =>
  Object.values(steps).flatMap((record) => {
    const { name, mode, token, actedToken, processDeadlineAt } = record;
    const acting = record.processes?.map((one) => one.token) ?? [mode === 'probe' ? actedToken : token];
    const tokens = [isLeased(record) ? token : undefined, ...(processDeadlineAt > now ? acting : [])];
    return [...new Set(tokens)].flatMap((one) =>
      one === undefined || isOurs(one) ? [] : [{ step: name, token: one }],
    );
  });
