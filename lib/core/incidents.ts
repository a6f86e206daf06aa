/**
 * Incidents: a person is needed. The question, the choices that are safe now, the answer, and what happens without one.
 *
 * Owns: when a question is asked, which answers are offered, what each writes. Does not own: who may answer (IAM), the
 * transport (`api/`).
 *
 * Opening and answering are one transaction of all records concerned: of two operators one wins, the other reads why.
 * L1 every question has a deadline with a default. S10 an answer that could leave an effect behind unseen is offered only
 * to somebody who says that nothing happened, and only when nothing can still happen.
 */

import type { Decision, Note } from './decide.ts';
import type { Json } from './json.ts';
import { stageOf } from './ladder.ts';
import { agentStep, agentSteps, type AgentStep, type Plan } from './plan.ts';
import {
  type Choice,
  type Execution,
  type Incident,
  openIncidents,
  type Snapshot,
  type Step,
  isForward,
} from './state.ts';
import type { StepEvent } from './transitions.ts';
import { horizonMs } from './watch.ts';
import { quietAt } from './work.ts';
import { executionAfter, type Stamp, stepAfter, type StepChanges } from './write.ts';

/** For an undo that failed: a person has this long, then the execution ends as failed and says what is left. */
const UNDO_INCIDENT_MS = 7 * 86_400_000;

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
  if (record.status === 'undo-failed') return 'undo';
  return record.status === 'waiting' && isForward(execution.status) ? 'ladder' : undefined;
}

export function ask(plan: Plan, state: Snapshot, stamp: Stamp): Decision | undefined {
  const found = stepToAskAbout(plan, state);
  if (found === undefined) return undefined;
  const { step, kind } = found;
  const record = state.steps[step.name] as Step;
  const rung = step.ladder.find((one) => one.kind === 'human');
  const [withinMs, otherwise] =
    kind === 'ladder' && rung?.kind === 'human'
      ? [rung.withinMs, rung.otherwise === 'fail' ? ('fail' as const) : ('undo-all' as const)]
      : [UNDO_INCIDENT_MS, 'fail' as const];
  const number = Math.max(0, ...Object.keys(state.incidents ?? {}).map(Number)) + 1;
  const incident: Incident = {
    number,
    version: 1,
    writeId: stamp.writeId,
    kind,
    step: step.name,
    stepVersion: record.version,
    failure: record.failure ?? { code: 'failed', message: 'the step failed' },
    openedAt: stamp.now,
    // What was declared for no answer holds also where the execution's own time is shorter.
    deadlineAt:
      kind === 'ladder' ? Math.min(stamp.now + withinMs, state.execution.deadlineAt) : stamp.now + withinMs,
    otherwise,
  };
  const { execution } = state;
  const watchAt = Math.min(execution.watchAt ?? stamp.now, stamp.now + horizonMs(plan, undefined));
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, 'ask', stamp, { watchAt }),
      incident,
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: [] },
    notes: [noteOf(execution, 'incident-opened', step.name)],
  };
}

/** The choices that are safe now, and for those that are not yet or not without a word, why. */
export function choicesFor(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  now: number,
): { readonly choice: Choice; readonly needs?: 'nothingHappened'; readonly notBefore?: number }[] {
  const step = agentStep(plan, incident.step);
  const record = state.steps[incident.step];
  if (step === undefined || record === undefined || incident.resolvedAt !== undefined) return [];
  if (incident.kind === 'undo') {
    const deadAt = record.hardEndAt + stageOf(step, record.rung).settleMs;
    return [
      { choice: 'retry' },
      { choice: 'skip', ...(deadAt > now ? { notBefore: deadAt } : {}) },
      { choice: 'fail' },
    ];
  }
  if (!isForward(state.execution.status)) return [];
  const after = quietAt(step, record);
  const careful = record.mayHaveActed
    ? { needs: 'nothingHappened' as const, ...(after > now ? { notBefore: after } : {}) }
    : {};
  const again = stageOf(step, record.rung).effect === 'idempotent' ? {} : careful;
  return [
    { choice: 'retry', ...again },
    { choice: 'retry-with-input', ...careful },
    { choice: 'give-output' },
    { choice: 'skip', ...careful },
    { choice: 'undo-all' },
    { choice: 'fail' },
  ];
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
    return `'${answer.choice}' is not possible here; possible are: ${possible}`;
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

/** The transaction of an answer. The caller has asked `answerProblem`. */
export function resolve(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Answer,
  stamp: Stamp,
): Decision {
  const { execution } = state;
  const record = state.steps[incident.step] as Step;
  const offered = choicesFor(plan, state, incident, stamp.now).find((one) => one.choice === answer.choice);
  // The word of a person is taken where it is asked for, and nowhere else.
  const certain = offered?.needs === 'nothingHappened' && answer.nothingHappened === true;
  const step =
    incident.kind === 'undo'
      ? undoAnswer(plan, record, answer, stamp)
      : ladderAnswer(record, answer, certain, stamp);
  const others = openIncidents(state).filter((other) => other.number !== incident.number);
  const move = execution.status === 'waiting' && others.length === 0 ? 'resume' : 'answer';
  const cause =
    answer.choice === 'fail' && incident.kind === 'ladder'
      ? {
          cause: {
            kind: 'failure' as const,
            at: stamp.now,
            step: incident.step,
            failure: incident.failure,
            undo: false as const,
          },
        }
      : {};
  const stops = 'cause' in cause;
  const watchAt = Math.min(
    execution.watchAt ?? stamp.now,
    stops ? stamp.now : stamp.now + horizonMs(plan, undefined),
  );
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, stops ? 'stop' : move, stamp, { watchAt, ...cause }),
      ...(step === undefined ? {} : { step }),
      incident: closed(incident, answer, stamp),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: stops ? 'all' : [incident.step] },
    notes: [
      noteOf(
        execution,
        `incident-${answer.by === 'deadline' ? 'timed-out' : 'resolved'}`,
        incident.step,
        answer.choice,
      ),
    ],
  };
}

