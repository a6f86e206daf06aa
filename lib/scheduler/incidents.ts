/**
 * Resolutions: operators' answers to incidents. Their commands are in `commands.ts`.
 *
 * Owns: two operators at once, the check of what a person gives, and what is refused with which code. Does not own: which
 * answers are safe (`core/operators/incident.ts`), what an answer writes (`core/operators/resolution.ts`).
 */

import { decide } from '../core/decide.ts';
import { resolutionProblem, choicesFor } from '../core/operators/choices.ts';
import { agentStep, type Plan } from '../core/plan/plan.ts';
import { refuse, type SteadfastError } from '../core/records/errors.ts';
import type { Resolution } from '../core/records/events.ts';
import type { Incident } from '../core/records/incident.ts';
import { type Json, jsonProblem, utf8Bytes } from '../core/records/json.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Step } from '../core/records/state.ts';
import { cut } from '../core/records/text.ts';
import { variantOf } from '../core/step/recovery.ts';
import { commit, withWrite } from '../engine/commit.ts';
import { continueWith } from '../engine/reconcile.ts';
import { check, pathOf } from '../engine/schema.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { type Scheduler, show } from './start.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';

export interface ResolutionRequest extends Omit<Resolution, 'by'> {
  readonly incident: number;
}

/**
 * Resolves an open incident. Of two operators one wins; the other reads what was chosen.
 * @throws SteadfastError `unknown-execution`, `unknown-incident`, `already-resolved`, `unsafe-choice`, `bad-input`
 */
export async function resolveIncident(
  scheduler: Scheduler,
  executionId: string,
  request: ResolutionRequest,
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
    const answer: Resolution = {
      ...(await checkedAnswer(scheduler, plan, state.steps[incident.step ?? ''], given)),
      by: 'person',
    };
    const problem = resolutionProblem(plan, state, incident, answer, ports.clock.now());
    if (problem !== undefined)
      throw refuse('unsafe-choice', problem, { choices: choicesFor(plan, state, incident, readAt) });
    const decision = decide(plan, state, {
      type: 'resolve',
      incident: number,
      answer,
      ...decisionInputsOf(ports),
    });
    if ((await commit(ports, decision, state.execution)) === 'conflict') continue;
    // The answer is given; what follows and fails here, the wake time makes good.
    await continueWith(ports, plan, state, decision, 'agent', readAt).catch(() => {
      ports.log.note({ what: 'follow-up-failed', executionId });
    });
    return withWrite(state, decision.write);
  }
}

/** The largest input that a person may give; with the largest output and history the step's record still fits into its item. */
const MAX_GIVEN_INPUT_BYTES = 32 * 1024;

/** What a person gives must fit where the agent's own would have to, on the stage the step is on. */
async function checkedAnswer(
  scheduler: Scheduler,
  plan: Plan,
  record: Step | undefined,
  given: Omit<Resolution, 'by'>,
): Promise<Omit<Resolution, 'by'>> {
  const step = record && agentStep(plan, record.name);
  const name = step && variantOf(step, record?.stage ?? 0).agent;
  const { workflow } = scheduler.workflows.get(plan.workflow) ?? {};
  const agent = workflow?.agents.find((one) => one.spec.name === name);
  const bytes = given.input === undefined ? 0 : utf8Bytes(JSON.stringify(given.input));
  if (bytes > MAX_GIVEN_INPUT_BYTES) {
    throw refuse('too-large', `the input has ${bytes} bytes; a person may give ${MAX_GIVEN_INPUT_BYTES}`);
  }
  if (agent === undefined) return given;
  if (given.input !== undefined) {
    const checked = await check(agent.input, given.input);
    if ('issues' in checked) throw misfit('input', agent.spec.name, checked.issues, checked.list);
  }
  if (given.output === undefined) return given;
  const checked = await check(agent.output, given.output);
  if ('issues' in checked) throw misfit('output', agent.spec.name, checked.issues, checked.list);
  const problem = jsonProblem(checked.value);
  if (problem !== undefined)
    throw refuse('bad-input', `the output, as its schema makes it: ${cut(problem, 200)}`);
  return { ...given, output: checked.value as Json };
}

const misfit = (
  what: string,
  agent: string,
  text: string,
  list: readonly StandardSchemaV1.Issue[],
): SteadfastError => {
  const issues = list.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  return refuse('bad-input', `the ${what} does not fit agent '${agent}': ${text}`, { issues });
};

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
