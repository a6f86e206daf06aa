/**
 * Resolutions: operators' answers to incidents. Other commands are in `commands.ts`.
 *
 * Owns: two operators answering at once, checking a person's input or output, and the codes of its refusals.
 * Does not own: which answers are safe (`core/questions/incident.ts`), the write of an answer
 * (`core/operators/incidents.ts`).
 */

import { choicesFor, deedOf, resolutionProblem } from '../core/operators/incidents.ts';
import { performedStep } from '../core/plan/on-failure.ts';
import { graphOf, type Plan } from '../core/plan/plan.ts';
import { type Caller, callerText } from '../core/values/caller.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import type { Resolution } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import type { Incident } from '../core/records/question.ts';
import { type Json, utf8Bytes } from '../core/values/json.ts';
import { type Snapshot, incidentIn, withWrite } from '../core/records/snapshot.ts';
import type { Step } from '../core/records/state.ts';
import { variantOf } from '../core/step/recovery.ts';
import { carryOut } from '../engine/reconcile.ts';
import { fitting, madeJson } from '../engine/schema.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { entry } from './people.ts';
import { type Scheduler, show } from './start.ts';

export interface ResolutionRequest extends Omit<Resolution, 'closedBy' | 'caller'> {
  readonly incident: number;
  /** Absent if the gateway does not say who calls. */
  readonly by?: Caller;
  /**
   * When the person answered, epoch ms. Events after that time do not count, however late the answer is
   * decided.
   * @default when the answer arrives
   */
  readonly asOf?: number;
}

/**
 * Resolves an open incident. If two operators answer, one wins; the other gets the choice that was made.
 * @throws SteadfastError `unknown-execution`, `unknown-incident`, `already-resolved`, `unsafe-choice`,
 * `bad-input`, `unknown-caller`, `too-many-people`
 */
export async function resolveIncident(
  scheduler: Scheduler,
  executionId: string,
  request: ResolutionRequest,
): Promise<Snapshot> {
  const { ports } = scheduler;
  const { incident: number, by, asOf = ports.clock.now(), ...given } = request;
  for (;;) {
    const readAt = ports.clock.now();
    const { state, plan } = await show(scheduler, executionId);
    const incident = incidentIn(state, number);
    if (incident === undefined) {
      throw refuse('unknown-incident', `execution ${executionId} has no incident ${number}`);
    }
    if (incident.closedAt !== undefined) throw alreadyResolved(executionId, incident);
    const answer: Resolution = {
      ...(await checkGiven(scheduler, plan, state.steps[incident.step ?? ''], given)),
      closedBy: 'answer',
      ...defined({ caller: by }),
    };
    const problem = resolutionProblem(plan, state, incident, answer, asOf);
    if (problem !== undefined)
      throw refuse('unsafe-choice', problem, { choices: choicesFor(plan, state, incident, asOf) });
    const acted = await entry(scheduler, state, by, deedOf(answer.choice));
    const event = {
      type: 'resolve',
      incident: number,
      answer,
      ...acted,
      ...decisionInputsOf(ports),
    } as const;
    const { decision } = await decideWith(ports, plan, state, event);
    if ((await carryOut(ports, plan, state, decision, readAt)) === 'written')
      return withWrite(state, decision.write);
  }
}

/**
 * The largest input that a person may give, so that the step's record, with the largest output and history,
 * still fits into its item.
 */
export const MAX_GIVEN_INPUT_BYTES = 32 * 1024;

/**
 * Checks a person's value as the agent's own would be checked, on the step's current stage.
 * @throws SteadfastError `bad-input`, `too-large`
 */
export async function checkGiven<Given extends Pick<Resolution, 'input' | 'output'>>(
  scheduler: Scheduler,
  plan: Plan,
  record: Step | undefined,
  given: Given,
): Promise<Given> {
  const step = record && performedStep(plan, record.name);
  const name = step && variantOf(step, record?.stage ?? 0).agent;
  // Includes workflows that only run within others: a deployment has one agent of each name.
  const agent = [...scheduler.workflows.values()]
    .flatMap(({ workflow }) => workflow.agents)
    .find((one) => one.spec.name === name);
  const bytes = given.input === undefined ? 0 : utf8Bytes(JSON.stringify(given.input));
  if (bytes > MAX_GIVEN_INPUT_BYTES) {
    throw refuse('too-large', `the input has ${bytes} bytes; a person may give ${MAX_GIVEN_INPUT_BYTES}`);
  }
  if (given.input !== undefined) await checkChildInput(scheduler, plan, record, given.input);
  if (agent === undefined) return given;
  const { ports } = scheduler;
  const misfit = `does not fit agent '${name}'`;
  if (given.input !== undefined)
    await fitting(ports, agent.input, given.input, 'bad-input', `input ${misfit}`);
  if (given.output === undefined) return given;
  const value = await fitting(ports, agent.output, given.output, 'bad-input', `output ${misfit}`);
  return { ...given, output: madeJson(value, ports, 'bad-input') };
}

/**
 * Checks the input of a child's next try as the input of a start.
 * @throws SteadfastError `bad-input`
 */
async function checkChildInput(
  { ports }: Scheduler,
  plan: Plan,
  record: Step | undefined,
  input: Json,
): Promise<void> {
  const step = graphOf(plan).step.get(record?.name ?? '');
  if (step?.kind !== 'child') return;
  const issues = await ports.childInputs?.problem(step.plan, input);
  if (issues !== undefined)
    throw refuse('bad-input', `the input does not fit workflow '${step.plan.workflow}': ${issues}`);
}

function alreadyResolved(executionId: string, incident: Incident): SteadfastError {
  const how = incident.choice === undefined ? 'by itself' : `with '${incident.choice}'`;
  const person = incident.caller === undefined ? 'a person' : callerText(incident.caller);
  const who = { answer: person, deadline: 'its deadline', moot: 'another turn of the execution' }[
    incident.closedBy ?? 'moot'
  ];
  const message = `incident ${incident.number} of execution ${executionId} was resolved ${how} by ${who}`;
  const { choice, closedAt } = incident;
  return refuse('already-resolved', message, { choice, closedAt });
}
