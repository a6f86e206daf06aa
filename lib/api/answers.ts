/**
 * The shapes of what a client sends, and of what it gets of executions.
 *
 * Owns: the types alone. Does not own: those of what it gets of the deployment (`deployment-answers.ts`), the
 * checks (`requests.ts`), or how the answers are made (`views.ts`).
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
  type AskedOf,
  type CallbackQuestion,
  type Choice,
  CHOICES,
  type Incident,
} from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';
import type { Deferred, RiskReason } from '../core/records/state.ts';
import type { People } from '../core/records/people.ts';
import { countText, durationText, printable, printableLines, timeText } from '../core/values/text.ts';
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

/** The answer to a start: the execution, also if an earlier start of the same key made it. */
export interface Started {
  readonly executionId: string;
  readonly status: ExecutionStatus;
}

/** What became of an execution that is to be erased. */
export interface Erased {
  readonly executionId: string;
  /** `erasing`: there is more of it than one call removes. */
  readonly status: 'erased' | 'erasing';
}

/** How an execution goes on after it was stopped or one of its incidents was resolved. */
export interface Stopped extends Started {
  /** False: nothing is undone, what has acted stays. */
  readonly undo?: false;
  /** Effects that are in place now; absent after a success. */
  readonly standing?: Standing;
}

/** An execution as lists have it: how it stands, without its input, output and steps. */
export interface ExecutionSummary extends Started {
  /** The name of its workflow. */
  readonly workflow: string;
  /** Content hash of the plan that it started with and keeps. */
  readonly plan: string;
  /** Epoch ms, as all times. */
  readonly startedAt: number;
  /** When it is evaluated again at the latest; absent once its end was announced. */
  readonly wakeAt?: number;
  /**
   * Since when it is at risk: overdue by a minute, past three quarters of its time, or as far as it was
   * noticed, deferred, on its last stage or without its agent.
   */
  readonly riskSince?: number;
  /** What puts it at risk. */
  readonly risk?: RiskReason;
  /**
   * The step at which it stands, as its own record says: that is at risk, is asked about, or has
   * failed. Absent while it simply runs.
   */
  readonly step?: string;
  /** What waits for people in executions that its steps run, while it is itself under way. */
  readonly asked?: AskedBelow;
  /** Absent for a child, and where the API's authorizer does not say who calls. */
  readonly startedBy?: Caller;
  /** When it ended; absent while it is under way. */
  readonly endedAt?: number;
  /** The code of the failure that caused it. */
  readonly code?: string;
  /** Why it left the straight path. */
  readonly cause?: Cause;
  /** What it is found by beside its id: from its input, and given at its start. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The step that runs it as one of its own. */
  readonly parent?: Parent;
}

/** One try of a step: by which agent, with what input, when, and how it ended. */
export interface AttemptView extends Omit<Attempt, 'key' | 'variant' | 'given' | 'epoch'> {
  /** The stage of the step's recovery, from 1. Only the kind 'agent' has it and the fields that follow. */
  readonly variant?: number;
  readonly agent?: string;
  /** What the external service was given as idempotency key. */
  readonly idempotencyKey?: string;
  /** If its JSON text has up to 512 bytes. */
  readonly input?: Json;
  /** Bytes of an input that is too large to be shown. */
  readonly inputBytes?: number;
  /** By a person, instead of the plan's; of these only the latest is kept. */
  readonly inputGiven?: true;
}

/** Work that a service has accepted. */
export interface AcceptedView {
  /** What the service calls it. */
  readonly token?: string;
  readonly at: number;
  readonly untilAt: number;
  /** How often it was asked for. */
  readonly asked: number;
  readonly progress?: string | number;
}

/** How far a repeated step is. */
export interface RoundsView {
  readonly done: number;
  readonly atMost: number;
  readonly compensating?: number;
}

/** The lane that an execution waits in. */
export interface LaneView {
  readonly name: string;
  /** How many executions have a place at the same time. */
  readonly atMost: number;
  /** Its place in the queue, from 1; absent beyond 100. */
  readonly place?: number;
  /** Executions that have a place. */
  readonly holders: readonly string[];
}

