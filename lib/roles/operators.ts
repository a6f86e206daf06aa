/**
 * Operators' commands: cancel an execution, answer the question of an incident.
 *
 * Owns: repeated commands, two operators at once, and what is refused with which code. Does not own: what a command writes
 * (`core/decide.ts`, `core/incidents.ts`).
 */

import { decide } from '../core/decide.ts';
import { refuse, type SteadfastError } from '../core/errors.ts';
import { type Answer, answerProblem, choicesFor } from '../core/incidents.ts';
import type { Json } from '../core/json.ts';
import type { Plan } from '../core/plan.ts';
import { type Execution, type Incident, isForward, type Snapshot } from '../core/state.ts';
import { continueWith, stampOf } from './advance.ts';
import { commit, withWrite } from './commit.ts';
import { check, pathOf } from './perform.ts';
import { type Scheduler, show } from './scheduler.ts';

export interface Command {
  readonly commandId?: string;
  readonly reason?: string;
}

/**
 * Cancels: nothing new starts, and what has acted is undone.
 * @throws SteadfastError `unknown-execution`; `not-cancelable` when it has ended or is being undone for another reason
 */
export async function cancel(
  scheduler: Scheduler,
  executionId: string,
  command: Command,
): Promise<Execution> {
  const { ports } = scheduler;
  const commandId = command.commandId ?? ports.dice.id();
  for (;;) {
    const readAt = ports.clock.now();
    const { state, plan } = await show(scheduler, executionId);
    const { execution } = state;
    const repeated = execution.commands.includes(commandId);
    if (repeated || (execution.status === 'undoing' && execution.cause?.kind === 'cancel')) return execution;
    if (!isForward(execution.status)) throw notCancelable(execution);
    const reason = command.reason ?? 'canceled by an operator';
    const decision = decide(plan, state, { type: 'cancel', commandId, reason, ...stampOf(ports) });
    if ((await commit(ports, decision)) === 'conflict') continue;
    await continueWith(ports, plan, state, decision, 'worker', readAt);
    return decision.write?.execution ?? execution;
  }
}

export interface AnswerRequest extends Omit<Answer, 'by'> {
  readonly incident: number;
}

/**
 * Answers an open question. Of two operators one wins; the other is told what was chosen.
 * @throws SteadfastError `unknown-execution`, `unknown-incident`, `already-resolved`, `unsafe-choice`, `bad-input`
 */
export async function answerIncident(
  scheduler: Scheduler,
  executionId: string,
  request: AnswerRequest,
): Promise<Snapshot> {
  const { ports } = scheduler;
  const { incident: number, ...given } = request;
  for (;;) {
    const readAt = ports.clock.now();
    const { state, plan } = await show(scheduler, executionId);
    const incident = state.incidents?.[number];
    if (incident === undefined) {
      throw refuse('unknown-incident', `execution ${executionId} has no incident ${number}`);
    }
    if (incident.resolvedAt !== undefined) throw alreadyResolved(executionId, incident);
    const answer: Answer = { ...(await checkedAnswer(scheduler, plan, incident.step, given)), by: 'person' };
    const problem = answerProblem(plan, state, incident, answer, ports.clock.now());
    if (problem !== undefined)
      throw refuse('unsafe-choice', problem, { choices: choicesFor(plan, state, incident, readAt) });
    const decision = decide(plan, state, { type: 'answer', incident: number, answer, ...stampOf(ports) });
    if ((await commit(ports, decision)) === 'conflict') continue;
    await continueWith(ports, plan, state, decision, 'worker', readAt);
    return withWrite(state, decision.write);
  }
}

/** An output that a person gives must fit where the agent's own would have to. */
async function checkedAnswer(
  scheduler: Scheduler,
  plan: Plan,
  step: string,
  given: Omit<Answer, 'by'>,
): Promise<Omit<Answer, 'by'>> {
  const agentName = plan.steps.find((one) => one.name === step)?.agent;
  const agent = scheduler.workflows
    .get(plan.workflow)
    ?.workflow.agents.find((one) => one.spec.name === agentName);
  if (agent === undefined || given.output === undefined) return given;
  const checked = await check(agent.output, given.output);
  if (!('issues' in checked)) return { ...given, output: checked.value as Json };
  const issues = checked.list.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  throw refuse('bad-input', `the output does not fit agent '${agent.spec.name}': ${checked.issues}`, {
    issues,
  });
}

function alreadyResolved(executionId: string, incident: Incident): SteadfastError {
  const how = incident.choice === undefined ? 'by itself' : `with '${incident.choice}'`;
  const who = { person: 'a person', deadline: 'its deadline', moot: 'another turn of the execution' }[
    incident.by ?? 'moot'
  ];
  return refuse(
    'already-resolved',
    `incident ${incident.number} of execution ${executionId} was resolved ${how} by ${who}`,
    {
      choice: incident.choice,
      resolvedAt: incident.resolvedAt,
    },
  );
}

function notCancelable(execution: Execution): SteadfastError {
  const why =
    execution.status === 'undoing'
      ? `it is already being undone (${execution.cause?.failure.code ?? 'failure'})`
      : `it has ${execution.status === 'succeeded' ? 'succeeded' : `ended: ${execution.status}`}`;
  return refuse('not-cancelable', `execution ${execution.id} cannot be canceled: ${why}`, {
    status: execution.status,
  });
}
