/**
 * The types of what a client sends, and of the answers about executions.
 *
 * Owns: only the types. Does not own: the types of answers about the deployment (`deployment-answers.ts`),
 * the checks (`requests.ts`), or how the answers are made (`views.ts`).
 */

import {
  type Finding,
  findingText,
  isUnsupervised,
  OVERDUE_SAID_MS,
  riskText,
  situationText,
  type Typed,
  verdictOf,
  VERDICTS,
  worstFirst,
} from '../explain/situation.ts';
import { type AskedBelow, askedText, questionsText } from '../explain/asked-below.ts';
import { aboutText, pairsText, rootText } from '../explain/question.ts';
import type { Explanation } from '../explain/why.ts';
import { itemsText, laneText } from '../explain/words.ts';
import type { PossibleCommand } from '../core/operators/obey.ts';
import type { ListOrder } from '../core/operators/list-filter.ts';
import type { PlanStep } from '../core/plan/plan.ts';
import type { Parent } from '../core/records/children.ts';
import type { Standing } from '../core/records/ended.ts';
import { type Caller, callerText } from '../core/values/caller.ts';
import type { Failure } from '../core/values/failure.ts';
import {
  type QuestionSubject,
  type CallbackQuestion,
  type Choice,
  CHOICES,
  type Incident,
} from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';

import type { NotBefore, RiskReason } from '../core/records/state.ts';
import type { People } from '../core/records/people.ts';
import {
  countText,
  durationText,
  pastText,
  printable,
  printableLines,
  timeText,
} from '../core/values/text.ts';
import type { Pause } from '../core/records/pauses.ts';
import type { Attempt, Cause, Retried } from '../core/records/state.ts';
import { isAfterLeftOut, type LeftOut } from '../core/step/history.ts';
import type { ItemsSoFar } from '../core/waiting/map.ts';
import { EXECUTION_STATUSES, type ExecutionStatus, type StepStatus } from '../core/moves.ts';

export {
  aboutText,
  askedText,
  callerText,
  countText,
  durationText,
  findingText,
  isAfterLeftOut,
  isUnsupervised,
  itemsText,
  laneText,
  OVERDUE_SAID_MS,
  pairsText,
  pastText,
  printable,
  printableLines,
  questionsText,
  riskText,
  rootText,
  situationText,
  timeText,
  verdictOf,
  VERDICTS,
  worstFirst,
};
export type {
  AskedBelow,
  Attempt,
  Caller,
  Standing,
  Choice,
  ExecutionStatus,
  Explanation,
  Finding,
  Json,
  ListOrder,
  Typed,
};
export const STATUSES: readonly ExecutionStatus[] = EXECUTION_STATUSES;
export const ANSWERS: readonly Choice[] = CHOICES;

/** The answer to a start: the execution, even if an earlier start with the same key created it. */
export interface Started {
  readonly executionId: string;
  readonly status: ExecutionStatus;
}

/** The state of an execution that is being erased. */
export interface Erased {
  readonly executionId: string;
  /** `erasing`: it has more records than one call removes. */
  readonly status: 'erased' | 'erasing';
}

/** How an execution continues after it was stopped or one of its incidents was resolved. */
export interface Stopped extends Started {
  /** Present if nothing is undone; effects stay in place. */
  readonly undo?: false;
  /** Effects that are in place now; absent after a success. */
  readonly standing?: Standing;
}

/** An execution as in lists: its state, without its input, output and steps. */
export interface ExecutionSummary extends Started {
  /** The name of its workflow. */
  readonly workflow: string;
  /** Content hash of the plan with which it started, and which it keeps. */
  readonly plan: string;
  /** Epoch ms, like all times. */
  readonly startedAt: number;
  /** The latest time of its next evaluation; absent once its end was announced. */
  readonly wakeAt?: number;
  /**
   * Since when it has been at risk: overdue by a minute, past three quarters of its time, or, if that was
   * noticed, deferred, on its last stage or without its agent.
   */
  readonly riskSince?: number;
  /** What puts it at risk. */
  readonly risk?: RiskReason;
  /**
   * The step that matters now, according to its own record: the step at risk, in question, or failed. Absent
   * while the execution simply runs.
   */
  readonly step?: string;
  /** Only while it is open: questions for people in executions that its steps run. */
  readonly asked?: AskedBelow;
  /** Absent for a child, and if the API's authorizer does not name the caller. */
  readonly startedBy?: Caller;
  /** When it ended; absent while it is open. */
  readonly endedAt?: number;
  /** The code of the failure that caused its end. */
  readonly code?: string;
  /** Why it left the normal course. */
  readonly cause?: Cause;
  /** Names and values by which it is found besides its id: from its input, and given at its start. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The parent's step that runs this execution. */
  readonly parent?: Parent;
}

