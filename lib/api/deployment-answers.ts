/**
 * The types of the answers about a deployment: its workflows, its health and its counts.
 *
 * Owns: only the types. Does not own: how the answers are made (`workflow-view.ts`, `health.ts`,
 * `overview.ts`), the answers about agents (`agent-answers.ts`).
 */

import type { BreakerView } from './agent-answers.ts';
import type { Effect } from '../core/plan/agent.ts';
import type { EndedPause, PausedStarts } from '../core/holds/workflow-pause.ts';
import type { Finding, Verdict } from '../explain/situation.ts';
import type { PlanStep, Stage } from '../core/plan/plan.ts';
import type { Question } from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';
import type { WaitsNow } from '../core/records/open-waits.ts';
import type { AuditReceipt, ShardReceipt } from '../core/records/receipts.ts';
import type { RateQueue } from '../core/records/slots.ts';
import type { ExecutionStatus } from '../core/moves.ts';

/** A deployed workflow, as new executions start with it. */
export interface WorkflowView extends WorkflowPauseView {
  /** Content hash of its plan. */
  readonly plan: string;
  /** The longest that an execution may take. */
  readonly withinMs: number;
  /** Tags by which its executions can be found; absent if there are none. */
  readonly search?: readonly string[];
  /** `false` if its ends are not announced on the event bus; otherwise absent. */
  readonly announceEnds?: false;
  /** Its steps, each after the steps that it reads. */
  readonly steps: readonly WorkflowStepView[];
  /** Only in the answer about one workflow, not in the list of all. */
  readonly forms?: WorkflowForms;
}

/** The deployed workflows. */
export interface Workflows {
  /** By name. */
  readonly items: readonly WorkflowView[];
}

/**
 * The forms that a person can fill in, for a page that starts executions or answers incidents. A form is
 * absent if its schema cannot be written as JSON Schema in at most 32 KB; that is not an error.
 */
export interface WorkflowForms {
  /** JSON Schema of the input of a start. */
  readonly input?: Json;
  /**
   * The input in `example-input.json` beside the workflow. Absent if the folder does not have the workflow's
   * name, or if the file is not JSON or has more than 32 KB.
   */
  readonly example?: Json;
  /**
   * By step: JSON Schema of another input, and of the output that an answer or a person gives. Absent for all
   * steps if together they have more than 512 KB.
   */
  readonly steps?: Readonly<Record<string, { readonly input?: Json; readonly output?: Json }>>;
}

/** By workflow. */
export type AllForms = Readonly<Record<string, WorkflowForms>>;

/** A workflow, and whether its executions start paused. */
export interface WorkflowPauseView {
  /** The name of the workflow. */
  readonly workflow: string;
  /** Absent if the workflow is not paused. */
  readonly pause?: PausedStarts;
  /** The latest pause that has ended. */
  readonly lastPause?: EndedPause;
}

/**
 * The message that a round begins with, and the time limit of the wait for it, or the reference that gives
 * this limit.
 */
export interface RoundMessageView {
  readonly name: string;
  readonly withinMs?: number;
  readonly within?: Json;
  readonly otherwise?: 'continue';
}

/** One stage of a recovery. */
export interface RecoveryView {
  readonly kind: Stage['kind'];
  /** The maximum number of additional tries. */
  readonly attempts?: number;
  /** The agent of the stage, if it differs from the step's. */
  readonly agent?: string;
  /** How long a person may take to answer; then `otherwise` applies. */
  readonly withinMs?: number;
  readonly otherwise?: 'undo' | 'keep';
}

