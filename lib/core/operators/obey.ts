/**
 * Operators' commands: cancel, pause, resume, retry.
 *
 * Owns: when each is possible, why it is not, and the write that obeys it; when another execution is offered
 * instead; how an execution's record remembers the commands that it has obeyed, for how long and how many.
 * Does not own: the answer to a repeated command and refusals as errors (`scheduler/commands.ts`), what
 * follows (`rules.ts`).
 *
 * A command is one write of the execution, which remembers the command's id. If a command is not possible,
 * nothing is decided; the caller asks `commandProblem` for the reason.
 *
 * S22 a command repeated under its id is answered, and not obeyed again. An id belongs to one command: a
 * different request under it is not a repeat, and is refused. An obeyed command is remembered even if nothing
 * had to change: a pause of a paused execution has happened, and must not happen after the next resume. A
 * refusal is not remembered. An ended execution remembers no command: its parent identifies its end by the
 * version, which a write would change.
 */

import { BULK } from '../plan/built-in.ts';
import type { Plan } from '../plan/plan.ts';
import { entering, executionAfter, type DecisionInputs, stop } from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { Command } from '../decisions/events.ts';
import { defined } from '../values/defined.ts';
import { canonicalJson, type Json } from '../values/json.ts';
import { askedAboutPause, type Snapshot } from '../records/snapshot.ts';
import { type Execution, isForward, isTerminal, isUndecided, pauseOf } from '../records/state.ts';
import { lastPoint, undoable } from '../step/point-of-no-return.ts';
import { resolved } from '../questions/incident.ts';
import { goOn, nextPause, withPause } from '../holds/pause.ts';
import { resolve } from './incidents.ts';
import {
  inputProblem,
  openRecoveryIncidents,
  restartProblemOf,
  retried,
  RETRY_RESOLUTION,
  retryProblem,
} from './retry.ts';
import { standingOf, standingText } from './in-effect.ts';

/** The write of the command; undefined if the command is not possible. */
export function obey(plan: Plan, state: Snapshot, command: Command & DecisionInputs): Decision | undefined {
  if (isUnderWay(state.execution, command)) return remember(state.execution, command);
  if (commandProblem(plan, state, command, command.now) !== undefined) return undefined;
  switch (command.type) {
    case 'cancel':
      return cancel(state, command);
    case 'pause':
      return pause(plan, state, command);
    case 'resume':
      return resume(state, command);
    case 'retry':
      return entering(retry(plan, state, command), state.execution, command.acted);
  }
}

/** True if another command has requested the same, so that nothing has to change. */
export const isUnderWay = ({ status, cause }: Execution, command: Command): boolean =>
  command.type === 'cancel'
    ? status === 'compensating' && cause?.kind === 'cancel' && cause.undo === command.undo
    : command.type === 'pause' && status === 'paused';

/** Remembers the command, which makes nothing due. */
function remember(execution: Execution, command: Command & DecisionInputs): Decision {
  const commands = remembering(execution, command);
  if (commands === execution.commands) return nothing();
  const after = executionAfter(execution, 'adopt', command, { commands });
  const note = { what: 'command-remembered' };
  return { ...writing(execution.id, { execution: after }, IDLE, note), wakeTime: 'as-written' };
}

/** Why a command is not possible now; undefined if it is. */
export function commandProblem(
  plan: Plan,
  state: Snapshot,
  command: Command,
  now: number,
): string | undefined {
  const { status } = state.execution;
  switch (command.type) {
    case 'cancel':
      return cancelProblem(plan, state, command.undo);
    case 'pause':
      return pauseProblem(state.execution);
    case 'resume':
      return status === 'paused' ? undefined : whatItIs(state.execution);
    case 'retry':
      return (
        retryProblem(plan, state, now) ??
        (command.input === undefined ? undefined : inputProblem(plan, state, command.step))
      );
  }
}