/** One attempt of a step: by which agent, with what input, when, and how it ended. */
export interface AttemptView extends Omit<Attempt, 'key' | 'variant' | 'given' | 'epoch'> {
  /** The stage of the step's recovery, from 1. Only the kind 'agent' has it and the fields that follow. */
  readonly variant?: number;
  readonly agent?: string;
  /** The idempotency key that the external service got. */
  readonly idempotencyKey?: string;
  /** Present if its JSON text has up to 512 bytes. */
  readonly input?: Json;
  /** The size in bytes of an input that is too large to be shown. */
  readonly inputBytes?: number;
  /** The input came from a person instead of the plan; only the latest such input is kept. */
  readonly inputGiven?: true;
}

/** Work that a service has accepted. */
export interface AcceptedView {
  /** The service's token for the work. */
  readonly token?: string;
  readonly at: number;
  readonly untilAt: number;
  /** How many times it was probed. */
  readonly asked: number;
  readonly progress?: string | number;
}

/** The progress of a repeated step. */
export interface RoundsView {
  readonly done: number;
  readonly atMost: number;
  readonly compensating?: number;
}

/** The lane that an execution waits in. */
export interface LaneView {
  readonly name: string;
  /** How many executions may have a place at the same time. */
  readonly atMost: number;
  /** Its position in the queue, from 1; absent beyond 100. */
  readonly place?: number;
  /** Executions that have a place. */
  readonly holders: readonly string[];
}

/** A step of an execution: its state, its attempts, its result. */
export interface StepView {
  /** Its name in the workflow. */
  readonly name: string;
  /** The kind: an agent's step, a wait, a callback, an approval, a receive, a child, a list, a lane. */
  readonly kind: PlanStep['kind'];
  /** The agent that performs it; only the kind 'agent' has one. */
  readonly agent?: string;
  /** The steps that must be done before it begins. */
  readonly after: readonly string[];
  /** Set for a step after an end without success. Shown once there is such an end. */
  readonly onFailure?: true;
  /** True if nothing is undone once this step is done. */
  readonly pointOfNoReturn?: boolean;
  /**
   * `pending`: a predecessor is not done yet. `ready`: waits for an agent. Both are derived; neither has a
   * record.
   */
  readonly status: StepStatus | 'pending';
  /** The number of the latest attempt, from 1. */
  readonly attempt?: number;
  /** When a process claimed the latest attempt. */
  readonly claimedAt?: number;
  /** Until when the attempt counts as alive without another heartbeat. */
  readonly leaseUntil?: number;
  /** Absent while the execution is paused, because nothing is tried then. */
  readonly retryAt?: number;
  /** It is deferred until `retryAt`, when a supervisor sends it. */
  readonly deferred?: NotBefore;
  /** The step's output; absent until it is done, and if it was left out of the answer. */
  readonly output?: Json;
  /** Why the latest attempt, or the step, failed. */
  readonly failure?: Failure;
  /** The agent's answer, if the work was done but this is not a valid output; text, cut at 4 KB. */
  readonly wrongAnswer?: string;
  /** The service has accepted the work and performs it; until `untilAt` it is probed for progress. */
  readonly accepted?: AcceptedView;
  /** The progress that the latest heartbeat reported. */
  readonly progress?: string | number;
  /** Who answered it; only for a callback or an approval. */
  readonly by?: Caller;
  /** True if, as far as is known, an attempt may have had an effect. */
  readonly mayHaveActed?: boolean;
  /**
   * Only for a receive, and for rounds that begin with messages. `name`: the message that it, or its latest
   * round, waits for; `id` and `at`: the one that it took, and when that was accepted. `next`: the message
   * that the following round waits for.
   */
  readonly message?: {
    readonly name: string;
    readonly id?: string;
    readonly at?: number;
    readonly next?: string;
  };
  /** When a wait, a callback, an approval or a receive ends, or a round stops waiting for its message. */
  readonly waitsUntil?: number;
  /** Only for a lane, while it waits for a place. */
  readonly lane?: LaneView;
  /** Only for an open callback or approval: `POST /callbacks/{token}/complete`, and its question. */
  readonly token?: string;
  readonly question?: CallbackQuestionView;
  /** Only for a child or map step; the ids of up to 100 of its executions. */
  readonly children?: {
    readonly executionIds: readonly string[];
    readonly count: number;
    readonly started: number;
    readonly ended: Readonly<Partial<Record<ExecutionStatus, number>>>;
    /**
     * Only for a list, whose executions are parts of up to 25 items. `ended` counts a part's items once all
     * of them have ended, by how that part ended.
     */
    readonly items?: ItemsSoFar;
    /** Only for a child with a recovery, from its second try on: the try to which these belong. */
    readonly try?: number;
    /** Questions for people in them, without callbacks. */
    readonly asked?: AskedBelow;
    /**
     * Only for a repeated step: how many rounds have succeeded, and the maximum; during an undo, which of its
     * executions is being undone. `executionIds` are all of them, including failed tries, and `ended` says
     * how the latest one ended, and how many of the other rounds succeeded.
     */
    readonly rounds?: RoundsView;
  };
  /** When its status last changed; absent if no record of the step has been stored yet. */
  readonly changedAt?: number;
  /** At most 20: the first 5 and the latest. */
  readonly attempts: readonly AttemptView[];
  /** How many attempts there were between those. */
  readonly attemptsLeftOut?: LeftOut;
  /** Fields left out because the answer would be too large: `GET /executions/{id}?step={name}` has them. */
  readonly omitted?: readonly ('failure' | 'attempts' | 'children' | 'output')[];
}

