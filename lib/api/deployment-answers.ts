/**
 * The shapes of what a client gets of a deployment: its workflows, its agents, its health and its counts.
 *
 * Owns: the types alone. Does not own: how the answers are made (`workflow-view.ts`,
 * `agents.ts`, `health.ts`, `overview.ts`).
 */

import type { Effect } from '../core/plan/agent.ts';
import type { EndedPause, PausedStarts } from '../core/holds/workflow-pause.ts';
import type { Finding, Verdict } from '../explain/situation.ts';
import type { PlanStep, Stage } from '../core/plan/plan.ts';
import type { Failure } from '../core/values/failure.ts';
import type { Question } from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';
import type { EndedHold, Hold } from '../core/records/hold.ts';
import type { Bugs } from '../core/records/bugs.ts';
import type { WaitsNow } from '../core/records/open-waits.ts';
import type { AuditReceipt, LostAttempts, ShardReceipt } from '../core/records/receipts.ts';
import type { ExecutionStatus } from '../core/moves.ts';

/** A deployed workflow, as new executions start with it. */
export interface WorkflowView extends WorkflowPauseView {
  /** Content hash of its plan. */
  readonly plan: string;
  /** How long an execution may take at most. */
  readonly withinMs: number;
  /** Tags by which its executions are found; absent where there are none. */
  readonly search?: readonly string[];
  /** Its ends are not announced on the event bus; absent where they are. */
  readonly announceEnds?: false;
  /** Its steps, each after those that it reads. */
  readonly steps: readonly WorkflowStepView[];
  /** Only where one workflow is shown, not in the list of all. */
  readonly forms?: WorkflowForms;
}

/** The deployed workflows. */
export interface Workflows {
  /** By name. */
  readonly items: readonly WorkflowView[];
}

/** The forms that a person can fill in, as far as the schemas say it. */
export interface WorkflowForms {
  /** JSON Schema of the input of a start. */
  readonly input?: Json;
  /** An input that its author has written beside it, in `example-input.json`. */
  readonly example?: Json;
  /**
   * By step: JSON Schema of another input, and of the output that a callback is
   * completed with or a person gives.
   */
  readonly steps?: Readonly<Record<string, { readonly input?: Json; readonly output?: Json }>>;
}

/** By workflow. */
export type AllForms = Readonly<Record<string, WorkflowForms>>;

/** A workflow, and whether its executions are born paused. */
export interface WorkflowPauseView {
  /** The name of the workflow. */
  readonly workflow: string;
  /** Absent while it is not paused. */
  readonly pause?: PausedStarts;
  /** The latest that is over. */
  readonly lastPause?: EndedPause;
}

/** One stage of a recovery. */
export interface RecoveryView {
  readonly kind: Stage['kind'];
  /** The most further tries. */
  readonly attempts?: number;
  /** The agent of the stage, if it is another one. */
  readonly agent?: string;
  /** How long a person is asked; without an answer `otherwise` holds. */
  readonly withinMs?: number;
  readonly otherwise?: 'undo' | 'keep';
}

export interface WorkflowStepView {
  readonly name: string;
  readonly kind: PlanStep['kind'];
  readonly after: readonly string[];
  /** It follows an end without success. */
  readonly onFailure?: true;
  /** Once it is done nothing is undone any more. */
  readonly pointOfNoReturn?: true;
  /** The agent of a step of kind 'agent', of a map's items, or of rounds. */
  readonly agent?: string;
  readonly effect?: Effect;
  /** Also of kind 'child'. */
  readonly undo?: 'none' | 'required';
  /** What follows a failure, stage by stage; of a map's items. */
  readonly recovery?: readonly RecoveryView[];
  /** A wait has one of `forMs`, `for` and `until`. */
  readonly forMs?: number;
  readonly for?: Json;
  /** A time, or where it is read from, as the plan has it. */
  readonly until?: Json;
  readonly withinMs?: number;
  /** Only for a callback or an approval. */
  readonly heartbeatMs?: number;
  /** Only for an approval that must come from another person. */
  readonly by?: 'another';
  /** Only for an approval that does not fail without an answer. */
  readonly otherwise?: 'approve' | 'reject';
  readonly remindMs?: number;
  /** Only for a lane: its name, and how many have a place at the same time. */
  readonly lane?: string;
  readonly atMost?: number;
  /** Only for a child. */
  readonly workflow?: string;
  /** Only for a child that is repeated; its condition as the plan has it. */
  readonly rounds?: { readonly atMost: number; readonly until: Json };
  /** Only for a map; as the plan has it. */
  readonly over?: Json;
  readonly concurrency?: number;
  /** A map: the items that may fail. Any other step: `true` if it may. */
  readonly tolerate?: true | { readonly items: number } | { readonly percent: number };
}

