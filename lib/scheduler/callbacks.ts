/**
 * Callbacks: the external party answers a step through the API.
 *
 * Owns: the token, checking an answer, repeated answers, and the codes of its refusals. Does not own: the
 * write of an answer (`core/waiting/waits.ts`).
 *
 * The token is enough to answer: its last part is a fresh id that only this execution's record and the party
 * that got the token know. If the reply to an answer is lost, repeating the answer gets the same reply.
 */

import { stateAfterRetry } from '../core/execution/after-retry.ts';
import { type CallbackStep, graphOf, isCallback, type Plan } from '../core/plan/plan.ts';
import { workflowNamed } from '../core/plan/workflow.ts';
import { type Caller, callerText, personOf } from '../core/values/caller.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { canMoveStep } from '../core/decisions/change.ts';
import type { CallbackAnswer } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import { canonicalJson, type Json, utf8Bytes } from '../core/values/json.ts';
import { timeText } from '../core/values/text.ts';
import { outputIn } from '../core/records/large-values.ts';
import { openQuestions, type Snapshot } from '../core/records/snapshot.ts';
import { callbackToken, type Step } from '../core/records/state.ts';
import { callbackProblem } from '../core/questions/callback.ts';
import { carryOut, reconcile } from '../engine/reconcile.ts';
import { fitting, madeJson, mostValueBytes, refuseLonger } from '../engine/schema.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith, withValues } from '../engine/large-values.ts';
import { entryOfAnswer } from './people.ts';
import { type Scheduler, show } from './start.ts';

const TOKEN = /^([a-z0-9.-]{1,1200})\.([a-z][a-z0-9-]{0,47})\.([A-Za-z0-9-]{1,64})$/;

/**
 * @throws SteadfastError `unknown-callback`; `already-closed` if it was answered otherwise, or no longer
 * needs an answer; `bad-output` (details: the schema's issues), `too-large`; for an approval `not-another`,
 * `not-open`, `unknown-caller`, `too-many-people`
 * @param by absent if the gateway does not say who calls: a callback's token is enough
 * @param asOf answers only a question that was open then, else `already-closed`: a retry asked again
 * @returns who has answered: the first, if the same answer comes again
 */
export async function closeCallback(
  scheduler: Scheduler,
  token: string,
  given: CallbackAnswer,
  by?: Caller,
  asOf?: number,
): Promise<{ readonly by?: Caller }> {
  const { ports } = scheduler;
  const [, executionId = '', name = ''] = TOKEN.exec(token) ?? [];
  for (;;) {
    const readAt = ports.clock.now();
    const { state, plan, step } = await shownFor(scheduler, executionId, name, token);
    // A trigger is not a person, but four eyes would count it as another one (S19).
    if (step.kind === 'approval' && by?.kind === 'trigger') throw unknownCallback();
    const answer = await checkedAnswer(scheduler, plan, step, given, by);
    // A retry of the execution has reopened a callback that failed before.
    const counted = stateAfterRetry(plan, state);
    const repeated = await withValues(ports, counted, (known) =>
      isRepeated(scheduler, step, known, answer, by),
    );
    if (repeated.made) return defined({ by: counted.steps[name]?.by });
    const inputs = decisionInputsOf(ports);
    const problem = callbackProblem(plan, counted, name, inputs.now);
    if (problem !== undefined) {
      const isLate = canMoveStep(counted.steps[name]?.status ?? 'ready', 'answer');
      const after = isLate ? await ended(scheduler, plan, name, { state, readAt }) : counted;
      const { status = after.execution.status, by: first } = after.steps[name] ?? {};
      // The token of an approval is given to people, who may know of each other.
      const who = step.kind === 'approval' && first !== undefined ? { by: first } : {};
      const text = who.by === undefined ? '' : `, answered by ${callerText(who.by)}`;
      throw refuse('already-closed', `this callback is no longer open: ${problem}${text}`, {
        status,
        ...who,
      });
    }
    if (
      asOf !== undefined &&
      !openQuestions(counted).some((one) => one.step === name && one.openedAt <= asOf)
    )
      throw refuse('already-closed', `step '${name}' was asked again after ${timeText(asOf)}`);
    const acted = await entryOfAnswer(scheduler, counted, step, answer, by);
    const about = { step: name, answer, ...acted, ...defined({ by }) };
    const event = { type: 'callback', ...about, ...inputs } as const;
    const { decision } = await decideWith(ports, plan, state, event);
    if ((await carryOut(ports, plan, state, decision, readAt, name)) === 'written') return defined({ by });
  }
}

