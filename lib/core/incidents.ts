/**
 * Incidents: a person is needed. The question, and the choices that are safe now.
 *
 * Owns: when a question about a step is asked, which answers are offered. Does not own: what an answer writes
 * (`answers.ts`), the questions about a pause (`pause.ts`) and a deadline (`overtime.ts`), who may answer (IAM), the
 * transport (`api/`).
 *
 * Opening is one transaction of all records concerned. L1 every question has a deadline with a default. S10 an answer that
 * could leave an effect behind unseen is offered only to somebody who says that nothing happened, and only when nothing
 * can still happen; nothing is offered that would undo what lies behind a point of no return.
 */

import type { Decision } from './decision.ts';
import type { Json } from './json.ts';
import { attemptedStage } from './ladder.ts';
import { agentStep, agentSteps, type AgentStep, type Plan } from './plan.ts';
import { deadlineChoices, LAST_INCIDENT_MS } from './overtime.ts';
import { lastPoint, mayBePast, wayBack } from './point-of-no-return.ts';
import { asking } from './questions.ts';
import {
  type Choice,
  type Execution,
  type Incident,
  isForward,
  isPausedOrPausing,
  type Snapshot,
  type Step,
} from './state.ts';
import { horizonMs } from './watch.ts';
import { quietAt } from './work.ts';
import type { Stamp } from './write.ts';

/** For an agent that does not accept its step's input. */
const INPUT_INCIDENT_MS = 86_400_000;

export interface Answer {
  readonly choice: Choice;
  readonly by: 'person' | 'deadline';
  readonly reason?: string;
  /** For 'retry-with-input'. */
  readonly input?: Json;
  /** For 'give-output'. */
  readonly output?: Json;
  /** The person asserts that no attempt had an effect. */
  readonly nothingHappened?: boolean;
}

const incidentOf = (state: Snapshot, step: string, kind: Incident['kind']): Incident | undefined =>
  Object.values(state.incidents ?? {}).findLast(
    (incident) => incident.step === step && incident.kind === kind,
  );

/** The first step for which a person is needed and has not been asked yet. */
export function stepToAskAbout(
  plan: Plan,
  state: Snapshot,
): { step: AgentStep; kind: Incident['kind'] } | undefined {
  for (const step of agentSteps(plan)) {
    const record = state.steps[step.name];
    const kind = record && neededFor(record, state.execution);
    if (kind === undefined) continue;
    const known = incidentOf(state, step.name, kind);
    const asked =
      known !== undefined && (known.resolvedAt === undefined || known.stepVersion === record?.version);
    if (!asked) return { step, kind };
  }
  return undefined;
}

function neededFor(record: Step, execution: Execution): Incident['kind'] | undefined {
  if (record.status === 'undo-failed') return isPausedOrPausing(execution.status) ? undefined : 'undo';
  return record.status === 'waiting' && isForward(execution.status) ? 'ladder' : undefined;
}

export function ask(plan: Plan, state: Snapshot, stamp: Stamp): Decision | undefined {
  const found = stepToAskAbout(plan, state);
  if (found === undefined) return undefined;
  const { step, kind } = found;
  const record = state.steps[step.name] as Step;
  const question = {
    kind,
    step: step.name,
    stepVersion: record.version,
    failure: record.failure ?? { code: 'failed', message: 'the step failed' },
    openedAt: stamp.now,
    ...(kind === 'undo'
      ? { deadlineAt: stamp.now + LAST_INCIDENT_MS, otherwise: 'fail' as const }
      : termsOf(plan, state, step, stamp.now)),
  };
  return asking(state, question, stamp.now + horizonMs(plan, undefined), [], stamp);
}

/** How long a person has, and what holds without an answer: as declared, or as far as there is a way back. */
function termsOf(
  plan: Plan,
  state: Snapshot,
  step: AgentStep,
  now: number,
): Pick<Incident, 'deadlineAt' | 'otherwise'> {
  const rung = step.ladder.find((one) => one.kind === 'human');
  const isFree = wayBack(plan, state, step.name) !== 'closed' && !mayBePast(step, state.steps[step.name]);
  const withinMs = rung?.kind === 'human' ? rung.withinMs : isFree ? INPUT_INCIDENT_MS : LAST_INCIDENT_MS;
  // What was declared for no answer holds also where the execution's own time is shorter, as long as that time matters.
  const deadlineAt = isFree ? Math.min(now + withinMs, state.execution.deadlineAt) : now + withinMs;
  const undoes = isFree && !(rung?.kind === 'human' && rung.otherwise === 'fail');
  return { deadlineAt, otherwise: undoes ? 'undo-all' : 'fail' };
}

