/**
 * The shapes of what a client sends and gets.
 *
 * Owns: the types alone. Does not own: the checks (`requests.ts`), or how the answers are made (`views.ts`).
 */

import type { Explanation } from '../core/explain/why.ts';
import type { PossibleCommand } from '../core/operators/commands.ts';
import type { ListOrder } from '../core/operators/lists.ts';
import type { Effect } from '../core/plan/agent.ts';
import type { EndedPause, PausedStarts } from '../core/operators/workflow-pause.ts';
import type { PlanStep } from '../core/plan/plan.ts';
import type { Parent } from '../core/records/children.ts';
import type { Standing } from '../core/records/ended.ts';
import { type Caller, callerText } from '../core/records/caller.ts';
import type { Entry } from '../core/records/entry.ts';
import type { Failure } from '../core/records/failure.ts';
import { type Choice, CHOICES, type Incident } from '../core/records/incident.ts';
import type { Json } from '../core/records/json.ts';
import type { EndedOperatorPause, OperatorPause } from '../core/records/operator-pause.ts';
import type { People } from '../core/records/people.ts';
import type { ShownOutage } from '../scheduler/outages.ts';
import type { AuditReceipt, ShardReceipt } from '../core/records/receipts.ts';
import type { Attempt, Cause, Deferred, Pause, Retried } from '../core/records/state.ts';
import { EXECUTION_STATUSES, type ExecutionStatus, type StepStatus } from '../core/transitions.ts';

export { callerText };
export type { Attempt, Caller, Standing, Choice, ExecutionStatus, Explanation, Json, ListOrder };
export const STATUSES: readonly ExecutionStatus[] = EXECUTION_STATUSES;
export const ANSWERS: readonly Choice[] = CHOICES;

export interface Started {
  readonly executionId: string;
  readonly status: ExecutionStatus;
}

/** How an execution goes on after it was stopped or one of its incidents was resolved. */
export interface Stopped extends Started {
  /** False: nothing is undone, what has acted stays. */
  readonly undo?: false;
  /** What is in effect now; of no success. */
  readonly standing?: Standing;
}

export interface ExecutionSummary extends Started {
  readonly workflow: string;
  /** Content hash of the plan that it started with and keeps. */
  readonly plan: string;
  /** Epoch ms, as all times. */
  readonly startedAt: number;
  /** When it is evaluated again at the latest; absent once its end was announced. */
  readonly wakeAt?: number;
  /**
   * Since when it is at risk: overdue by a minute, past three quarters of its time, or as far as it was noticed, deferred, on its last
   * stage or without its agent.
   */
  readonly riskSince?: number;
  /** Absent of a child, and where the API's authorizer vouches for nobody. */
  readonly startedBy?: Caller;
  readonly endedAt?: number;
  /** Of the failure that is its cause. */
  readonly code?: string;
  /** Why it left the straight path. */
  readonly cause?: Cause;
  readonly tags?: Readonly<Record<string, string>>;
  /** The step that runs it as one of its own. */
  readonly parent?: Parent;
}

export interface AttemptView extends Omit<Attempt, 'key' | 'variant' | 'given' | 'epoch'> {
  /** The stage of the step's recovery, from 1. Only the kind 'agent' has it and the fields that follow. */
  readonly variant?: number;
  readonly agent?: string;
  /** What the external service was given as idempotency key. */
  readonly effectKey?: string;
  /** If its JSON text has up to 512 bytes. */
  readonly input?: Json;
  /** Bytes of an input that is too large to be shown. */
  readonly inputBytes?: number;
  /** By a person, instead of the plan's; of these only the latest is kept. */
  readonly inputGiven?: true;
}