/** A command as a person sees it, with the reason if it is not possible now. */
export interface PossibleCommand {
  /**
   * `cancel-as-is`: a cancel that undoes nothing. `replace`: another execution of the workflow is started to
   * replace this one.
   */
  readonly command: 'cancel' | 'cancel-as-is' | 'pause' | 'resume' | 'retry' | 'replace';
  readonly because?: string;
}

/** @param isDeployed true if the workflow of that name can be started */
export function possibleCommands(
  plan: Plan,
  state: Snapshot,
  now: number,
  isDeployed: boolean,
): PossibleCommand[] {
  const asked = { reason: '' };
  const commands: Readonly<Record<Exclude<PossibleCommand['command'], 'replace'>, Command>> = {
    cancel: { type: 'cancel', ...asked },
    'cancel-as-is': { type: 'cancel', undo: false, ...asked },
    pause: { type: 'pause', ...asked },
    resume: { type: 'resume', ...asked },
    retry: { type: 'retry', ...asked },
  };
  const obeyed = Object.entries(commands).map(([command, what]) => ({
    command: command as PossibleCommand['command'],
    ...defined({ because: commandProblem(plan, state, what, now) }),
  }));
  return [
    ...obeyed,
    { command: 'replace', ...defined({ because: replaceProblem(plan, state, isDeployed) }) },
  ];
}

/**
 * Why people are not offered to start a replacement with the execution's input. The API accepts such a start
 * anyway: a program may know better.
 */
function replaceProblem(plan: Plan, state: Snapshot, isDeployed: boolean): string | undefined {
  const { status, parent } = state.execution;
  if (parent !== undefined)
    return `it belongs to step '${parent.step}' of execution ${parent.executionId}, and is started by that one`;
  if (!isTerminal(status)) return whatItIs(state.execution);
  if (status === 'succeeded') return 'it has succeeded, so there is nothing to start again';
  if (status === 'failed' && restartProblemOf(plan, state) === undefined)
    return 'it goes on where it failed: retry it';
  if (plan.workflow === BULK.name) return 'it is a bulk action: make another one';
  return isDeployed ? undefined : `workflow '${plan.workflow}' is not deployed any more`;
}

function pauseProblem(execution: Execution): string | undefined {
  if (!isForward(execution.status)) return whatItIs(execution);
  const { parent } = execution;
  if (parent?.part !== true) return undefined;
  return `it is a part of the list of step '${parent.step}' of execution ${parent.executionId}`;
}

function whatItIs({ status, cause, end }: Execution): string {
  switch (status) {
    case 'compensating':
      return cause?.undo === false
        ? `it is already ending without an undo (${cause.failure.code})`
        : `it is already being undone (${cause?.failure.code ?? 'failure'})`;
    case 'following-up':
      return `it has ended: ${end?.status ?? 'failed'}; its on-failure steps are under way, and nothing stops them`;
    case 'succeeded':
      return 'it has succeeded';
    case 'compensated':
    case 'failed':
    case 'canceled':
      return `it has ended: ${status}`;
    default:
      return `it is ${status}`;
  }
}

function cancelProblem(plan: Plan, state: Snapshot, undo: false | undefined): string | undefined {
  const { status } = state.execution;
  if (!isUndecided(status)) return whatItIs(state.execution);
  if (undo === false) return undefined;
  const name = lastPoint(plan, state)?.name ?? '';
  switch (undoable(plan, state)) {
    case 'never':
      return `step '${name}' is past the point of no return, so nothing is undone any more; "undo": false ends it as it is (${standingText(standingOf(plan, state))})`;
    case 'undecided':
      return `step '${name}' is a point of no return, and its outcome is open; try again when it is known, or end it as it is with "undo": false`;
    // Its children are stopped first; their ends decide if anything is undone.
    case 'after-stop':
    case 'now':
      return undefined;
  }
}