export interface WorkflowStepView {
  readonly name: string;
  readonly kind: PlanStep['kind'];
  readonly after: readonly string[];
  /** Set for a step after an end without success. */
  readonly onFailure?: true;
  /** Set if nothing is undone once this step is done. */
  readonly pointOfNoReturn?: true;
  /** The agent of a step of kind 'agent', of a map's items, or of rounds. */
  readonly agent?: string;
  readonly effect?: Effect;
  /** Also for kind 'child'. */
  readonly undo?: 'none' | 'required';
  /** The stages after a failure; for a map, those of its items. */
  readonly recovery?: readonly RecoveryView[];
  /** A wait has one of `forMs`, `for` and `until`. */
  readonly forMs?: number;
  readonly for?: Json;
  /** A time, or the reference that gives it, as in the plan. */
  readonly until?: Json;
  readonly withinMs?: number;
  /** Only for a callback or an approval. */
  readonly heartbeatMs?: number;
  /** Only for an approval that must come from another person. */
  readonly by?: 'another';
  /** The outcome without an answer or a message; absent if it is a failure. */
  readonly otherwise?: 'approve' | 'reject' | 'continue';
  readonly remindMs?: number;
  /** Only for a receive: the name of the message that it takes. */
  readonly message?: string;
  /** Only for a lane: its name, and how many executions have a place at the same time. */
  readonly lane?: string;
  readonly atMost?: number;
  /** Only for a child. */
  readonly workflow?: string;
  /** Only for a repeated child; its condition, and the messages of its rounds, as in the plan. */
  readonly rounds?: {
    readonly atMost: number;
    readonly until: Json;
    readonly first?: RoundMessageView;
    readonly message?: RoundMessageView;
  };
  /** Only for a map; the list as in the plan. */
  readonly over?: Json;
  readonly concurrency?: number;
  /** For a map, how many items may fail. For any other step, `true` if it may fail. */
  readonly tolerate?: true | { readonly items: number } | { readonly percent: number };
}

/** Whether a deployment is healthy, and its worst problem. */
export interface Health {
  /**
   * 'degraded': executions may not end well or in time without help, or an agent's service does not answer.
   * 'down': executions cannot continue, because nothing can be written, no supervisor is at work or an agent
   * that they wait for is not deployed.
   */
  readonly status: Verdict;
  /**
   * The worst finding in one sentence: what, since when, how many wait, when the first of them runs out of
   * time, what to do.
   */
  readonly says: string;
  /** Findings, the worst first; empty if there are none. */
  readonly findings: readonly Finding[];
  /** How long the oldest wake time has been overdue; 0 if none is. */
  readonly oldestOverdueMs: number;
  /**
   * By agent that is not deployed: the approximate number of executions that wait for it. Absent if none
   * does.
   */
  readonly missing?: Readonly<Record<string, number>>;
  /** By agent that is not deployed: when supervisors first met an execution that waits for it. */
  readonly missingSince?: Readonly<Record<string, number>>;
  /** How many workflows are deployed. */
  readonly workflows: number;
  /** The shards of the wake index. */
  readonly shards: readonly ShardHealth[];
  /** Absent before its first run. */
  readonly audit?: AuditHealth;
  /** Absent if nothing is measured. */
  readonly metrics?: MetricsPlace;
}

/** The names of its metrics in CloudWatch. */
export interface MetricsPlace {
  /** The value of their dimension `service`. */
  readonly service: string;
  /** Which kinds have metrics of their own for each item. */
  readonly by: readonly ('workflow' | 'agent')[];
  /** Workflows that have metrics of their own. */
  readonly workflows: readonly string[];
  /** The name of each agent's queue. */
  readonly queues: Readonly<Record<string, string>>;
  /** When the running code began to run, if that is known. */
  readonly startedAt?: number;
}

/** One part of the wake index, which one supervisor at a time sweeps. */
export interface ShardHealth {
  /** Its number, from 0. */
  readonly shard: number;
  /** How long the oldest wake time in it has been overdue. */
  readonly overdueMs: number;
  /**
   * The supervisor's latest receipt. A supervisor leaves none if nothing is due, so an old one alone means
   * nothing.
   */
  readonly receipt?: Omit<ShardReceipt, 'shard' | 'version' | 'writeId'>;
}

/** The last run, and the last pass through the whole table. */
export type AuditHealth = Omit<AuditReceipt, 'version' | 'writeId' | 'segments'>;