export interface StepView {
  readonly name: string;
  readonly kind: PlanStep['kind'];
  /** The agent that performs it; only the kind 'agent' has one. */
  readonly agent?: string;
  readonly after: readonly string[];
  /** It follows an end without success. Shown once there is such an end. */
  readonly onFailure?: true;
  /** Once it is done nothing is undone any more. */
  readonly pointOfNoReturn?: boolean;
  /** `pending`: a predecessor is not done yet. `ready`: waits for an agent. Both are derived; no record exists. */
  readonly status: StepStatus | 'pending';
  readonly attempt?: number;
  readonly claimedAt?: number;
  readonly leaseUntil?: number;
  readonly retryAt?: number;
  /** It is deferred until `retryAt`, when a supervisor sends it. */
  readonly deferred?: Deferred;
  readonly output?: Json;
  readonly failure?: Failure;
  readonly progress?: string | number;
  /** Who answered it; of a callback or an approval. */
  readonly by?: Caller;
  readonly mayHaveActed?: boolean;
  /** When a wait, a callback or an approval is over. */
  readonly waitsUntil?: number;
  /** Of an open callback or approval: `POST /callbacks/{token}/complete`. */
  readonly token?: string;
  /** Of an open approval or callback: what it has in the inbox. */
  readonly entry?: EntryView;
  /** Of a child or map step; the ids of up to 100 of its executions. */
  readonly children?: {
    readonly executionIds: readonly string[];
    readonly count: number;
    readonly started: number;
    readonly ended: Readonly<Partial<Record<ExecutionStatus, number>>>;
    /** Of a child with a recovery, from its second try on: which one these are about. */
    readonly try?: number;
  };
  readonly changedAt?: number;
  /** The latest 20. */
  readonly attempts: readonly AttemptView[];
  /** Left out, for the answer would be too large: `GET /executions/{id}?step={name}` has it. */
  readonly omitted?: readonly ('failure' | 'attempts' | 'children' | 'output')[];
}

export interface ExecutionView extends ExecutionSummary {
  readonly deadlineAt: number;
  readonly input: Json;
  readonly output?: Json;
  /** The latest 10; the last one is under way while the status is `pausing` or `paused`. */
  readonly pauses?: readonly Pause[];
  /** The latest 10. */
  readonly retries?: readonly Retried[];
  readonly redriveOf?: string;
  /** While the status is `following-up`: how it ended, and when. */
  readonly end?: { readonly status: ExecutionStatus; readonly at: number };
  /** Who may not give an approval that must be another person's, and why; of the execution above all others alone. */
  readonly people?: People;
  /** What is in effect, or may be; of no success. */
  readonly standing?: Standing;
  /** Incidents, open and resolved. */
  readonly incidents: readonly IncidentView[];
  readonly steps: readonly StepView[];
  /** Left out, for the answer would be too large: 'input', 'output', or 'incidents' that are over. */
  readonly omitted?: readonly string[];
}

/** @see Explanation */
export interface Reasons extends Explanation {
  /** What an operator can have done now, and of the rest why not. */
  readonly commands: readonly PossibleCommand[];
  /** How many entries of the past, the oldest, are left out, for the answer would be too large. */
  readonly omittedPast?: number;
}

export interface IncidentView extends Omit<Incident, 'version' | 'writeId' | 'life'> {
  /** Those that are safe now; `needs` and `notBefore` say under which condition. */
  readonly choices?: readonly {
    readonly choice: Choice;
    readonly needs?: string;
    readonly notBefore?: number;
    /** Of 'fail': what stays in effect then. */
    readonly leaves?: Standing;
  }[];
}

/** An open approval or callback in the inbox. It is no incident: it is answered by its token, or with `approve` and `reject`. */
export type EntryView = Omit<Entry, 'version' | 'writeId' | 'life' | 'unannounced'>;

/** `kind` tells what is what. */
export interface IncidentPage {
  readonly items: readonly ((IncidentView | EntryView) & { readonly executionId: string })[];
  readonly cursor?: string;
}

export interface ResolveOptions {
  readonly choice: Choice;
  readonly reason?: string;
  readonly input?: Json;
  readonly output?: Json;
  /** "I have checked: no attempt had an effect." */
  readonly nothingHappened?: boolean;
}

export interface WorkflowView extends WorkflowPauseView {
  readonly plan: string;
  readonly withinMs: number;
  /** Tags by which its executions are found; absent where there are none. */
  readonly search?: readonly string[];
  readonly steps: readonly WorkflowStepView[];
}

/** A workflow, and whether its executions are born paused. */
export interface WorkflowPauseView {
  readonly workflow: string;
  /** Absent while it is not paused. */
  readonly pause?: PausedStarts;
  /** The latest that is over. */
  readonly lastPause?: EndedPause;
}

