/**
 * The events that `decide` answers, each with its data from outside the state.
 *
 * Owns: their shapes. Does not own: the answers (`decide.ts` names the file for each).
 *
 * S14 the time, random numbers and ids come with the event.
 */

import type { Away } from '../values/away.ts';
import type { Caller } from '../values/caller.ts';
import type { DecisionInputs } from './change.ts';
import type { ChildEnd, Children, Planned, StopGoal } from '../records/children.ts';
import type { LaneDone } from '../records/lane.ts';
import type { AffectedSteps } from './decision.ts';
import type { Failure } from '../values/failure.ts';
import type { Choice } from '../records/question.ts';
import type { Json } from '../values/json.ts';
import type { Message } from './message.ts';
import type { NotBefore } from '../records/state.ts';
import type { Acted } from '../records/people.ts';

export type Event = DecisionInputs &
  (
    | {
        readonly type: 'deliver';
        readonly message: Message;
        /** The agent whose queue it came from. */
        readonly agent: string;
        readonly token: string;
        readonly processDeadlineAt: number;
        readonly readAt: number;
        /**
         * Set if no queue delivered the message: the process that decided on it keeps it and performs the
         * step itself.
         */
        readonly isKept?: true;
        /** The time until which the agent's service is not called. */
        readonly notBefore?: NotBefore;
      }
    | {
        readonly type: 'heartbeat';
        readonly step: string;
        readonly token: string;
        readonly progress?: Progress;
        readonly away?: readonly Away[];
      }
    | {
        readonly type: 'report';
        readonly step: string;
        readonly token: string;
        readonly report: Report;
        /** True if the state is the claim's snapshot, not a fresh read. */
        readonly onTime: boolean;
        /** Set if this attempt, too, found that the agent's service is dead: the attempt is not charged. */
        readonly notBefore?: NotBefore;
        readonly away?: readonly Away[];
      }
    /** The process of an attempt is dead, with everything that it started: the attempt is over. */
    | {
        readonly type: 'process-died';
        readonly step: string;
        readonly token: string;
        /** How it ended: 'exit code 3', 'signal SIGKILL'. */
        readonly exit?: string;
        /**
         * Set if only the attempt's function has returned. Its process lives, but begins nothing more for it.
         */
        readonly returned?: true;
        /** Set if the process ended for a reason outside the attempt: no try is used up. */
        readonly interrupted?: true;
      }
    | EvaluateEvent
    | Command
    | {
        readonly type: 'resolve';
        readonly incident: number;
        readonly answer: Resolution;
        readonly acted?: Acted;
      }
    | {
        readonly type: 'callback';
        readonly step: string;
        readonly answer: CallbackAnswer;
        readonly by?: Caller;
        readonly acted?: Acted;
      }
    /** A person is about to act in an execution below this one. */
    | { readonly type: 'enter'; readonly acted: Acted }
    | ChildEvent
    | LaneDone
  );

/** One attempt, as its claim identifies it. */
export interface ClaimedAttempt {
  readonly executionId: string;
  readonly step: string;
  readonly token: string;
}

/** An attempt that is over. */
export interface DeadAttempt extends ClaimedAttempt {
  /** How its process ended: 'exit code 3', 'signal SIGKILL'. */
  readonly exit?: string;
  readonly returned?: true;
  readonly interrupted?: true;
}

/** The effects on a step's child executions. */
export type ChildrenDone =
  | {
      readonly type: 'started';
      readonly step: string;
      readonly planned: Planned;
      /** All executions below this index were started. */
      readonly started: number;
      readonly ended: Children['ended'];
      /** Why the execution does not exist: its place was taken, so that it never starts. */
      readonly failure?: Failure;
    }
  | {
      readonly type: 'stopped';
      readonly step: string;
      readonly planned: Planned;
      readonly goal: StopGoal;
      /** All executions below this index were stopped. */
      readonly below: number;
      readonly ended: Children['ended'];
    }
  | {
      readonly type: 'gathered';
      readonly step: string;
      /** Undefined for an output that was too large to be kept. */
      readonly outputs: readonly (Json | undefined)[];
      /** The size of all outputs together, kept or not. */
      readonly bytes?: number;
      /** The size of an output that was stored outside the table and can no longer be read. */
      readonly lostBytes?: number;
    };

export type ChildEvent =
  | ChildrenDone
  /** An execution that belongs to the step has ended. */
  | {
      readonly type: 'child-ended';
      readonly step: string;
      readonly index: number;
      readonly epoch?: number;
      readonly try?: number;
      readonly end: ChildEnd;
    }
  /** The child must stop, because its parent is being undone (`undo`) or ends without an undo. */
  | { readonly type: 'stop'; readonly undo: boolean; readonly endVersion?: number }
  /**
   * The parent of a failed execution was retried, so this execution goes on. `endVersion`: its version at its
   * end.
   */
  | { readonly type: 'restart'; readonly endVersion: number };