type Of<Type extends Command['type']> = Command & DecisionInputs & { readonly type: Type };

function cancel(state: Snapshot, command: Of<'cancel'>): Decision {
  const { execution } = state;
  const decision = stop(state, command, {
    kind: 'cancel',
    at: command.now,
    failure: { code: 'canceled', message: command.reason },
    ...(command.undo === false ? { undo: false as const } : {}),
    ...defined({ by: command.by }),
  });
  return {
    ...decision,
    write: withCommand(decision, execution, command),
    notes: [{ what: 'canceled-by-operator', executionId: execution.id }],
  };
}

/** Adds the command to its write, which always includes the execution. */
const withCommand = (
  { write }: Decision,
  before: Execution,
  command: Command & DecisionInputs,
  upTo?: number,
): NonNullable<Decision['write']> => ({
  ...write,
  executionId: before.id,
  execution: { ...(write?.execution ?? before), commands: remembering(before, command, upTo) },
});

function pause(plan: Plan, { execution }: Snapshot, command: Of<'pause'>): Decision {
  const paused = executionAfter(execution, 'pause', command, {
    ...withPause(execution, nextPause(plan, execution, command, command.now)),
    commands: remembering(execution, command),
    wakeAt: command.now,
  });
  return writing(execution.id, { execution: paused }, evaluateNext('all'), { what: 'paused' });
}

function resume(state: Snapshot, command: Of<'resume'>): Decision {
  const { execution } = state;
  const current = pauseOf(execution);
  const asked = current && askedAboutPause(state, current);
  const caller = defined({ caller: command.by });
  const answer = { choice: 'resume', closedBy: 'answer', reason: command.reason, ...caller } as const;
  const isOpen = asked !== undefined && asked.closedAt === undefined;
  return goOn(state, command, {
    incident: isOpen ? resolved(asked, answer, command) : undefined,
    changes: { commands: remembering(execution, command) },
    by: command.by,
  });
}

/**
 * The rest of a retry that was begun: its questions that are still open. Each write answers one question, and
 * the first one remembers the command, so a repeat goes on with the others. Questions are distinguished by
 * number, not by time: by two clocks a later one may seem earlier.
 * @returns undefined if nothing is left
 */
export function restOf<One extends Command>(
  state: Snapshot,
  command: One,
  { upTo }: Obeyed,
): One | undefined {
  if (command.type !== 'retry' || state.execution.status !== 'waiting') return undefined;
  if (openRecoveryIncidents(state, command.asOf, upTo).length === 0) return undefined;
  return { ...command, ...defined({ upTo }) };
}

/** The number of the latest question that is open; 0 if there is none. */
export const latestAsked = (state: Snapshot): number =>
  Math.max(0, ...openRecoveryIncidents(state).map(({ number }) => number));

function retry(plan: Plan, state: Snapshot, command: Of<'retry'>): Decision {
  const { execution } = state;
  if (execution.status === 'failed') {
    const { reason, by, input, step } = command;
    const about = { reason, commands: remembering(execution, command, 0), ...defined({ by, input, step }) };
    return retried(plan, state, about, command);
  }
  const [first] = openRecoveryIncidents(state, command.asOf, command.upTo);
  if (first === undefined) return nothing();
  const answer = { ...RETRY_RESOLUTION, reason: command.reason, ...defined({ caller: command.by }) };
  const decision = resolve(plan, state, first, answer, command);
  return { ...decision, write: withCommand(decision, execution, command, latestAsked(state)) };
}

export const REMEMBERED_DAYS = 30;
const REMEMBERED_MS = REMEMBERED_DAYS * 86_400_000;
/** The most commands that one execution remembers, so that its record keeps room: they take 8 KB. */
export const MAX_REMEMBERED = 200;

type Remembering = Pick<Execution, 'commands'>;

/**
 * One remembered command: `<hash>@<time>`, for a retry `.<number>` of its latest question, all in base 36,
 * and `~<hash>` of the request.
 */
