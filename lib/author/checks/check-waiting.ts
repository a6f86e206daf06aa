/**
 * Checks steps that no agent performs, and the targets of references.
 *
 * Owns: the refusals of wait, callback, approval, receive, child and map. Does not own: agents' steps and the
 * graph (`check.ts`). Nothing that could wait without end is accepted (P1).
 */

import { formatDuration, isDurationMs, timeOf, timeProblem } from '../../core/values/duration.ts';
import {
  type AgentStep,
  type CallbackStep,
  type ChildStep,
  isRepeated,
  type RepeatedStep,
  type MapStep,
  MAX_ITEMS,
  type Plan,
  type PlanStep,
  type ReceiveStep,
  type WaitStep,
  workflowIn,
} from '../../core/plan/plan.ts';
import { isJsonObject } from '../../core/values/json.ts';
import { isName, NAME_WANTED } from '../../core/values/names.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { sourcesIn } from '../../core/plan/refs-in.ts';
import { problem, type Problem } from './refusal.ts';
import { roundsProblem } from './check-rounds.ts';

/**
 * The deepest nesting of children. Each level lengthens the id by its step's name and place; an id may have
 * 20 such parts after its root's (`values/names.ts`), and the key of an index has a limit.
 */
const MAX_DEPTH = 10;

/** @param agentProblem checks the step of an item's agent */
export function waitingStepProblem(
  step: Exclude<PlanStep, AgentStep>,
  plan: Plan,
  agentProblem: (step: AgentStep, plan: Plan) => Problem | undefined,
): Problem | undefined {
  switch (step.kind) {
    case 'wait':
      return waitProblem(step, plan);
    case 'callback':
    case 'approval':
      return callbackProblem(step, plan);
    case 'receive':
      return receiveProblem(step, plan);
    case 'lane':
      return undefined;
    case 'child':
      return (
        depthProblem(plan) ??
        (isRepeated(step)
          ? (roundsProblem(step) ??
            roundMessagesProblem(step, plan) ??
            byAgentProblem(step, plan, agentProblem))
          : undefined)
      );
    case 'map':
      return (
        mapProblem(step) ??
        (step.each.kind === 'agent' ? agentProblem(step.each, plan) : depthProblem(plan, step.each))
      );
    default:
      return problem('bad-kind', `'${String((step as PlanStep).kind)}' is not a kind of step`);
  }
}

/** Checks the agent of a round like that of a step. */
function byAgentProblem(
  { rounds, plan: round }: ChildStep,
  plan: Plan,
  agentProblem: (step: AgentStep, plan: Plan) => Problem | undefined,
): Problem | undefined {
  const [performed] = round.steps;
  return rounds?.byAgent === true && performed?.kind === 'agent' ? agentProblem(performed, plan) : undefined;
}

function waitProblem({ forMs, for: dataMs, until }: WaitStep, plan: Plan): Problem | undefined {
  if ([forMs, dataMs, until].filter((one) => one !== undefined).length !== 1)
    return problem('unbounded', "a wait needs either 'for' or 'until'");
  const isFixed = until !== undefined && (typeof until !== 'object' || until === null);
  if (isFixed && timeOf(until) === undefined) return problem('bad-time', timeProblem(until));
  if (forMs === undefined) return undefined;
  if (!isDurationMs(forMs)) return problem('unbounded', `its wait is ${String(forMs)} ms long`);
  return longerThanWithin(forMs, plan, 'it waits for');
}

/** Refuses a step's time limit that can never matter, or that is too short for any attempt. */
export function withinProblem(step: PlanStep, plan: Plan): Problem | undefined {
  const { withinMs } = step;
  // A lane's time limit ends before the workflow's begins.
  if (withinMs === undefined || step.kind === 'lane') return undefined;
  if (!isDurationMs(withinMs))
    return problem('unbounded', `its withinMs is ${String(withinMs)}; leave it out or give a time`);
  const own = formatDuration(withinMs);
  if (withinMs > plan.withinMs) {
    const most = formatDuration(plan.withinMs);
    const message = `its 'within' is ${own}, but the workflow must end within ${most}: write within: '${most}' or less, or leave it out`;
    return problem('longer-than-within', message);
  }
  const performed =
    step.kind === 'map' ? step.each : isRepeated(step) && step.rounds.byAgent ? step.plan.steps[0] : step;
  if (performed?.kind === 'agent' && performed.timeoutMs > withinMs) {
    const message = `its 'within' is ${own}, but one attempt may take ${formatDuration(performed.timeoutMs)}: write timeout: '${own}' or less on the step, or a longer 'within'`;
    return problem('within-too-short', message);
  }
  if (step.kind === 'wait' && step.forMs !== undefined && step.forMs >= withinMs) {
    const message = `it waits for ${formatDuration(step.forMs)}, and its 'within' is ${own}, so it would always fail: write a longer 'within', or leave it out`;
    return problem('within-too-short', message);
  }
  return undefined;
}

/**
 * Refuses to give an external party more time than the whole execution has; it would get less without notice.
 * @param what such as 'it waits for'
 */