export interface EvaluateEvent {
  readonly type: 'evaluate';
  /**
   * Only a supervisor ends leases, repeats dispatches and sets the next wake time; the
   * scheduler evaluates as an agent does.
   */
  readonly by: 'agent' | 'supervisor';
  readonly affected: AffectedSteps;
  /** True if the state was just read; false if it is the caller's write on top of an older read. */
  readonly fresh: boolean;
  /** Set if a write of this process was a conflict: another process evaluates the execution, too. */
  readonly lostRace?: true;
  /**
   * Steps to leave out, so that they delay no other: their child executions could not be started, stopped or
   * read just now, or their questions not announced.
   */
  readonly failing?: readonly string[];
  /** Set once this process has left the execution's lane. */
  readonly laneLeft?: true;
  readonly tryNow?: TryNow;
  /** The clock before the state was read. */
  readonly readAt: number;
  /** Only for a supervisor: by agent, what may be sent now. A decision asks for missing agents. */
  readonly admissions?: Admissions;
  /** Since when the store answers again: an attempt with an older lease gets time to renew it. */
  readonly graceFrom?: number;
  /** Periods for which no attempt is charged. */
  readonly away?: readonly Away[];
}

/** An operator's order to call an agent now. */
export interface TryNow {
  readonly agent: string;
  /** The time from which no process uses an older read of the breaker. */
  readonly at: number;
}

export type EventOf<Type extends Event['type']> = Event & { readonly type: Type };

export type Evaluation = EvaluateEvent & DecisionInputs;

/** The answer to a callback or an approval, from the bearer of its token. */
export type CallbackAnswer =
  | { readonly kind: 'complete'; readonly output: Json }
  | { readonly kind: 'fail'; readonly failure: Failure }
  | { readonly kind: 'heartbeat' };

/** The service has accepted the work and will do it, within `withinMs` as its agent declares. */
export interface AcceptedAnswer {
  readonly kind: 'accepted';
  readonly token?: string;
  readonly withinMs: number;
  /** When the service wants to be probed, in ms from now. */
  readonly askAfterMs?: number;
}

/** A probe has found the work under way. */
export interface FoundRunning {
  readonly kind: 'found';
  readonly verdict: 'running';
  readonly progress?: string | number;
  readonly askAfterMs?: number;
}

/**
 * The report of an attempt at its end. `codeReturned`: the author's function has returned, so the attempt is
 * over.
 */
export type Report = {
  readonly codeReturned: boolean;
  /** Set if its process ended through no fault of its own: it begins again at once, and no try is used up. */
  readonly interrupted?: true;
} & (
  | AcceptedAnswer
  | FoundRunning
  | { readonly kind: 'done'; readonly output: Json }
  | {
      readonly kind: 'failed';
      readonly permanent: boolean;
      readonly failure: Failure;
      readonly retryAfterMs?: number;
      /**
       * Set if the step's input was not accepted: at the end of the recovery a person is asked, even if the
       * recovery has no such stage.
       */
      readonly inputRefused?: boolean;
    }
  | {
      readonly kind: 'unknown';
      readonly failure: Failure;
      /** The pause that the service asks for before the next try or probe. */
      readonly retryAfterMs?: number;
    }
  /**
   * An `execute` that returned, or a probe that found the work done, without a valid output. `failure` says
   * why; `answer` is what it answered, for a person to read.
   */
  | { readonly kind: 'wrong-answer'; readonly failure: Failure; readonly answer: string }
  | { readonly kind: 'found'; readonly verdict: 'done'; readonly output: Json }
  | {
      readonly kind: 'found';
      readonly verdict: 'not-done' | 'cannot-tell';
      readonly failure?: Failure;
      /** Only if it cannot tell: when the service wants to be probed, in ms from now. */
      readonly askAfterMs?: number;
    }
  | { readonly kind: 'compensated' }
);

export type Command = {
  /** Identifies a repeated command; absent if it is never repeated. */
  readonly commandId?: string;
  readonly reason: string;
  readonly by?: Caller;
  readonly acted?: Acted;
} & (
  | { readonly type: 'cancel'; readonly undo?: false }
  | {
      readonly type: 'pause';
      /** How long it may last before a person is asked. */
      readonly withinMs?: number;
    }
  | { readonly type: 'resume' }
  | {
      readonly type: 'retry';
      /** Failures and questions after that time are ignored. @default now */
      readonly asOf?: number;
      /** Questions with a higher number are ignored: they came after the retry began. */
      readonly upTo?: number;
      /** Only for a failed execution: the input of its failed step, instead of the plan's. */
      readonly input?: Json;
      /** The step that gets the input; if absent, exactly one step must have failed. */
      readonly step?: string;
    }
);

export interface Resolution {
  readonly choice: Choice;
  readonly closedBy: 'answer' | 'deadline';
  readonly caller?: Caller;
  readonly reason?: string;
  /** For 'retry-with-input'. */
  readonly input?: Json;
  /** For 'give-output'. */
  readonly output?: Json;
  /** The person asserts that no attempt had an effect. */
  readonly nothingHappened?: boolean;
  /** Only as part of a command to many executions. */
  readonly commandId?: string;
}

/** The latest `ctx.progress` of an attempt, and when it was called. */
export interface Progress {
  readonly token: string | number;
  readonly at: number;
}

/** The messages that a supervisor may send to an agent now. */
export interface Admission {
  /** How many messages may be sent in this sweep. */
  readonly sends: number;
  /**
   * Why and until when further messages are not sent. `unclaimed`: other work has its turn first. Any other
   * reason defers the work.
   */
  readonly notBefore: NotBefore;
  /** The time until which its queue has enough work, at a supervisor's sending pace. */
  readonly busyUntil?: number;
}
export type Admissions = Readonly<Record<string, Admission>>;
