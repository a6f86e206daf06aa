/**
 * Obeys operators' commands: cancel, pause, resume, retry.
 *
 * Owns: repeated commands, two operators acting at once, and the codes of its refusals. Does not own: when a
 * command is possible, and its write (`core/operators/obey.ts`).
 */

import {
  commandProblem,
  isMemoryFull,
  isUnderWay,
  latestAsked,
  MAX_REMEMBERED,
  type Obeyed,
  obeyedOf,
  REMEMBERED_DAYS,
  restOf,
} from '../core/operators/obey.ts';
import { openRecoveryIncidents, stepForInput } from '../core/operators/retry.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Caller } from '../core/values/caller.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import type { Command } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import type { Json } from '../core/values/json.ts';
import type { Acted } from '../core/records/people.ts';
import { type Snapshot, withWrite } from '../core/records/snapshot.ts';
import type { Execution } from '../core/records/state.ts';
import { carryOut } from '../engine/reconcile.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { checkGiven } from './incidents.ts';
import { entry } from './people.ts';
import { type Scheduler, show } from './start.ts';
import { timeText } from '../core/values/text.ts';

export interface CommandRequest {
  readonly commandId?: string;
  readonly reason?: string;
  /** Absent if the gateway does not say who calls. */
  readonly by?: Caller;
}

/**
 * Cancels: nothing new starts, and effects are undone; with `undo: false` they stay.
 * @throws SteadfastError `unknown-execution`; `key-reused`, as for every command, if another command had its
 * id; `not-cancelable` if it has ended, is being undone for another reason, or is past a point of no return
 */
export const cancel = (
  scheduler: Scheduler,
  executionId: string,
  request: CommandRequest & { readonly undo?: boolean },
): Promise<Execution> =>
  obeyed(scheduler, executionId, request, {
    type: 'cancel',
    ...(request.undo === false ? { undo: false as const } : {}),
  });

/**
 * Pauses this execution, not those that it has started: nothing new starts, and work under way continues to
 * its end.
 * @throws SteadfastError `unknown-execution`, `not-pausable`
 */
export const pause = (
  scheduler: Scheduler,
  executionId: string,
  request: CommandRequest & { readonly withinMs?: number },
): Promise<Execution> =>
  obeyed(scheduler, executionId, request, {
    type: 'pause',
    ...defined({ withinMs: request.withinMs }),
  });

/** @throws SteadfastError `unknown-execution`, `not-resumable` */
export const resume = (
  scheduler: Scheduler,
  executionId: string,
  request: CommandRequest,
): Promise<Execution> => obeyed(scheduler, executionId, request, { type: 'resume' });

/**
 * Makes a failed execution continue where it failed, or resolves all incidents of a waiting one with 'retry'.
 * @param request `asOf`: ignores failures and questions after that time; `input`: replaces the input of the
 * failed `step`
 * @throws SteadfastError `unknown-execution`, `not-retryable`, `bad-input`, `too-large`, `unknown-caller`,
 * `too-many-people`
 */
export const retry = (
  scheduler: Scheduler,
  executionId: string,
  request: CommandRequest & { readonly asOf?: number; readonly input?: Json; readonly step?: string },
): Promise<Execution> => {
  const { asOf, input, step } = request;
  return obeyed(scheduler, executionId, request, { type: 'retry', ...defined({ asOf, input, step }) });
};

type Given = Command extends infer One
  ? One extends Command
    ? Omit<One, 'commandId' | 'reason' | 'by' | 'acted'>
    : never
  : never;

const REASON: Readonly<Record<Command['type'], string>> = {
  cancel: 'canceled by an operator',
  pause: 'paused by an operator',
  resume: 'resumed by an operator',
  retry: 'tried again by an operator',
};

const REFUSAL: Readonly<Record<Command['type'], { readonly code: string; readonly done: string }>> = {
  cancel: { code: 'not-cancelable', done: 'canceled' },
  pause: { code: 'not-pausable', done: 'paused' },
  resume: { code: 'not-resumable', done: 'resumed' },
  retry: { code: 'not-retryable', done: 'tried again' },
};

