/**
 * Judges done work with an invalid output, by the history of its step.
 *
 * Owns: a person is asked before the work is undone, even after later probes; a probed step is not performed
 * again; of the items in one execution, one question is announced. Does not own: the question's deadline and
 * default (`oracle-times.ts`), the effects listed at an end (`oracle-standing.ts`).
 */

import { asIncident, type Incident, isOpen, questionKey } from '../../lib/core/records/question.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { FIRST_KEPT } from '../../lib/core/step/history.ts';
import { type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import type { Attempt, Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';
import { isFollowing } from './on-failure.ts';
import { actedAs } from './oracle-order.ts';

const CODES: ReadonlySet<string> = new Set(['bad-output', 'output-too-large']);

const isWrong = (attempt: Attempt | undefined): attempt is Attempt =>
  attempt !== undefined && CODES.has(attempt.failure?.code ?? '');

/**
 * The latest attempt, if it reported done work with an invalid output. Attempts of earlier epochs do not
 * count: after another end, an on-failure step begins anew (seed 330000120).
 */
export const wrongIn = (record: Step | undefined): Attempt | undefined => {
  const last = record?.attempts.findLast(({ mode }) => mode !== 'undo');
  return isWrong(last) && last.epoch === undefined ? last : undefined;
};

/**
 * The latest attempt, if an earlier one reported done work with an invalid output, and none since then gave
 * an output, was undone, or found that nothing was done: then the work is in effect.
 */
function triedSinceDone(record: Step): Attempt | undefined {
  const { attempts, key } = record;
  const last = attempts.findLast(({ mode }) => mode !== 'undo');
  const at = attempts.findLastIndex(isWrong);
  const after = attempts.slice(at + 1);
  const isOver =
    after.some(({ outcome }) => OVER.has(outcome)) || (last !== undefined && mayBeOver(record, at, last));
  return at < 0 || isOver || (attempts[at]?.key ?? 1) !== key ? undefined : last;
}

/**
 * True if one of the attempts left out of the history may have found that nothing was done: the step was
 * performed anew, and its record knows of no invalid output any more (seed 6247).
 */
const mayBeOver = ({ attempts, leftOut, wrongAnswer }: Step, at: number, last: Attempt): boolean =>
  leftOut !== undefined &&
  at < FIRST_KEPT &&
  wrongAnswer === undefined &&
  last.number > (attempts[at]?.number ?? 0);

const OVER: ReadonlySet<Attempt['outcome']> = new Set(['done', 'not-done', 'compensated']);

export function judgeAnswers(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  { step, question }: Write,
  kinds: KindCounts,
): void {
  const incident = asIncident(question);
  if (incident?.wrongAnswer !== undefined && incident.closedAt !== undefined) {
    if (incident.closedBy === 'deadline') kinds.unmended += 1;
    if (incident.choice === 'retry') kinds.askedForAgain += 1;
  }
  if (incident?.wrongAnswer !== undefined && before.questions?.[questionKey(incident)] === undefined)
    judgeQuiet(problems, plan, before, incident, kinds);
  const known = step && before.steps[step.name];
  if (step === undefined || known === undefined) return;
  const isNew =
    isWrong(step.attempts.at(-1)) && step.attempts.at(-1)?.endedAt !== known.attempts.at(-1)?.endedAt;
  const isAsked = step.status === 'waiting' || isFollowing(plan);
  if (isNew && !isAsked)
    problems.push(`S10 '${step.name}' is done, and is ${step.status} for its wrong answer`);
  if (known.wrongAnswer !== undefined && known.mayHaveActed && isFoundNotDone(step)) {
    kinds.foundNotDone += 1;
    if (step.status !== 'retrying' && step.status !== 'waiting')
      problems.push(`S10 '${step.name}' was to be tried again, is not done, and is ${step.status} untried`);
  }
  const isClaim = step.leaseUntil !== undefined && step.token !== known.token;
  if (!isClaim) return;
  const tried = triedSinceDone(known);
  if (
    step.mode === 'undo' &&
    tried !== undefined &&
    known.mayHaveActed &&
    !isForAnother(before, step.name) &&
    !isAnswered(before, step.name, tried)
  )
    problems.push(`S10 '${step.name}' is done, and undone for its wrong answer before anybody was asked`);
  const wrong = wrongIn(known);
  if (wrong === undefined) return;
  const planned = plan.steps.find(({ name }) => name === step.name);
  // Failures of on-failure steps are announced again with the next end (seed 3002).
  const isOfNextEnd = isFollowing(plan) && known.status === 'ready';
  if (
    step.mode === 'execute' &&
    !isOfNextEnd &&
    planned?.kind === 'agent' &&
    actedAs(planned, known).effect === 'probed'
  )
    problems.push(`S6 '${step.name}' is done, and is performed once more for its wrong answer`);
}

function judgeQuiet(
  problems: string[],
  { tolerated }: Plan,
  before: Snapshot,
  { number, quiet }: Incident,
  kinds: KindCounts,
): void {
  const isBeside = incidentsIn(before).some(
    (one) => one.wrongAnswer !== undefined && one.quiet !== true && isOpen(one),
  );
  if (quiet === true) kinds.quietQuestion += 1;
  if ((quiet === true) !== (tolerated !== undefined && isBeside))
    problems.push(`L1 question ${number} of an item is ${isBeside ? 'not ' : ''}quiet beside the others`);
}

/** Whether a probe found that the work was not done. */
const isFoundNotDone = ({ mayHaveActed, attempts }: Step): boolean =>
  !mayHaveActed && attempts.at(-1)?.mode === 'probe' && attempts.at(-1)?.outcome === 'not-done';

/** Whether something other than the failure of this step stopped the execution. */
const isForAnother = ({ execution: { cause } }: Snapshot, name: string): boolean =>
  cause !== undefined && (cause.kind !== 'failure' || cause.step !== name);

const isAnswered = (state: Snapshot, name: string, { endedAt }: Attempt): boolean =>
  incidentsIn(state).some(
    ({ step, wrongAnswer, openedAt, closedBy }) =>
      step === name &&
      wrongAnswer !== undefined &&
      openedAt >= endedAt - CLOCKS_APART_MS &&
      closedBy !== undefined &&
      closedBy !== 'moot',
  );

/** Allows for the clocks: a process whose clock is behind may have opened the incident. */
const CLOCKS_APART_MS = 4_000;