/** A pause of an execution, and its consequences. */
export interface PauseView extends Pause {
  /** When a person is asked, unless the pause has ended. */
  readonly deadlineAt: number;
  /**
   * How many attempts continue during the current pause. 0 means that all have ended; absent for up to 14 s
   * after the pause began, while none is running but one may still begin.
   */
  readonly underWay?: number;
}

/** A complete execution: its input, its steps, and all its questions. */
export interface ExecutionView extends ExecutionSummary {
  /** When it must end; pauses move this time. */
  readonly deadlineAt: number;
  /** The input of the execution. */
  readonly input: Json;
  /** The value that its workflow returned; only after a success. */
  readonly output?: Json;
  /** The latest 10; the last one is in effect while the status is `paused`. */
  readonly pauses?: readonly PauseView[];
  /** The latest 10. */
  readonly retries?: readonly Retried[];
  /** The execution that this one replaces. */
  readonly replaces?: string;
  /** While the status is `following-up`: how it ended, and when. */
  readonly end?: { readonly status: ExecutionStatus; readonly at: number };
  /**
   * Who may not give an approval that must come from another person, and why; only for the topmost execution.
   */
  readonly people?: People;
  /** Effects that are in place, or may be; absent after a success. */
  readonly standing?: Standing;
  /** Incidents, open and resolved. */
  readonly incidents: readonly IncidentView[];
  /** The steps of its plan, in their order. */
  readonly steps: readonly StepView[];
  /** Fields left out because the answer would be too large: 'input', 'output', or resolved 'incidents'. */
  readonly omitted?: readonly string[];
}

/** The answer of `why`: the explanation of an execution, and the commands that are possible now. */
export interface Reasons extends Explanation {
  /** The commands that are possible now, and for each other command why it is not. */
  readonly commands: readonly PossibleCommand[];
  /** How many of the oldest entries of the past are left out, because the answer would be too large. */
  readonly omittedPast?: number;
}

/** Fields of a question that an execution's answer leaves out: internal ones, and those it has itself. */
type Inner = 'version' | 'writeId' | 'life' | 'unannounced' | keyof QuestionSubject;

/** A question to a person about a failure or a pause: open, or how it was answered. */
export interface IncidentView extends Omit<Incident, Inner | 'quiet'> {
  /** The choices that are safe now; `needs` and `notBefore` give the conditions. */
  readonly choices?: readonly {
    readonly choice: Choice;
    readonly needs?: string;
    readonly notBefore?: number;
    /** Only for 'keep': the effects that then remain. */
    readonly leaves?: Standing;
  }[];
}

/** An open approval or callback. It is answered with its token, or with `approve` and `reject`. */
export type CallbackQuestionView = Omit<CallbackQuestion, Inner>;

/** The execution that a question belongs to. */
export interface Asked extends QuestionSubject {
  /** The execution that asks. */
  readonly executionId: string;
  /** For a workflow that a step runs: the topmost execution, which was started from outside. */
  readonly root?: NonNullable<QuestionSubject['root']> & { readonly executionId: string };
}

/** A page of questions; `kind` tells them apart. */
export interface IncidentPage {
  /** Open questions; those with the earliest default come first. */
  readonly items: readonly ((IncidentView | CallbackQuestionView) & Asked)[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

/** The state of a callback after an answer. */
export interface CallbackOutcome {
  /** The callback's status after the call. */
  readonly status: 'completed' | 'failed' | 'open';
  /** Who answered; absent if the API's authorizer does not say. */
  readonly by?: Caller;
}

/** A page of a list of executions. */
export interface ListPage {
  /** The executions of this page, in the order that `orderedBy` says. */
  readonly items: readonly ExecutionSummary[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
  /**
   * Latest first: sorted by the start; executions that ended without success by the end; with `code`, by when
   * the execution ended with it or asked. 'wakeAt': more than 10,000 are open, and the one that is due first
   * comes first.
   */
  readonly orderedBy: ListOrder;
}