/** A step of an execution: how it stands, what was tried, what came of it. */
export interface StepView {
  /** Its name in the workflow. */
  readonly name: string;
  /** What the step is: work of an agent, a wait, a callback, an approval, a child, a list, a lane. */
  readonly kind: PlanStep['kind'];
  /** The agent that performs it; only the kind 'agent' has one. */
  readonly agent?: string;
  /** The steps that must be done before it begins. */
  readonly after: readonly string[];
  /** It follows an end without success. Shown once there is such an end. */
  readonly onFailure?: true;
  /** Once it is done nothing is undone any more. */
  readonly pointOfNoReturn?: boolean;
  /**
   * `pending`: a predecessor is not done yet. `ready`: waits for an agent. Both
   * are derived; no record exists.
   */
  readonly status: StepStatus | 'pending';
  /** The number of the latest attempt, from 1. */
  readonly attempt?: number;
  /** When a process took the latest attempt. */
  readonly claimedAt?: number;
  /** Until when the attempt counts as alive without another heartbeat. */
  readonly leaseUntil?: number;
  /** Absent while the execution is paused, for nothing is tried then. */
  readonly retryAt?: number;
  /** It is deferred until `retryAt`, when a supervisor sends it. */
  readonly deferred?: Deferred;
  /** What the step answered; absent until it is done, and where it was left out of the answer. */
  readonly output?: Json;
  /** Why the latest attempt, or the step, failed. */
  readonly failure?: Failure;
  /** Its work is done, and its agent answered this, which is no output; text, cut at 4 KB. */
  readonly wrongAnswer?: string;
  /** The service has taken the work and does it; until `untilAt` it is asked how far it is. */
  readonly accepted?: AcceptedView;
  /** What the latest heartbeat said of how far it is. */
  readonly progress?: string | number;
  /** Who answered it; of a callback or an approval. */
  readonly by?: Caller;
  /** An attempt of it may have had an effect, as far as is known. */
  readonly mayHaveActed?: boolean;
  /** When a wait, a callback or an approval is over. */
  readonly waitsUntil?: number;
  /** Only for a lane, while it waits for a place. */
  readonly lane?: LaneView;
  /** Only for an open callback or approval: `POST /callbacks/{token}/complete`. */
  readonly token?: string;
  /** The question of an open approval or callback, as in the inbox. */
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
    /** Only for a child with a recovery, from its second try on: which try these are about. */
    readonly try?: number;
    /** What waits for people in them, callbacks not counted. */
    readonly asked?: AskedBelow;
    /**
     * Only for a step that is repeated: how many rounds have succeeded, of at most how many; while they are
     * undone, which of its executions is. `executionIds` are all of them, tries that failed included, and
     * `ended` says how the latest ended, and of the others how many rounds succeeded.
     */
    readonly rounds?: RoundsView;
  };
  /** When its status changed last; absent where nothing of it was stored yet. */
  readonly changedAt?: number;
  /** 20 at most: the first 5 and the latest. */
  readonly attempts: readonly AttemptView[];
  /** How many there were between those. */
  readonly attemptsLeftOut?: LeftOut;
  /** Left out, for the answer would be too large: `GET /executions/{id}?step={name}` has it. */
  readonly omitted?: readonly ('failure' | 'attempts' | 'children' | 'output')[];
}

/** A pause of an execution, and what follows from it. */
export interface PauseView extends Pause {
  /** A person is asked then, unless it is over. */
  readonly deadlineAt: number;
  /**
   * How many attempts go on in the pause under way. 0 says that nothing is under way any more; absent for up
   * to 14 s after its beginning, while none is and one may still begin.
   */
  readonly underWay?: number;
}