/** Whether an agent is called, or its calls are deferred because its service fails. */
export interface BreakerView {
  /**
   * 'half-open': one trial at a time finds out whether the service is back.
   * 'paused': an operator holds it open.
   */
  readonly status: 'closed' | 'open' | 'half-open' | 'paused';
  /** When its status became what it is. */
  readonly since?: number;
  /** When a trial is let through; only while it is open. */
  readonly until?: number;
  /** A trial is under way. */
  readonly trialUntil?: number;
  /** Who paused it, when, and why. */
  readonly pause?: Hold;
  /** The latest that is over. */
  readonly lastPause?: EndedHold;
}

/** An agent after it was paused or resumed. */
export interface AgentPauseView {
  /** The name of the agent. */
  readonly agent: string;
  /** Whether it is called now. */
  readonly breaker: BreakerView;
}

/** What follows where an operator has an agent called now. */
export interface AgentTriedNow extends AgentPauseView {
  /**
   * Steps that were woken: while the breaker is not closed the one that becomes the trial, else those that
   * still waited for their turn.
   */
  readonly woken: number;
  /** From when on they are sent, and the first of them; absent where none was woken. */
  readonly dueAt?: number;
  /** The step that is sent first. */
  readonly first?: { readonly executionId: string; readonly step: string };
  /** There may be more. */
  readonly atLeast?: true;
}

/** A deployed agent: whether its service answers, and what waits for it. */
export interface AgentView {
  /** The name that workflows give it. */
  readonly name: string;
  /** What its author says of repeating its work. */
  readonly effect: Effect;
  /** Workflows that have a step of it. */
  readonly workflows: readonly string[];
  /** Messages, about; absent where the queue could not be asked. */
  readonly queue?: { readonly waiting: number; readonly underWork: number; readonly delayed: number };
  /** Whether it is called now. */
  readonly breaker: BreakerView;
  /** The latest failure that says something of the service: no refusals. */
  readonly lastError?: Failure & { readonly at: number };
  /** Attempts that a bug in its code has ended, none of them longer than a quarter of an hour ago. */
  readonly bugs?: Bugs;
  /** Attempts of the last minutes whose processes died or went silent: as supervisors ended their leases. */
  readonly lost?: LostAttempts;
}

/** An agent that is not deployed although executions under way need it, or may. */
export interface MissingAgent {
  /** The name that plans give it. */
  readonly name: string;
  /** Executions that stand still because of it, about, as supervisors have met them in the last minutes. */
  readonly waiting: number;
  /**
   * When supervisors first met one of these, as long as they have met some ever since;
   * absent where none stands still.
   */
  readonly since?: number;
  /** The open executions whose plan was read and names it. Some of them may need it no more. */
  readonly planned: number;
}

/** The agents of a deployment. */
export interface Agents {
  /** Deployed agents, by name. */
  readonly items: readonly AgentView[];
  /** Agents that open executions need and that are not deployed. */
  readonly missing: readonly MissingAgent[];
  /** Open executions whose plans were read, those that are due soonest. */
  readonly examined: number;
  /** Asked for with `needed`. */
  readonly needed?: NeededAgents;
}

/** Which agents open executions have in their plans. Some of them may need one no more. */
export interface NeededAgents {
  /** By name, with how many open executions have it in their plan. */
  readonly agents: readonly { readonly name: string; readonly executions: number }[];
  /** The lanes that they wait in, or have a place in; absent where there is none. */
  readonly lanes?: readonly LaneInUse[];
  /** Open executions that were counted. */
  readonly examined: number;
  /** Where there are more than were counted, or a plan could not be read. */
  readonly atLeast?: true;
}

/** A lane that open executions of a workflow are in. */
export interface LaneInUse {
  readonly workflow: string;
  readonly lane: string;
  readonly executions: number;
}

/** Whether a deployment is well, and the worst of what is wrong. */
export interface Health {
  /**
   * 'degraded': executions may not end well or in time without help, or the service of an agent
   * does not answer. 'down': executions cannot go on, for nothing can be written, no supervisor
   * is at work or an agent that they wait for is not deployed.
   */
  readonly status: Verdict;
  /**
   * The worst in one sentence: what, since when, how many wait, when the first of
   * them runs out, what is to be done.
   */
  readonly says: string;
  /** Findings, the worst first; empty while there are none. */
  readonly findings: readonly Finding[];
  /** For how long the oldest wake time has been overdue; 0 where none is. */
  readonly oldestOverdueMs: number;
  /** By agent that is not deployed: how many executions wait for it, about. Absent where none does. */
  readonly missing?: Readonly<Record<string, number>>;
  /** By agent that is not deployed: when supervisors first met an execution that waits for it. */
  readonly missingSince?: Readonly<Record<string, number>>;
  /** How many workflows are deployed. */
  readonly workflows: number;
  /** The shards of the wake index. */
  readonly shards: readonly ShardHealth[];
  /** Absent before its first run. */
  readonly audit?: AuditHealth;
  /** Absent where nothing is measured. */
  readonly metrics?: MetricsPlace;
}