const MARK = /^[0-9a-z]{13}@([0-9a-z]+)(?:\.([0-9a-z]+))?~([0-9a-f]{8})$/;

/**
 * 64 bits are enough to tell some hundred ids apart, and no secret depends on them (FNV-1a, by code units).
 */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at += 1)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n);
  return hash;
}

/** The fields of a command that must be equal in a repeat. */
type Asked = Pick<Command, 'type' | 'commandId'> & {
  readonly undo?: false;
  readonly withinMs?: number;
  readonly input?: Json;
  readonly step?: string;
};

/** The NUL keeps type and id apart: no id contains one by accident. */
const keyOf = (type: Command['type'], commandId: string): string => `${type}\0${commandId}`;

const startOf = (key: string): string => `${hashOf(key).toString(36).padStart(13, '0')}@`;

/** 32 bits of the request, without its reason, which may be worded differently. */
function contentOf({ type, undo, withinMs, input, step }: Asked): string {
  const hash = hashOf(canonicalJson({ type, ...defined({ undo, withinMs, input, step }) }));
  return BigInt.asUintN(32, hash ^ (hash >> 32n))
    .toString(16)
    .padStart(8, '0');
}

/** A command that was obeyed. */
export interface Obeyed {
  /** The time at which the command was obeyed. */
  readonly at: number;
  /** Only for a retry: the number of its latest question, 0 if there is none. */
  readonly upTo?: number;
  /** Set if a different request was obeyed under the id: its command. */
  readonly other?: Command['type'];
}

const TYPES: readonly Command['type'][] = ['cancel', 'pause', 'resume', 'retry'];

/** The remembered command, or another one that was obeyed under its id; undefined if there is none. */
export function obeyedOf({ commands }: Remembering, command: Asked): Obeyed | undefined {
  const { type, commandId } = command;
  if (commandId === undefined || commands.length === 0) return undefined;
  const markOf = (key: string): RegExpExecArray | undefined => {
    const start = startOf(key);
    return MARK.exec(commands.find((one) => one.startsWith(start)) ?? '') ?? undefined;
  };
  const own = markOf(keyOf(type, commandId));
  if (own !== undefined) return ofMark(own, own[3] === contentOf(command) ? undefined : type);
  for (const other of TYPES) {
    const mark = markOf(keyOf(other, commandId));
    if (mark !== undefined) return ofMark(mark, other);
  }
  return undefined;
}

function ofMark([, at = '', upTo]: RegExpExecArray, other: Command['type'] | undefined): Obeyed {
  return {
    at: Number.parseInt(at, 36),
    ...defined({ upTo: upTo === undefined ? undefined : Number.parseInt(upTo, 36), other }),
  };
}

const recent = ({ commands }: Remembering, now: number): readonly string[] =>
  commands.filter((one) => now - Number.parseInt(MARK.exec(one)?.[1] ?? '', 36) < REMEMBERED_MS);

/** True if one more command would displace one that may still be repeated. */
export const isMemoryFull = (execution: Remembering, now: number): boolean =>
  recent(execution, now).length >= MAX_REMEMBERED;

/**
 * Adds an obeyed command; one without an id cannot be repeated. If there is no room, which the caller has
 * checked, the oldest is forgotten.
 * @param upTo for a retry: its latest question
 */
export function remembering(
  execution: Remembering,
  command: Asked & { readonly now: number },
  upTo?: number,
): readonly string[] {
  const { type, commandId, now } = command;
  if (commandId === undefined || obeyedOf(execution, command) !== undefined) return execution.commands;
  const about = upTo === undefined ? '' : `.${upTo.toString(36)}`;
  const mark = `${startOf(keyOf(type, commandId))}${now.toString(36)}${about}~${contentOf(command)}`;
  return [...recent(execution, now), mark].slice(-MAX_REMEMBERED);
}