/** One execution, whole: its input, its steps, and every question of it. */
export interface ExecutionView extends ExecutionSummary {
  /** By when it must end; pauses move it. */
  readonly deadlineAt: number;
  /** The input of the execution. */
  readonly input: Json;
  /** What its workflow returned; only of a success. */
  readonly output?: Json;
  /** The latest 10; the last one is under way while the status is `paused`. */
  readonly pauses?: readonly PauseView[];
  /** The latest 10. */
  readonly retries?: readonly Retried[];
  /** The execution that this one replaces. */
  readonly replaces?: string;
  /** While the status is `following-up`: how it ended, and when. */
  readonly end?: { readonly status: ExecutionStatus; readonly at: number };
  /**
   * Who may not give an approval that must be another person's, and why; of the
   * execution above all others alone.
   */
  readonly people?: People;
  /** Effects that are in place, or may be; absent after a success. */
  readonly standing?: Standing;
  /** Incidents, open and resolved. */
  readonly incidents: readonly IncidentView[];
  /** The steps of its plan, in their order. */
  readonly steps: readonly StepView[];
  /** Left out, for the answer would be too large: 'input', 'output', or 'incidents' that are over. */
  readonly omitted?: readonly string[];
}

/** @see Explanation */
export interface Reasons extends Explanation {
  /** The commands that are possible now, and the reason why each other one is not. */
  readonly commands: readonly PossibleCommand[];
  /** How many entries of the past, the oldest, are left out, for the answer would be too large. */
  readonly omittedPast?: number;
}

/** For every question, what its answer in the inbox says and that of its execution need not repeat. */
type Inner = 'version' | 'writeId' | 'life' | 'unannounced' | keyof AskedOf;

/** A question to a person about what failed or is paused: open, or how it was answered. */
export interface IncidentView extends Omit<Incident, Inner | 'quiet'> {
  /** The choices that are safe now; `needs` and `notBefore` say under which condition. */
  readonly choices?: readonly {
    readonly choice: Choice;
    readonly needs?: string;
    readonly notBefore?: number;
    /** Only for 'keep': what stays in effect then. */
    readonly leaves?: Standing;
  }[];
}

/** An open approval or callback. It is answered by its token, or with `approve` and `reject`. */
export type CallbackQuestionView = Omit<CallbackQuestion, Inner>;

/** The execution that a question belongs to. */
export interface Asked extends AskedOf {
  /** The execution that asks. */
  readonly executionId: string;
  /** For a workflow that a step runs: the execution above all others, which was started from outside. */
  readonly root?: NonNullable<AskedOf['root']> & { readonly executionId: string };
}

/** `kind` tells what is what. */
export interface IncidentPage {
  /** Open questions, those first that are decided soonest without an answer. */
  readonly items: readonly ((IncidentView | CallbackQuestionView) & Asked)[];
  /** For the next page; absent on the last one. */
  readonly cursor?: string;
}

/** A person's answer to an incident. */
export interface ResolveOptions {
  /** One of those that the incident offers. */
  readonly choice: Choice;
  /** Why, for whoever reads it later. */
  readonly reason?: string;
  /** Only for 'retry-with-input': the input in place of the step's own. */
  readonly input?: Json;
  /** Only for 'give-output': the step's output, as a person knows it. */
  readonly output?: Json;
  /** "I have checked: no attempt had an effect." */
  readonly nothingHappened?: boolean;
}

/** What became of a callback with an answer. */
export interface CallbackOutcome {
  /** How the callback stands after the call. */
  readonly status: 'completed' | 'failed' | 'open';
  /** Who has answered; absent if the API's authorizer does not say. */
  readonly by?: Caller;
}

/** Why an external party could not do what a callback waited for. */
export interface FailOptions {
  /** For programs. */
  readonly code?: string;
  /** For people. */
  readonly message?: string;
}

/** A page of a list of executions. */
export interface ListPage {
  /** The executions of this page, in the order that `orderedBy` says. */
  readonly items: readonly ExecutionSummary[];
  /** For the next page; absent on the last one. */
  readonly cursor?: string;
  /**
   * Latest first: by the start, of those that ended without success by the end, of a code by when it ended
   * with it or asked. 'wakeAt': more than 10,000 are open, and the one comes first that is due first.
   */
  readonly orderedBy: ListOrder;
}