/** Under which names CloudWatch has its metrics. */
export interface MetricsPlace {
  /** The value of their dimension `service`. */
  readonly service: string;
  /** Which of them have metrics one by one. */
  readonly by: readonly ('workflow' | 'agent')[];
  /** Workflows that have metrics one by one. */
  readonly workflows: readonly string[];
  /** The name of each agent's queue. */
  readonly queues: Readonly<Record<string, string>>;
  /** When the code that runs began to, where that is known. */
  readonly startedAt?: number;
}

/** One part of the wake index, which one supervisor at a time sweeps. */
export interface ShardHealth {
  /** Its number, from 0. */
  readonly shard: number;
  /** How long the oldest wake time in it is overdue now. */
  readonly overdueMs: number;
  /** The supervisor's latest. It leaves none while nothing is due, so an old one alone says nothing. */
  readonly receipt?: Omit<ShardReceipt, 'shard' | 'version' | 'writeId'>;
}

/** The last run, and the last pass through the whole table. */
export type AuditHealth = Omit<AuditReceipt, 'version' | 'writeId' | 'segments'>;

/** One workflow's counts. */
export interface WorkflowCounts {
  /** The name of the workflow. */
  readonly workflow: string;
  /** It can be started no more, and no step of one that can runs it. */
  readonly isGone?: true;
  /** It cannot be started: only steps of others run it. */
  readonly isChild?: true;
  /** Executions under way. */
  readonly open: number;
  /** Open ones in which a person is asked, or in executions that their steps run. */
  readonly waiting: number;
  /** Open executions that are paused. */
  readonly paused: number;
  /** Open executions that may not end well or in time without help. */
  readonly atRisk: number;
  /** In the last 24 hours, other than well. */
  readonly endedWithoutSuccess: number;
  /** The share of those that were started in the last hour; absent where `lately` of the overview is. */
  readonly lately?: Omit<Lately, 'since'>;
  /** The plans of those that are open. */
  readonly plans: readonly {
    readonly plan: string;
    readonly open: number;
    /** New executions start with it. */
    readonly isCurrent: boolean;
  }[];
  /** The pause of its starts: each execution that is started begins paused. Absent while there is none. */
  readonly pause?: PausedStarts;
}

/** How many of those that were started of late, of the workflows that can be started, have ended badly. */
export interface Lately {
  /** From when on it counts. */
  readonly since: number;
  /** Executions that were started since. */
  readonly started: number;
  /** Executions among these that have ended otherwise than well. */
  readonly endedWithoutSuccess: number;
  /** There are more of both, or of one. */
  readonly atLeast?: true;
}

/**
 * Counts of the last seconds, without parts of lists. Where there are more than 10,000, a count is
 * of as many, and says `atLeast`: so are then those of its statuses, kinds, codes and workflows.
 */
export interface Overview {
  /** When it was counted. */
  readonly at: number;
  /** The worst first, as `/health` says it. */
  readonly health: Pick<Health, 'status' | 'says' | 'findings' | 'oldestOverdueMs'>;
  /** Open executions. */
  readonly open: {
    readonly count: number;
    readonly atLeast?: true;
    readonly atRisk: number;
    /** There are more of them. */
    readonly moreAtRisk?: true;
    readonly byStatus: Readonly<Partial<Record<ExecutionStatus, number>>>;
  };
  /** The one that has been due for longest, 5 s at least. */
  readonly oldestOverdue?: {
    readonly executionId: string;
    readonly workflow: string;
    readonly wakeAt: number;
  };
  /** Every end but success, of the last 24 hours. */
  readonly endedWithoutSuccess: {
    readonly since: number;
    readonly count: number;
    readonly atLeast?: true;
    readonly byStatus: Readonly<Partial<Record<ExecutionStatus, number>>>;
    /**
     * How many were started in that time, of the workflows that can be started.
     * Absent where all have succeeded.
     */
    readonly started?: { readonly count: number; readonly atLeast?: true };
    /** The 20 most frequent. */
    readonly byCode: readonly { readonly code: string; readonly count: number }[];
  };
  /** The last hour; absent where all have succeeded for 24 hours, or nothing was started in it. */
  readonly lately?: Lately;
  /** Open incidents, approvals and callbacks. */
  readonly inbox: {
    readonly count: number;
    readonly atLeast?: true;
    readonly byKind: Readonly<Partial<Record<Question['kind'], number>>>;
    /** The question whose time ends first. */
    readonly next?: {
      readonly executionId: string;
      readonly kind: Question['kind'];
      readonly deadlineAt: number;
    };
  };
  /** The counts of each workflow. */
  readonly workflows: readonly WorkflowCounts[];
  /** Breakers that are not closed. */
  readonly breakers: readonly { readonly agent: string; readonly breaker: BreakerView }[];
  /**
   * Agents that are not deployed, how many executions wait for each, about, and
   * when supervisors first met one.
   */
  readonly missing: readonly { readonly agent: string; readonly waiting: number; readonly since?: number }[];
  /** The latest sweep that left a receipt; a supervisor leaves none while nothing is due. */
  readonly sweptAt?: number;
  /** Callers that wait for an execution's end now, with `wait`. Absent while none does. */
  readonly waits?: WaitsNow;
}