/** One workflow's counts. */
export interface WorkflowCounts {
  /** The name of the workflow. */
  readonly workflow: string;
  /** Set if it can no longer be started, and no step of a startable workflow runs it. */
  readonly isGone?: true;
  /** Set if it cannot be started: only steps of other workflows run it. */
  readonly isChild?: true;
  /** How many executions are open. */
  readonly open: number;
  /** How many open executions ask a person, themselves or in executions that their steps run. */
  readonly waiting: number;
  /** How many open executions are paused. */
  readonly paused: number;
  /** How many open executions may not end well or in time without help. */
  readonly atRisk: number;
  /** How many ended without success in the last 24 hours. */
  readonly endedWithoutSuccess: number;
  /** Its part of the overview's `lately`; absent if that is. */
  readonly lately?: Omit<Lately, 'since'>;
  /** The plans of its open executions. */
  readonly plans: readonly {
    readonly plan: string;
    readonly open: number;
    /** True if new executions start with this plan. */
    readonly isCurrent: boolean;
  }[];
  /** The pause of its starts: each new execution starts paused. Absent if there is none. */
  readonly pause?: PausedStarts;
}

/** How many recently started executions of startable workflows have ended without success. */
export interface Lately {
  /** The beginning of the counted time. */
  readonly since: number;
  /** How many executions were started since then. */
  readonly started: number;
  /** How many of these have ended without success. */
  readonly endedWithoutSuccess: number;
  /** Set if one or both counts are higher. */
  readonly atLeast?: true;
}

/**
 * Counts of the last seconds, without parts of lists. A count stops at 10,000 and then has `atLeast`, which
 * also applies to its statuses, kinds, codes and workflows.
 */
export interface Overview {
  /** When the counts were made. */
  readonly at: number;
  /** The health as in `/health`, with the worst finding first. */
  readonly health: Pick<Health, 'status' | 'says' | 'findings' | 'oldestOverdueMs'>;
  /** Open executions. */
  readonly open: {
    readonly count: number;
    readonly atLeast?: true;
    readonly atRisk: number;
    /** Set if there are more. */
    readonly moreAtRisk?: true;
    readonly byStatus: Readonly<Partial<Record<ExecutionStatus, number>>>;
  };
  /** The execution that has been due for longest, at least 5 s. */
  readonly oldestOverdue?: {
    readonly executionId: string;
    readonly workflow: string;
    readonly wakeAt: number;
  };
  /** Ends without success in the last 24 hours. */
  readonly endedWithoutSuccess: {
    readonly since: number;
    readonly count: number;
    readonly atLeast?: true;
    readonly byStatus: Readonly<Partial<Record<ExecutionStatus, number>>>;
    /**
     * How many executions were started in that time, of the workflows that can be started. Absent if all have
     * succeeded.
     */
    readonly started?: { readonly count: number; readonly atLeast?: true };
    /** The 20 most frequent codes. */
    readonly byCode: readonly { readonly code: string; readonly count: number }[];
  };
  /** The last hour; absent if all have succeeded for 24 hours, or nothing was started in it. */
  readonly lately?: Lately;
  /** Open incidents, approvals and callbacks. */
  readonly inbox: {
    readonly count: number;
    readonly atLeast?: true;
    readonly byKind: Readonly<Partial<Record<Question['kind'], number>>>;
    /** The question with the earliest deadline. */
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
  /** Agents by whose rate attempts wait for their turn. Absent if there are none. */
  readonly rateQueues?: readonly (RateQueue & { readonly agent: string })[];
  /**
   * Agents that are not deployed, the approximate number of executions that wait for each, and when
   * supervisors first found one.
   */
  readonly missing: readonly { readonly agent: string; readonly waiting: number; readonly since?: number }[];
  /** The latest sweep that left a receipt; a supervisor leaves none if nothing is due. */
  readonly sweptAt?: number;
  /** Callers that wait for an execution's end now, with `wait`. Absent if there are none. */
  readonly waits?: WaitsNow;
  /**
   * How far the clock that all instants come from is ahead of its machine's, which was set back; absent if it
   * is not. Instants that the machine's clock has not reached are shown earlier by as much.
   */
  readonly clockAheadMs?: number;
}