async function obeyed(
  scheduler: Scheduler,
  executionId: string,
  request: CommandRequest,
  wanted: Given,
): Promise<Execution> {
  const { ports } = scheduler;
  const { commandId, by } = request;
  const wish = {
    ...wanted,
    reason: request.reason ?? REASON[wanted.type],
    ...defined({ commandId, by }),
  } as Command;
  for (let begun: Obeyed | undefined; ; ) {
    const readAt = ports.clock.now();
    const { state, plan } = await show(scheduler, executionId);
    const { execution } = state;
    const known = begun ?? obeyedOf(execution, wish);
    if (known?.other !== undefined) throw keyReused(execution, wish, known);
    const command = known === undefined ? wish : restOf(state, wish, known);
    if (command === undefined) return execution;
    const problem = known === undefined ? problemOf(plan, state, command, readAt) : undefined;
    if (problem !== undefined) throw refusal(execution, command, problem);
    if (known === undefined) refuseWhereFull(execution, command, readAt);
    const acted = command.type === 'retry' ? await acting(scheduler, plan, state, command) : {};
    const event = { ...command, ...acted, ...decisionInputsOf(ports) };
    const { decision } = await decideWith(ports, plan, state, event);
    // The command was repeated without an id while it is under way, or no remaining question can be answered
    // safely any longer.
    if (decision.write === undefined && (known !== undefined || isUnderWay(execution, command)))
      return execution;
    if (decision.write === undefined) continue;
    if ((await carryOut(ports, plan, state, decision, readAt)) === 'conflict') continue;
    begun = known ?? { at: readAt, upTo: latestAsked(state) };
    const after = withWrite(state, decision.write);
    if (restOf(after, wish, begun) === undefined) return after.execution;
  }
}

function problemOf(plan: Plan, state: Snapshot, command: Command, now: number): string | undefined {
  if (isUnderWay(state.execution, command)) return undefined;
  return notMeant(state, command) ?? commandProblem(plan, state, command, now);
}

/** Refuses any command but a cancel if no more command ids can be remembered. */
function refuseWhereFull(execution: Execution, { type, commandId }: Command, now: number): void {
  if (type === 'cancel' || commandId === undefined || !isMemoryFull(execution, now)) return;
  throw refuse(
    'too-many-commands',
    `execution ${execution.id} was given ${MAX_REMEMBERED} commands within ${REMEMBERED_DAYS} days, and no more are accepted, because a repeated one would not be recognised; it can still be canceled`,
  );
}

/** Refuses the command: answering it as a repeat would silently drop it. */
function keyReused({ id }: Execution, { type }: Command, { at, other = type }: Obeyed): SteadfastError {
  const body = other === type ? ' with another body' : '';
  return refuse(
    'key-reused',
    `this command id was that of '${other}'${body}, which execution ${id} obeyed at ${timeText(at)}; use a new id for a new command`,
    { executionId: id, command: other, at },
  );
}

/** A retry counts as an act of a person. Checks that the input it gives fits the agent that gets it. */
async function acting(
  scheduler: Scheduler,
  plan: Plan,
  state: Snapshot,
  { by, input, step }: Extract<Command, { readonly type: 'retry' }>,
): Promise<{ readonly acted?: Acted }> {
  if (input === undefined) return entry(scheduler, state, by, 'retried');
  const record = stepForInput(plan, state, step);
  // Stage 0, because the step's recovery begins again.
  await checkGiven(scheduler, plan, record && { ...record, stage: 0 }, { input });
  return entry(scheduler, state, by, 'gave-input');
}

/** Returns why a retry does not apply to this execution: it failed, or asked, after the retry's `asOf`. */
function notMeant(state: Snapshot, command: Command): string | undefined {
  if (command.type !== 'retry' || command.asOf === undefined) return undefined;
  const { asOf } = command;
  const { status, endedAt = 0 } = state.execution;
  if (status === 'failed' && endedAt > asOf)
    return `it failed at ${timeText(endedAt)}, after the executions were selected`;
  const asked = status === 'waiting' && openRecoveryIncidents(state).length > 0;
  if (!asked || openRecoveryIncidents(state, asOf).length > 0) return undefined;
  return 'its open questions came after the executions were selected';
}

function refusal({ id, status }: Execution, { type }: Command, problem: string): SteadfastError {
  const { code, done } = REFUSAL[type];
  return refuse(code, `execution ${id} cannot be ${done}: ${problem}`, { status });
}
