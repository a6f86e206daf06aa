/**
 * The state of an execution for a test. Owns: its type, and the message about one that does not end. Does not
 * own: the records (`core/records/state.ts`).
 */

import { defined } from '../lib/core/values/defined.ts';
import { incidentsIn } from '../lib/core/records/snapshot.ts';
import { shownSteps } from '../lib/core/plan/on-failure.ts';
import { outputOf } from '../lib/core/execution/output.ts';
import type { Explanation } from '../lib/explain/why.ts';
import type { Children } from '../lib/core/records/children.ts';
import type { Failure } from '../lib/core/values/failure.ts';
import type { Incident } from '../lib/core/records/question.ts';
import type { Json } from '../lib/core/values/json.ts';
import { type Attempt, isTerminal, type Step } from '../lib/core/records/state.ts';
import { isTurn } from '../lib/core/step/turn.ts';
import type { ExecutionStatus, StepStatus } from '../lib/core/moves.ts';
import { waitsUntil } from '../lib/core/waiting/waits.ts';
import type { Shown } from '../lib/scheduler/start.ts';
import type { RunEnd } from './driver.ts';

/** The state of a step in a run. */
export interface StepState {
  /** `pending`: it waits for a predecessor. `ready`: it waits for its agent. */
  readonly status: StepStatus | 'pending';
  /** The number of attempts to execute so far. */
  readonly attempts: number;
  /** The step's output; absent until it is done. */
  readonly output?: Json;
  /** Why it failed. */
  readonly failure?: Failure;
  /** The latest 20 attempts to execute, probe or undo. */
  readonly history: readonly Attempt[];
  /**
   * The end of a timer, callback or approval, in epoch ms of the test's time; absent before the step begins.
   */
  readonly waitsUntil?: number;
  /**
   * For a child or map step: the number of its executions, how many have started, and how ended ones ended.
   */
  readonly children?: {
    readonly count: number;
    readonly started: number;
    readonly ended: readonly ExecutionStatus[];
    /** The try that these numbers are about; only for a child with a recovery, from its second try on. */
    readonly try?: number;
  };
}

/** The state of a run: its status, its output, its steps. */
export interface RunState {
  /** The status as the API reports it. */
  readonly status: ExecutionStatus;
  /** The workflow's output; absent unless it has succeeded. */
  readonly output?: Readonly<Record<string, Json>>;
  /** Why it left the normal course. */
  readonly failure?: Failure;
  /** Steps by name; on-failure steps once the execution has ended without success. */
  readonly steps: Readonly<Record<string, StepState>>;
  /** All incidents, including resolved ones. */
  readonly incidents: readonly Incident[];
  /** The time from start to end, in ms of the test's time; absent while it runs. */
  readonly tookMs?: number;
}

export function stateOf({ plan, state }: Shown): RunState {
  const { execution, steps } = state;
  const shown = shownSteps(plan, state).map((step): [string, StepState] => {
    const record = steps[step.name];
    const untilAt = waitsUntil(step, state);
    return [
      step.name,
      {
        ...(record === undefined ? notBegun(isTurn(step, state)) : stepState(record)),
        ...(untilAt === undefined ? {} : { waitsUntil: untilAt }),
      },
    ];
  });
  const { cause, endedAt, startedAt } = execution;
  const { output } = outputOf(plan, state);
  return {
    status: execution.status,
    ...(output === undefined ? {} : { output: output as Readonly<Record<string, Json>> }),
    ...(cause === undefined ? {} : { failure: cause.failure }),
    steps: Object.fromEntries(shown),
    incidents: incidentsIn(state),
    ...(endedAt === undefined ? {} : { tookMs: endedAt - startedAt }),
  };
}

const notBegun = (isItsTurn: boolean): StepState => ({
  status: isItsTurn ? 'ready' : 'pending',
  attempts: 0,
  history: [],
});

const stepState = ({ status, attempt, output, failure, attempts, children }: Step): StepState => ({
  status,
  attempts: attempt,
  ...defined({ output, failure }),
  history: attempts,
  ...(children === undefined ? {} : { children: childrenState(children) }),
});

const childrenState = ({ count, started, ended, try: number }: Children): StepState['children'] & object => ({
  count,
  started,
  ended: Object.values(ended).map(({ status }) => status),
  ...(number === undefined ? {} : { try: number }),
});

const REASON: Readonly<Record<Exclude<RunEnd, 'over'>, string>> = {
  idle: 'nothing is left that could happen',
  late: 'the time is over',
  endless: 'it never comes to rest',
};

/**
 * Writes the message about an execution that never reaches the awaited event. @param what the name of that
 * event, such as 'end'
 */
export function stuckMessage(
  id: string,
  what: string,
  end: RunEnd,
  within: string,
  why: Explanation,
): string {
  const reason = end === 'over' ? '' : REASON[end];
  const didNot = isTerminal(why.status as ExecutionStatus)
    ? `execution ${id} has ended, and did not ${what}`
    : `execution ${id} did not ${what} within ${within} of the test's time: ${reason}`;
  const steps = why.steps.map(({ name, status, because }) => `  ${name}: ${status}, ${because}`);
  return [
    `${didNot}. It is ${why.status}.`,
    ...steps,
    `  next: ${why.next.what}${why.next.who === undefined ? '' : ` (${why.next.who})`}`,
  ].join('\n');
}