export function longerThanWithin(
  timeMs: number,
  { withinMs }: Pick<Plan, 'withinMs'>,
  what: string,
): Problem | undefined {
  if (timeMs <= withinMs) return undefined;
  const message = `${what} ${formatDuration(timeMs)}, but the workflow must end within ${formatDuration(withinMs)}`;
  return problem('longer-than-within', message);
}

function callbackProblem(step: CallbackStep, plan: Plan): Problem | undefined {
  const { kind, withinMs, heartbeatMs } = step;
  if (!isDurationMs(withinMs))
    return problem('unbounded', `a step of kind '${kind}' needs 'within', or it could wait for ever`);
  if (heartbeatMs !== undefined && !isDurationMs(heartbeatMs))
    return problem('unbounded', "'heartbeatEvery' is not a time");
  return (
    byProblem(step) ??
    longerThanWithin(withinMs, plan, 'it waits for an answer for') ??
    defaultProblem(step) ??
    showProblem(step) ??
    reminderProblem(step, 'it')
  );
}

const receiveProblem = ({ message, withinMs, otherwise }: ReceiveStep, plan: Plan): Problem | undefined =>
  isDurationMs(withinMs)
    ? messageProblem(message, { withinMs, otherwise }, plan)
    : problem('unbounded', "a step of kind 'receive' needs 'within', or it could wait for ever");

/** The messages that rounds begin with. */
function roundMessagesProblem({ input, rounds }: RepeatedStep, plan: Plan): Problem | undefined {
  for (const message of [rounds.first ?? [], rounds.message ?? []].flat()) {
    const { name, withinMs, within, otherwise } = message;
    if (within === undefined && !isDurationMs(withinMs ?? Number.NaN))
      return problem(
        'unbounded',
        "rounds that begin with messages need 'within', or they could wait for ever",
      );
    const found = messageProblem(name, { withinMs: withinMs ?? 0, otherwise }, plan);
    if (found !== undefined) return found;
    const beside = message === rounds.first ? input : rounds.next;
    if (
      !isJsonObject(beside) ||
      Object.keys(beside).some((key) => key.startsWith('$')) ||
      'message' in beside
    )
      return problem(
        'bad-rounds',
        "what a round is given beside its message has no fields of its own, or one named 'message': write received('move', Move, { board: … }), as 'next' received('move', Move, (last) => ({ board: last.board }))",
      );
  }
  return sourcesIn(rounds.first?.within ?? null).some((source) => source === 'last' || source === 'given')
    ? problem(
        'bad-rounds',
        "its 'within' reads the round before, and the first round, too, waits for a message: take that by w.receive, and give it to the first round",
      )
    : undefined;
}

function messageProblem(
  message: string,
  { withinMs, otherwise }: { readonly withinMs: number; readonly otherwise: unknown },
  plan: Plan,
): Problem | undefined {
  if (!isName(message)) {
    const said = JSON.stringify(message) ?? String(message);
    return problem('bad-message', `the name of its message, ${said}, is not allowed: ${NAME_WANTED}`);
  }
  if (otherwise !== undefined && otherwise !== 'continue')
    return problem('bad-default', `'otherwise' is '${String(otherwise)}'; allowed: 'continue' and 'fail'`);
  return longerThanWithin(withinMs, plan, 'it waits for a message for');
}

function byProblem({ kind, by }: { readonly kind: string; readonly by?: unknown }): Problem | undefined {
  if (by === undefined) return undefined;
  if (kind !== 'approval')
    return problem(
      'bad-by',
      "a callback has no 'by': anyone with its token may answer it; to ask a person, use w.approval",
    );
  if (by === 'another') return undefined;
  const message = `by is ${JSON.stringify(by) ?? String(by)}; allowed: 'another', a person other than those who have acted in it. The API's authorizer decides who may answer at all`;
  return problem('bad-by', message);
}

/**
 * Refuses a default answer, except for an approval, because only an approval's answer can be known in
 * advance.
 */
function defaultProblem({ kind, otherwise, by }: CallbackStep): Problem | undefined {
  if (otherwise === undefined) return undefined;
  const said = `'otherwise' is '${String(otherwise)}'`;
  if (kind === 'callback') {
    const message = `${said}, and only the external party knows the output of a callback; write otherwise: 'fail' or leave it out, or make the step an approval`;
    return problem('bad-default', message);
  }
  if (!['approve', 'reject'].includes(otherwise))
    return problem('bad-default', `${said}; allowed: 'approve', 'reject' and 'fail'`);
  if (otherwise === 'reject' || by === undefined) return undefined;
  const message = `${said}, and another person has to approve it: without an answer, no other person would have approved it; write 'reject' or 'fail'`;
  return problem('bad-default', message);
}

/**
 * The maximum number of values that an approval shows. With `MAX_SHOWN_CHARS` for each, it limits the
 * question.
 */
export const MAX_SHOWN = 16;
const SHOWN_NAME = /^[A-Za-z][A-Za-z0-9_ -]{0,39}$/;