/** The choices that are safe now, and for those that are not yet or not without a word, why. */
export function choicesFor(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  now: number,
): { readonly choice: Choice; readonly needs?: 'nothingHappened'; readonly notBefore?: number }[] {
  if (incident.resolvedAt !== undefined) return [];
  const undoAll = { choice: 'undo-all' } as const;
  const isPaused = isPausedOrPausing(state.execution.status);
  if (incident.kind === 'pause') {
    if (!isPaused) return [];
    const back = wayBack(plan, state) === 'free' ? [undoAll] : [];
    return [{ choice: 'resume' }, ...back, { choice: 'fail' }];
  }
  if (incident.kind === 'deadline') return deadlineChoices(state, incident);
  const step = agentStep(plan, incident.step ?? '');
  const record = state.steps[incident.step ?? ''];
  if (step === undefined || record === undefined) return [];
  if (incident.kind === 'undo') {
    const deadAt = record.hardEndAt + attemptedStage(step, record).settleMs;
    return [
      { choice: 'retry' },
      { choice: 'skip', ...(deadAt > now ? { notBefore: deadAt } : {}) },
      { choice: 'fail' },
    ];
  }
  if (!isForward(state.execution.status) && !isPaused) return [];
  const after = quietAt(step, record);
  const careful = record.mayHaveActed
    ? { needs: 'nothingHappened' as const, ...(after > now ? { notBefore: after } : {}) }
    : {};
  const again = attemptedStage(step, record).effect === 'idempotent' ? {} : careful;
  return [
    { choice: 'retry', ...again },
    { choice: 'retry-with-input', ...careful },
    { choice: 'give-output' },
    { choice: 'skip', ...careful },
    // Where the step itself may be past the point of no return, only the word of a person says that it is not.
    ...(wayBack(plan, state, step.name) === 'free'
      ? [{ ...undoAll, ...(mayBePast(step, record) ? careful : {}) }]
      : []),
    { choice: 'fail' },
  ];
}

/** A person may have everything stopped, which has a child say what it did; nobody is promised that all is undone before. */
function stopFirst(plan: Plan, state: Snapshot, { choice }: Answer): string {
  if (choice !== 'undo-all' || wayBack(plan, state) !== 'stoppable') return '';
  const name = lastPoint(plan, state)?.name ?? '';
  return `, for step '${name}' is a point of no return, and its execution has not ended: a cancel stops that first, then undoes everything if it left nothing behind`;
}

/** Why an answer is not possible, or nothing. */
export function answerProblem(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Answer,
  now: number,
): string | undefined {
  const offered = choicesFor(plan, state, incident, now);
  const match = offered.find((one) => one.choice === answer.choice);
  if (match === undefined) {
    const possible =
      offered.map((one) => one.choice).join(', ') || 'none, for the execution has gone another way';
    return `'${answer.choice}' is not possible here${stopFirst(plan, state, answer)}; possible are: ${possible}`;
  }
  if (match.needs === 'nothingHappened' && answer.nothingHappened !== true) {
    return `an attempt may have acted: '${answer.choice}' needs "nothingHappened": true from somebody who has checked`;
  }
  if (match.notBefore !== undefined && match.notBefore > now) {
    return `an attempt may still be acting: '${answer.choice}' is possible from ${new Date(match.notBefore).toISOString()}`;
  }
  if (answer.input !== undefined && answer.choice !== 'retry-with-input')
    return `'${answer.choice}' takes no input`;
  if (answer.output !== undefined && answer.choice !== 'give-output')
    return `'${answer.choice}' takes no output`;
  if (answer.choice === 'retry-with-input' && answer.input === undefined)
    return "'retry-with-input' needs an input";
  if (answer.choice === 'give-output' && answer.output === undefined) return "'give-output' needs an output";
  return undefined;
}