const closed = (
  incident: Incident,
  answer: { readonly choice?: Choice; readonly by: NonNullable<Incident['by']>; readonly reason?: string },
  stamp: Stamp,
): Incident => ({
  ...incident,
  version: incident.version + 1,
  writeId: stamp.writeId,
  resolvedAt: stamp.now,
  by: answer.by,
  ...(answer.choice === undefined ? {} : { choice: answer.choice }),
  ...(answer.reason === undefined ? {} : { reason: answer.reason }),
});

const LADDER_EVENT: Readonly<Record<Choice, StepEvent>> = {
  retry: 'choose-retry',
  'retry-with-input': 'choose-retry',
  'give-output': 'choose-output',
  skip: 'choose-skip',
  'undo-all': 'choose-end',
  fail: 'choose-end',
};

function ladderAnswer(record: Step, answer: Answer, certain: boolean, stamp: Stamp): Step {
  const changes: StepChanges = {
    changedAt: stamp.now,
    ...(certain ? { mayHaveActed: false } : {}),
    ...(answer.choice === 'retry' || answer.choice === 'retry-with-input' ? { retryAt: stamp.now } : {}),
    ...(answer.choice === 'retry-with-input' ? { givenInput: answer.input ?? null } : {}),
    ...(answer.choice === 'give-output' ? { output: answer.output ?? null, failure: undefined } : {}),
  };
  return stepAfter(record, LADDER_EVENT[answer.choice], stamp, changes);
}

/** Nothing is written to the step when its effect stays: it is and remains `undo-failed`. */
function undoAnswer(plan: Plan, record: Step, answer: Answer, stamp: Stamp): Step | undefined {
  if (answer.choice === 'retry') {
    const planned = agentStep(plan, record.name);
    const settleMs = planned === undefined ? 0 : stageOf(planned, record.rung).settleMs;
    // Not beside an earlier undo whose process may still act.
    const retryAt = Math.max(stamp.now, record.hardEndAt + settleMs);
    return stepAfter(record, 'choose-retry', stamp, { changedAt: stamp.now, retryAt });
  }
  if (answer.choice !== 'skip') return undefined;
  return stepAfter(record, 'choose-undone', stamp, { changedAt: stamp.now, mayHaveActed: false });
}

/** The question about a step that a late success answers, and what becomes of the execution. */
export function answeredBySuccess(
  state: Snapshot,
  step: string,
  stamp: Stamp,
): { readonly incident?: Incident; readonly move: 'adopt' | 'resume' } {
  const open = openIncidents(state);
  const asked = open.find((incident) => incident.step === step && incident.kind === 'ladder');
  if (asked === undefined) return { move: 'adopt' };
  const last = open.length === 1 && state.execution.status === 'waiting';
  return { incident: closed(asked, { by: 'moot' }, stamp), move: last ? 'resume' : 'adopt' };
}

/** What a look does with open questions: the time for an answer is over, or the execution went another way. */
export function settleIncidents(plan: Plan, state: Snapshot, stamp: Stamp): Decision | undefined {
  const { execution } = state;
  for (const incident of openIncidents(state)) {
    const expects = incident.kind === 'ladder' ? 'waiting' : 'undo-failed';
    const moot =
      state.steps[incident.step]?.status !== expects ||
      (incident.kind === 'ladder' && execution.status === 'undoing');
    if (moot) return mootIncident(execution, incident, stamp);
    if (incident.deadlineAt <= stamp.now) {
      return resolve(plan, state, incident, { choice: incident.otherwise, by: 'deadline' }, stamp);
    }
  }
  return undefined;
}

const mootIncident = (execution: Execution, incident: Incident, stamp: Stamp): Decision => ({
  write: { executionId: execution.id, incident: closed(incident, { by: 'moot' }, stamp) },
  sends: [],
  next: { kind: 'look', fresh: true, concern: [] },
  notes: [noteOf(execution, 'incident-moot', incident.step)],
});

const noteOf = (execution: Execution, what: string, step: string, detail?: string): Note => ({
  what,
  executionId: execution.id,
  step,
  ...(detail === undefined ? {} : { detail }),
});
