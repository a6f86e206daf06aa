/**
 * decide(plan, state, event) → decision. The one function that all roles call; read it after `transitions.ts`.
 *
 * Owns: the events, the decisions, and which rule answers which event. Does not own: effects (`roles/commit.ts`), the
 * clock and the dice (both come with the event).
 *
 * S14 pure, total, deterministic, bounded. S15 a decision that was applied is refused by its version the second time.
 * A decision holds at most one write (a step and its execution in one transaction count as one); sends come after it.
 */

import type { Progress } from './attempts.ts';
import { resolve } from './answers.ts';
import type { Hold } from './breaker.ts';
import type { Family } from './children.ts';
import { type Command, obey } from './commands.ts';
import { asCounted } from './counted.ts';
import { decideChildren } from './decide-children.ts';
import { deliver } from './decide-deliver.ts';
import { beat, report } from './decide-report.ts';
import { type Concern, type Decision, nothing } from './decision.ts';
import type { Gates } from './dispatch.ts';
import { type Answer, answerProblem } from './incidents.ts';
import type { Json } from './json.ts';
import { look } from './look.ts';
import { answerCallback, type CallbackAnswer, callbackProblem } from './outside.ts';
import type { Plan } from './plan.ts';
import type { Report } from './reports.ts';
import {
  type ChildEnd,
  type Children,
  type Failure,
  isTerminal,
  type Message,
  type Snapshot,
} from './state.ts';
import { horizonMs } from './watch.ts';
import type { Stamp } from './write.ts';

export type Event = Stamp &
  (
    | {
        readonly type: 'deliver';
        readonly message: Message;
        /** Whose queue it came from. */
        readonly agent: string;
        readonly token: string;
        readonly hardEndAt: number;
        readonly readAt: number;
        /** The agent's service is dead: it is not called. */
        readonly hold?: Hold;
      }
    | { readonly type: 'beat'; readonly step: string; readonly token: string; readonly progress?: Progress }
    | {
        readonly type: 'report';
        readonly step: string;
        readonly token: string;
        readonly report: Report;
        readonly priorHardEndAt: number;
        /** The state is the claim's snapshot, not a fresh read. */
        readonly onTime: boolean;
        /** The agent's service is dead, as this attempt has just found, too: the attempt is not charged for it. */
        readonly hold?: Hold;
      }
    | LookEvent
    | Command
    | { readonly type: 'answer'; readonly incident: number; readonly answer: Answer }
    | { readonly type: 'callback'; readonly step: string; readonly answer: CallbackAnswer }
    | ChildEvent
  );

/** What was done to executions that belong to a step. */
export type ChildrenDone =
  | {
      readonly type: 'started' | 'stopped';
      readonly step: string;
      readonly family: Family;
      /** Those below are started, or stopped. */
      readonly started: number;
      readonly ended: Children['ended'];
      /** Why there is none: its place is taken, so that nobody starts it. */
      readonly failure?: Failure;
    }
  | {
      readonly type: 'gathered';
      readonly step: string;
      /** Nothing where an output was too large to be kept. */
      readonly outputs: readonly (Json | undefined)[];
    };

export type ChildEvent =
  | ChildrenDone
  /** An execution that belongs to the step has ended. */
  | {
      readonly type: 'told';
      readonly step: string;
      readonly index: number;
      readonly epoch?: number;
      readonly end: ChildEnd;
    }
  /** The parent is being undone, or ends as it is. */
  | { readonly type: 'stop'; readonly undo: boolean; readonly heard?: number }
  /** It has failed, and its parent was tried again. `heard`: of that end; also where it is stopped instead. @see isToGoOn */
  | { readonly type: 'again'; readonly heard: number };

export interface LookEvent {
  readonly type: 'look';
  /** Only a supervisor ends leases, repeats dispatches and sets the next watch. */
  readonly by: 'worker' | 'supervisor';
  readonly concern: Concern;
  /** Whether the state was just read, or is what the caller wrote on top of an older read. */
  readonly fresh: boolean;
  /** Another process's write came first meanwhile. */
  readonly outrun?: true;
  /** Steps whose executions could not be started, stopped or read just now: they hold no other step up. */
  readonly passOver?: readonly string[];
  /** The clock before the state was read. */
  readonly readAt: number;
  /** A supervisor's: by agent, what may be sent to it now; an agent that is missing is asked for. */
  readonly gates?: Gates;
  /** Since then the store answers again: whoever held a lease before gets the time to renew it. */
  readonly graceFrom?: number;
}

/** @param stored what was read of the execution. @returns what to write, then send, then do */
export function decide(plan: Plan, stored: Snapshot, event: Event): Decision {
  const state = asCounted(plan, stored);
  switch (event.type) {
    case 'deliver':
      return deliver(plan, state, event);
    case 'beat':
      return beat(plan, state, event);
    case 'report':
      return report(plan, state, event);
    case 'look':
      return look(plan, state, event);
    case 'cancel':
    case 'pause':
    case 'resume':
    case 'retry':
      return obey(plan, state, event) ?? nothing();
    case 'answer':
      return answer(plan, state, event);
    case 'callback':
      return callback(plan, state, event);
    default:
      return decideChildren(plan, state, event);
  }
}

export type EventOf<Type extends Event['type']> = Event & { readonly type: Type };

/** As with a person's answer: the caller asks `callbackProblem` for the reason. */
function callback(plan: Plan, state: Snapshot, event: EventOf<'callback'>): Decision {
  if (callbackProblem(plan, state, event.step) !== undefined) return nothing();
  const stamp = { ...event, horizonMs: horizonMs(plan, state) };
  return answerCallback(plan, state, event.step, event.answer, stamp);
}

/** An answer that is not possible now changes nothing; the caller asks `answerProblem` for the reason. */
function answer(plan: Plan, state: Snapshot, event: EventOf<'answer'>): Decision {
  const incident = state.incidents?.[event.incident];
  if (incident === undefined || isTerminal(state.execution.status)) return nothing();
  if (answerProblem(plan, state, incident, event.answer, event.now) !== undefined) return nothing();
  return resolve(plan, state, incident, event.answer, event);
}