export interface WorkflowStepView {
  readonly name: string;
  readonly kind: PlanStep['kind'];
  readonly after: readonly string[];
  /** It follows an end without success. */
  readonly onFailure?: true;
  /** Once it is done nothing is undone any more. */
  readonly pointOfNoReturn?: true;
  /** The agent of a step of kind 'agent', or of a map's items. */
  readonly agent?: string;
  readonly effect?: Effect;
  /** Also of kind 'child'. */
  readonly undo?: 'none' | 'required';
  /** Of a wait: one of both. */
  readonly forMs?: number;
  /** As the plan has it: a time, or where it is read from. */
  readonly until?: Json;
  readonly withinMs?: number;
  /** Of a callback or an approval. */
  readonly heartbeatMs?: number;
  /** Of an approval that must be another person's. */
  readonly by?: 'another';
  /** Of an approval that does not fail without an answer. */
  readonly otherwise?: 'approve' | 'reject';
  readonly remindMs?: number;
  /** Of a child. */
  readonly workflow?: string;
  /** Of a map; as the plan has it. */
  readonly over?: Json;
  readonly concurrency?: number;
  /** Of a map the items that may fail; of any other step that it may. */
  readonly tolerate?: true | { readonly items: number } | { readonly percent: number };
}

/** What became of a callback with an answer. */
export interface CallbackOutcome {
  readonly status: 'completed' | 'failed' | 'open';
}

export interface FailOptions {
  /** For programs. */
  readonly code?: string;
  readonly message?: string;
}

export interface BreakerView {
  /** 'half-open': one trial at a time finds out whether the service is back. 'paused': an operator holds it open. */
  readonly status: 'closed' | 'open' | 'half-open' | 'paused';
  readonly since?: number;
  readonly until?: number;
  /** A trial is under way. */
  readonly trialUntil?: number;
  readonly pause?: OperatorPause;
  /** The latest that is over. */
  readonly lastPause?: EndedOperatorPause;
}

/** What an opening of an agent's breaker has left. */
export type OutageView = ShownOutage;

export interface Outages {
  /** Latest first. */
  readonly items: readonly OutageView[];
}

export interface AgentPauseView {
  readonly agent: string;
  readonly breaker: BreakerView;
}

export interface AgentView {
  readonly name: string;
  readonly effect: Effect;
  readonly workflows: readonly string[];
  /** Messages, about; absent where the queue could not be asked. */
  readonly queue?: { readonly waiting: number; readonly underWork: number; readonly delayed: number };
  readonly breaker: BreakerView;
  /** The latest failure that says something of the service: no refusals. */
  readonly lastError?: Failure & { readonly at: number };
}

/** An agent that is not deployed although executions under way need it, or may. */
export interface MissingAgent {
  readonly name: string;
  /** Executions that stand still because of it, about, as supervisors have met them in the last minutes. */
  readonly waiting: number;
  /** The open executions whose plan was read and names it. Some of them may need it no more. */
  readonly planned: number;
}

export interface Agents {
  readonly items: readonly AgentView[];
  readonly missing: readonly MissingAgent[];
  /** Open executions whose plans were read, those that are due soonest. */
  readonly examined: number;
}

export interface Health {
  /**
   * 'overdue': an execution should have been evaluated long ago, so no supervisor is at work. 'agent-missing': executions
   * wait for an agent that is not deployed.
   */
  readonly status: 'ok' | 'overdue' | 'agent-missing';
  readonly oldestOverdueMs: number;
  /** By agent that is not deployed: how many executions wait for it, about. Absent where none does. */
  readonly missing?: Readonly<Record<string, number>>;
  readonly workflows: number;
  /** Of the wake index. */
  readonly shards: readonly ShardHealth[];
  /** Absent before its first run. */
  readonly audit?: AuditHealth;
}

export interface ShardHealth {
  readonly shard: number;
  /** How long the oldest wake time in it is overdue now. */
  readonly overdueMs: number;
  /** The supervisor's latest. It leaves none while nothing is due, so an old one alone says nothing. */
  readonly receipt?: Omit<ShardReceipt, 'shard' | 'version' | 'writeId'>;
}

/** The last run, and the last pass through the whole table. */
export type AuditHealth = Omit<AuditReceipt, 'version' | 'writeId' | 'segments'>;