function showProblem({ kind, show }: CallbackStep): Problem | undefined {
  if (show === undefined) return undefined;
  if (kind !== 'approval')
    return problem(
      'bad-show',
      "a callback has no 'show', because a system answers it; to ask a person, use w.approval",
    );
  const names = isJsonObject(show) ? Object.keys(show) : [];
  if (names.length === 0 || names.length > MAX_SHOWN)
    return problem(
      'bad-show',
      `'show' names 1 to ${MAX_SHOWN} values, such as { amount: w.input.amount }; it names ${names.length}`,
    );
  if (sourcesIn(show).some((source) => source.startsWith('token:')))
    return problem(
      'bad-show',
      "'show' reads a token, which is a secret: anyone with it can answer; leave it out",
    );
  const bad = names.find((name) => !SHOWN_NAME.test(name));
  if (bad === undefined) return undefined;
  const message = `'show' names '${bad}'; allowed: up to 40 letters, digits, blanks, '-' and '_', a letter first`;
  return problem('bad-show', message);
}

/** The shortest interval of reminders: supervisors of an idle system run once a minute. */
const MIN_REMIND_MS = 60_000;

/** @param who the step that sends reminders */
export function reminderProblem(
  { withinMs, remindMs }: Pick<CallbackStep, 'withinMs' | 'remindMs'>,
  who: string,
): Problem | undefined {
  if (remindMs === undefined) return undefined;
  if (!isDurationMs(remindMs)) return problem('unbounded', "'remindEvery' is not a time");
  const said = `${who} reminds every ${formatDuration(remindMs)}`;
  if (remindMs < MIN_REMIND_MS) return problem('bad-reminder', `${said}; write remindEvery: '1m' or more`);
  if (remindMs < withinMs) return undefined;
  const message = `${said}, and it waits for only ${formatDuration(withinMs)}: nobody would be reminded; write a 'remindEvery' that is less than 'within', or leave it out`;
  return problem('bad-reminder', message);
}

function mapProblem({ concurrency, tolerate }: MapStep): Problem | undefined {
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency >= 1))
    return problem('bad-concurrency', `concurrency is ${concurrency}; at least 1 is allowed`);
  const most = 'items' in tolerate ? MAX_ITEMS : 100;
  const value = 'items' in tolerate ? tolerate.items : tolerate.percent;
  const whole = 'percent' in tolerate || Number.isInteger(value);
  return whole && value >= 0 && value <= most
    ? undefined
    : problem('bad-tolerance', `mayFail is ${value}; allowed: 0 to ${most}`);
}

/** @param each the child of a list of workflows */
function depthProblem(plan: Plan, each?: ChildStep): Problem | undefined {
  if (depthOf(plan) <= MAX_DEPTH) return undefined;
  const instead =
    each === undefined
      ? ''
      : `; a list of workflows counts twice, for its parts and for its items: put the steps of the children into '${each.plan.workflow}' itself`;
  return problem('too-deep', `workflows within workflows, over ${MAX_DEPTH} deep${instead}`);
}

/**
 * Returns the depth of a plan. The parts of a list of workflows are a level between it and its items; a round
 * of an agent is not a level.
 */
function depthOf(plan: Plan): number {
  const depths = plan.steps.map((step) => {
    const inner = isRepeated(step) && step.rounds.byAgent === true ? undefined : workflowIn(step);
    return inner === undefined ? 0 : depthOf(inner) + (step.kind === 'map' ? 1 : 0);
  });
  return 1 + Math.max(0, ...depths);
}

const SOURCES: ReadonlySet<string> = new Set([
  'input',
  'step',
  'outcome',
  'failure',
  'item',
  'index',
  'last',
  'given',
]);

/**
 * The kinds of step that evaluate an expression several times: for each item of a list, or for each round.
 */
export type Each = 'item' | 'round';
const OF_EACH: Readonly<Record<string, Each>> = {
  item: 'item',
  index: 'item',
  last: 'round',
  given: 'round',
};

/**
 * Refuses a reference to a token of no callback, to an item outside a list, or to a round's answer outside
 * its step.
 */
export function sourceProblem(expr: Expr, plan: Plan, each?: Each): Problem | undefined {
  for (const source of sourcesIn(expr)) {
    const [kind, name = ''] = source.split(':');
    if (kind === 'token') {
      const callback = plan.steps.find((other) => other.name === name);
      if (callback?.kind !== 'callback' && callback?.kind !== 'approval') {
        return problem('unknown-step', `it reads the token of '${name}', which is not a callback`);
      }
    } else if (source === 'failure') {
      const message = 'it reads w.failure, which exists only after the end: read it in w.onFailure';
      return problem('bad-expression', message);
    } else if (OF_EACH[kind ?? ''] !== undefined && OF_EACH[kind ?? ''] !== each) {
      const whole = OF_EACH[kind ?? ''] === 'item' ? 'list' : 'round';
      return problem(
        'bad-expression',
        `an expression reads the ${kind} of a ${whole} outside of the ${whole}`,
      );
    } else if (!SOURCES.has(kind ?? '')) {
      return problem('bad-expression', `an expression reads '${source}', which does not exist`);
    }
  }
  return undefined;
}
