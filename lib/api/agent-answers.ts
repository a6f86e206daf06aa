/**
 * The types of the answers about agents: their queues and breakers, and those that are not deployed.
 *
 * Owns: only the types. Does not own: how the answers are made (`agents.ts`).
 */

import type { Effect } from '../core/plan/agent.ts';
import type { EndedHold, Hold } from '../core/records/hold.ts';
import type { LostAttempts } from '../core/records/receipts.ts';
import type { RateQueue } from '../core/records/slots.ts';
import type { Bugs } from '../core/values/bugs.ts';
import type { Failure } from '../core/values/failure.ts';

/** Whether an agent is called, or its calls are deferred because its service fails. */
export interface BreakerView {
  /** 'half-open': one trial at a time asks whether the service is back. 'paused': by an operator. */
  readonly status: 'closed' | 'open' | 'half-open' | 'paused';
  /** When it entered its present status. */
  readonly since?: number;
  /** When a trial is allowed; only while it is open. */
  readonly until?: number;
  /** The end of the trial in progress. */
  readonly trialUntil?: number;
  /** Who paused it, when, and why. */
  readonly pause?: Hold;
  /** The latest pause that has ended. */
  readonly lastPause?: EndedHold;
}

/** An agent after it was paused or resumed. */
export interface AgentPauseView {
  /** The name of the agent. */
  readonly agent: string;
  /** Whether it is called now. */
  readonly breaker: BreakerView;
}

/** The result of an operator's call to an agent now. */
export interface AgentTriedNow extends AgentPauseView {
  /**
   * The number of steps that were woken: while the breaker is not closed, the one that becomes the trial;
   * otherwise those that still waited for their turn.
   */
  readonly woken: number;
  /** When they begin to be sent; absent if none was woken. */
  readonly dueAt?: number;
  /** The step that is sent first. */
  readonly first?: { readonly executionId: string; readonly step: string };
  /** There may be more. */
  readonly atLeast?: true;
}

/** A deployed agent: whether its service answers, and how much work waits for it. */
export interface AgentView {
  /** The name that workflows give it. */
  readonly name: string;
  /** Whether the work may be repeated, as its author declares it. */
  readonly effect: Effect;
  /** Workflows with a step that it performs. */
  readonly workflows: readonly string[];
  /** The approximate number of messages; absent if the queue could not be read. */
  readonly queue?: { readonly waiting: number; readonly underWork: number; readonly delayed: number };
  /** Attempts that its rate delays; they are in no queue. Absent if there are none. */
  readonly rateQueue?: RateQueue;
  /** Whether it is called now. */
  readonly breaker: BreakerView;
  /** The latest failure that is evidence about the service; refusals are not. */
  readonly lastError?: Failure & { readonly at: number };
  /** Attempts that a bug in its code has ended, all within the last quarter of an hour. */
  readonly bugs?: Bugs;
  /**
   * Attempts of the last minutes whose processes died or went silent, counted when supervisors ended their
   * leases.
   */
  readonly lost?: LostAttempts;
}

/** An agent that is not deployed although open executions need it, or may need it. */
export interface MissingAgent {
  /** The name that plans give it. */
  readonly name: string;
  /** The approximate number of executions that wait for it, as supervisors found them in the last minutes. */
  readonly waiting: number;
  /** Since when supervisors have found such executions without a break; absent if none waits. */
  readonly since?: number;
  /** How many open executions name the agent in a plan that was read. Some of them may no longer need it. */
  readonly planned: number;
}

/** The agents of a deployment. */
export interface Agents {
  /** Deployed agents, by name. */
  readonly items: readonly AgentView[];
  /** Agents that open executions need and that are not deployed. */
  readonly missing: readonly MissingAgent[];
  /** How many open executions had their plans read: those due soonest. */
  readonly examined: number;
  /** How far the clock that all instants come from is ahead of its machine's, if that was set back. */
  readonly clockAheadMs?: number;
  /** Present if `needed` was requested. */
  readonly needed?: NeededAgents;
}

/** The agents in the plans of open executions. Some executions may no longer need theirs. */
export interface NeededAgents {
  /** By name, with the number of open executions that have it in their plan. */
  readonly agents: readonly { readonly name: string; readonly executions: number }[];
  /** The lanes in which they wait or have a place; absent if there are none. */
  readonly lanes?: readonly LaneInUse[];
  /** How many open executions were counted. */
  readonly examined: number;
  /** Present if there are more than were counted, or a plan could not be read. */
  readonly atLeast?: true;
}

/** A lane that open executions of a workflow are in. */
export interface LaneInUse {
  readonly workflow: string;
  readonly lane: string;
  readonly executions: number;
}