/** Of one workflow; it may be one that can be started no more. */
export interface WorkflowCounts {
  readonly workflow: string;
  readonly open: number;
  /** Of these: a person is asked; nothing new starts. */
  readonly waiting: number;
  readonly paused: number;
  readonly atRisk: number;
  /** In the last 24 hours, other than well. */
  readonly endedBadly: number;
  /** The plans of those that are open. */
  readonly plans: readonly {
    readonly plan: string;
    readonly open: number;
    /** New executions start with it. */
    readonly isCurrent: boolean;
  }[];
}

/** Counts of the last seconds, without parts of lists. Where there are more than 10,000, a count is of as many, and says `atLeast`. */
export interface Overview {
  /** When it was counted. */
  readonly at: number;
  readonly health: Pick<Health, 'status' | 'oldestOverdueMs'>;
  readonly open: {
    readonly count: number;
    readonly atLeast?: true;
    readonly atRisk: number;
    readonly byStatus: Readonly<Partial<Record<ExecutionStatus, number>>>;
  };
  /** The one that has been due for longest. */
  readonly oldestOverdue?: {
    readonly executionId: string;
    readonly workflow: string;
    readonly wakeAt: number;
  };
  /** Every end but success, of the last 24 hours. */
  readonly endedBadly: {
    readonly since: number;
    readonly count: number;
    readonly atLeast?: true;
    readonly byStatus: Readonly<Partial<Record<ExecutionStatus, number>>>;
    /** The 20 most frequent. */
    readonly byCode: readonly { readonly code: string; readonly count: number }[];
  };
  /** Open incidents, approvals and callbacks. */
  readonly inbox: {
    readonly count: number;
    readonly atLeast?: true;
    readonly byKind: Readonly<Partial<Record<Incident['kind'] | Entry['kind'], number>>>;
    /** Whose time is over first. */
    readonly next?: {
      readonly executionId: string;
      readonly kind: Incident['kind'] | Entry['kind'];
      readonly deadlineAt: number;
    };
  };
  readonly workflows: readonly WorkflowCounts[];
  /** Those that are not closed. */
  readonly breakers: readonly { readonly agent: string; readonly breaker: BreakerView }[];
  /** Agents that are not deployed, and how many executions wait for each, about. */
  readonly missing: readonly { readonly agent: string; readonly waiting: number }[];
  /** The latest sweep that left a receipt; a supervisor leaves none while nothing is due. */
  readonly sweptAt?: number;
}

export interface ListPage {
  readonly items: readonly ExecutionSummary[];
  /** For the next page; absent on the last one. */
  readonly cursor?: string;
  /**
   * Latest first: by the start, of those that ended badly by the end, of a code by when it ended with it or asked. 'wakeAt': more than
   * 10,000 are open, and the one comes first that is due first.
   */
  readonly orderedBy: ListOrder;
}

export interface StartOptions {
  readonly input: Json;
  /** The same key with the same input is the same execution. */
  readonly idempotencyKey?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The execution that this one is to make good for; it must exist. */
  readonly redriveOf?: string;
}

export interface ListOptions {
  readonly workflow?: string;
  /** 'open': all that have not ended. 'bad': every end but success. */
  readonly status?: ExecutionStatus | 'open' | 'bad';
  readonly atRisk?: true;
  /** The idempotency key of the start; with `workflow` alone. */
  readonly key?: string;
  /** 'name:value', of a tag that a workflow names in its `search`. */
  readonly tag?: string;
  /** Of the failure that it ended with, or of an open incident; not with `tag`. */
  readonly code?: string;
  /** Content hash of a plan; without a status of those that are open. */
  readonly plan?: string;
  /** From then on, of the time by which the list is ordered; of what is open, of the start. */
  readonly since?: number;
  /** Before then. */
  readonly until?: number;
  /** 1 to 100. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface CommandOptions {
  readonly reason?: string;
  /** A command repeated under the same id is obeyed once. */
  readonly commandId?: string;
}

export interface CancelOptions extends CommandOptions {
  /** False: what has acted is left as it is. @default true */
  readonly undo?: boolean;
}

export interface PauseAgentOptions {
  readonly reason?: string;
}

export interface PauseWorkflowOptions extends PauseAgentOptions {
  /** How long each execution may be paused before a person is asked; 30d at most. @default the workflow's, or '7d' */
  readonly within?: string;
}

export interface PauseOptions extends CommandOptions {
  /** How long it may last before a person is asked, for example '2h'; 30d at most. @default the workflow's, or '7d' */
  readonly within?: string;
}