/** Ends the step after a late answer at once, so that a pause before the next supervisor cannot reopen it. */
async function ended(
  { ports }: Scheduler,
  plan: Plan,
  name: string,
  { state, readAt }: { readonly state: Snapshot; readonly readAt: number },
): Promise<Snapshot> {
  const known = { state, fresh: true, readAt };
  return (
    (await reconcile(ports, plan, state.execution.id, { by: 'agent', affected: [name], known })) ?? state
  );
}

/** Refuses without revealing whether the execution or the step exists. */
async function shownFor(
  scheduler: Scheduler,
  executionId: string,
  name: string,
  token: string,
): Promise<{ state: Snapshot; plan: Plan; step: CallbackStep }> {
  const shown = await show(scheduler, executionId).catch((error: SteadfastError) => {
    if (error.code !== 'unknown-execution') throw error;
    return undefined;
  });
  const known = shown && callbackToken(shown.state.execution, name);
  const step = shown && graphOf(shown.plan).step.get(name);
  if (shown === undefined || known !== token || !isCallback(step)) {
    throw unknownCallback();
  }
  return { ...shown, step };
}

const unknownCallback = (): SteadfastError =>
  refuse('unknown-callback', 'there is no callback with this token');

/**
 * True if the same answer was given before: for an approval by the same person, for a callback by any holder
 * of its token.
 */
function isRepeated(
  { personalRoles }: Scheduler,
  { name, kind }: CallbackStep,
  state: Snapshot,
  answer: CallbackAnswer,
  by: Caller | undefined,
): boolean {
  const record = state.steps[name];
  if (record === undefined || answer.kind === 'heartbeat') return false;
  const isApproval = kind === 'approval';
  const personIn = (caller: Caller | undefined): string | undefined =>
    caller && personOf(caller, personalRoles);
  if (isApproval && personIn(record.by) !== personIn(by)) return false;
  const outputOf = (output: Json | undefined): Json | undefined => (isApproval ? withoutBy(output) : output);
  const known = answer.kind === 'complete' ? outputOf(outputIn(state, record)) : record.failure;
  const said = answer.kind === 'complete' ? outputOf(answer.output) : answer.failure;
  const settled: readonly Step['status'][] =
    answer.kind === 'complete' ? ['answered', 'done'] : ['answered', 'failed', 'tolerated'];
  if (!settled.includes(record.status) || known === undefined) return false;
  return canonicalJson(known as Json) === canonicalJson(said as Json);
}

/**
 * Compares answers without who gave them: one person may use several sessions of a role, each with its own
 * name.
 */
function withoutBy(output: Json | undefined): Json | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  return Object.fromEntries(Object.entries(output).filter(([key]) => key !== 'by'));
}

async function checkedAnswer(
  scheduler: Scheduler,
  plan: Plan,
  { name, kind }: CallbackStep,
  answer: CallbackAnswer,
  by: Caller | undefined,
): Promise<CallbackAnswer> {
  if (answer.kind !== 'complete') return answer;
  refuseLonger('output', utf8Bytes(JSON.stringify(answer.output)), mostValueBytes(scheduler.ports));
  if (kind === 'approval') {
    const who = by === undefined ? {} : { by: callerText(by) };
    return { kind: 'complete', output: { ...approvalOf(answer.output), approved: true, ...who } };
  }
  const workflows = [...scheduler.workflows.values()].map(({ workflow }) => workflow);
  const schema = workflowNamed(workflows, plan.workflow)?.callbacks[name];
  if (schema === undefined) return answer;
  const misfit = `output does not fit callback '${name}'`;
  const value = await fitting(scheduler.ports, schema, answer.output, 'bad-output', misfit);
  return { kind: 'complete', output: madeJson(value, scheduler.ports, 'bad-output') };
}

/** @throws SteadfastError `bad-output` */
function approvalOf(output: Json): { comment?: string } {
  const given = typeof output === 'object' && output !== null ? (output as Record<string, Json>) : {};
  if ('by' in given)
    throw refuse(
      'bad-output',
      "an approval's output takes no 'by': leave it out, because the API's authorizer names the person",
    );
  const allowed = ['approved', 'comment'];
  const unknown = Object.keys(given).filter((key) => !allowed.includes(key));
  const texts = Object.entries(given).filter(([key]) => key !== 'approved');
  const wrong = texts.find(([, value]) => typeof value !== 'string' || value.length > 500);
  if (unknown.length > 0 || wrong !== undefined || given['approved'] === false) {
    throw refuse(
      'bad-output',
      "an approval's output has 'comment' as a text of up to 500 characters; to reject, call fail",
    );
  }
  return Object.fromEntries(texts);
}
