/**
 * The world as the roles see it. Implemented on AWS (`lib/aws`) and in memory (`lib/memory`); one
 * contract suite runs against both.
 */

import type { AbortSignalLike } from './plan/agent.ts';
import type { Bulk, BulkPage, BulkTotal } from './operators/bulk.ts';
import type { Bounded, InboxKey, ListFilter, ListOrder, Survey } from './operators/list-filter.ts';
import type { Plan } from './plan/plan.ts';
import type { Lane, Queued } from './records/lane.ts';
import type { Note, Send, Write } from './decisions/decision.ts';
import type { Question } from './records/question.ts';
import type { Away } from './values/away.ts';
import type { Failure } from './values/failure.ts';
import type { Json } from './values/json.ts';
import type { News } from './decisions/news.ts';
import type { OpenWaits } from './records/open-waits.ts';
import type { AuditReceipt, ShardReceipt } from './records/receipts.ts';
import type { Snapshot } from './records/snapshot.ts';
import type { Execution } from './records/state.ts';
import type { WorkflowPause } from './holds/workflow-pause.ts';
import type { Breaker } from './step/breaker.ts';
import type { WorkerTroubles } from './records/worker-ends.ts';
import type { AgentRate } from './records/slots.ts';
import type { Found, Removable } from './supervision/audit.ts';
import type { Presence } from './supervision/presence.ts';

/** Losing a race is a value. `conflict`: a record was not one version behind; nothing was written. */
export type WriteResult = 'written' | 'conflict';

export interface Due {
  readonly executionId: string;
  readonly wakeAt: number;
  /** Whose it is, hashed (`fairBy`). */
  readonly group?: string;
}

/** An open question to a person or another external party. */
export interface InboxItem {
  readonly executionId: string;
  readonly question: Question;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque; absent on the last page. */
  readonly cursor?: string;
}

export interface ListQuery extends ListFilter {
  /** The executions that are listed if no filter has an index of its own. */
  readonly workflows: readonly string[];
  readonly limit: number;
  readonly cursor?: string;
}

export interface ListedPage extends Page<Execution> {
  readonly orderedBy: ListOrder;
}

/**
 * The only truth. Reads of one execution are strongly consistent; `due` and `list` may lag
 * and are only hints. Every method may reject when the store is away or answers ambiguously:
 * the caller then knows nothing.
 */
export interface Store {
  /** Puts the plan unless it is there already; a plan is addressed by its content, so both are the same. */
  readonly writePlan: (hash: string, plan: Plan) => Promise<void>;
  readonly readPlan: (hash: string) => Promise<Plan | undefined>;
  /**
   * Writes a new execution, or returns the one that is there; one from an earlier life
   * of its parent's id is replaced.
   * @param isNewId a hint: the id was made for this start, so there is hardly one. @default false
   */
  readonly create: (execution: Execution, isNewId?: boolean) => Promise<Execution | 'written'>;
  readonly read: (executionId: string) => Promise<Snapshot | undefined>;
  /**
   * The records of these steps, and read after them the execution's: a claim needs no more of a long one. No
   * incident is read, and the answer says that it is a part. @default a reader reads everything
   * @param withInput an input that is beside the record, too, without which it is `null`. @default true
   */
  readonly readSteps?: (
    executionId: string,
    steps: readonly string[],
    withInput?: boolean,
  ) => Promise<Snapshot | undefined>;
  readonly readExecution: (executionId: string) => Promise<Execution | undefined>;
  /**
   * Writes each record on the condition that the stored one is one version behind (version 1: that there is
   * none). An own write that an ambiguous answer hid is recognised by its write id and counts as written.
   */
  readonly write: (write: Write) => Promise<WriteResult>;
  /** Shards of the wake index: 0 to shards - 1. */
  readonly shards: number;
  /**
   * Open executions of a shard with `wakeAt` ≤ untilAt, earliest first.
   * @param limit of a page, at most the store's own
   */
  readonly due: (shard: number, untilAt: number, cursor?: string, limit?: number) => Promise<Page<Due>>;
  /** The earliest deadline first. @throws SteadfastError `bad-cursor` */
  readonly inbox: (limit: number, cursor?: string) => Promise<Page<InboxItem>>;
  /**
   * All open questions, as their index has them, seconds old and up to a bound.
   * @param below only those of executions that this one's steps run
   */
  readonly asked: (below?: string) => Promise<Bounded<InboxKey>>;
  /**
   * What fits the filter, in its order. Reading is bounded: if few executions fit, a page may hold fewer than
   * its limit and still have a cursor.
   * @throws SteadfastError `bad-cursor`
   */
  readonly list: (query: ListQuery) => Promise<ListedPage>;
  /**
   * To be counted: what is open, what is asked, and what has ended badly since then. Seconds old.
   * @param workflows whose starts since then are counted, if any execution has ended badly
   * @param latelySince from then on starts are counted by workflow. @default as long as bad ends
   */
  readonly survey: (
    endedSince: number,
    workflows: readonly string[],
    latelySince?: number,
  ) => Promise<Survey>;
}

/**
 * One of `of` parts of the table, numbered from 0. All records of an execution are in one, and stay there.
 */
export interface Segment {
  readonly index: number;
  readonly of: number;
}

/** The state table without its indexes: for the audit alone. */
export interface Inventory {
  /**
   * Some of all records of executions in a segment, strongly read: an execution's
   * own one before those beside it.
   */
  readonly page: (segment: Segment, cursor?: string) => Promise<Page<Found>>;
  /** Removes the record on the condition that it is still the one that was found. */
  readonly remove: (found: Removable) => Promise<'removed' | 'conflict'>;
}

/** The receipts of supervisors and audit: beside the executions, and never needed to go on. */
export interface Receipts {
  /** The shards' that have one, by number, and the audit's. */
  readonly read: () => Promise<{ readonly shards: readonly ShardReceipt[]; readonly audit?: AuditReceipt }>;
  /** On the condition that the stored one is one version behind (version 1: that there is none). */
  readonly write: (receipt: ShardReceipt | AuditReceipt) => Promise<WriteResult>;
}

/** The fields of every record beside the executions. */
export interface SideRecord {
  readonly version: number;
  readonly writeId: string;
}

/**
 * Records of one kind beside the executions. Every reader says what follows where one cannot be read or
 * written; no execution waits for it.
 */
export interface SideRecords<Kept extends SideRecord, Key extends readonly unknown[] = []> {
  /** Strongly consistent. */
  readonly read: (...key: Key) => Promise<Kept | undefined>;
  /** On the condition that the stored one is one version behind (version 1: that there is none). */
  readonly write: (record: Kept) => Promise<WriteResult>;
}

export type Breakers = SideRecords<Breaker, [agent: string]>;
/** Slots and turns of agents that have a rate. */
export type Rates = SideRecords<AgentRate, [agent: string]>;
/** Which workflows are paused; every start of an execution reads it. */
export type WorkflowPauses = SideRecords<WorkflowPause, [workflow: string]>;
/** Lanes, by their keys, and the queue of each. */
export interface Lanes {
  /** SHA-256 of the text, in `[a-z0-9]`. */
  readonly hash: (text: string) => string;
  /** Strongly consistent. */
  readonly readLane: (lane: string) => Promise<Lane | undefined>;
  /** On the condition that the stored one is one version behind, and of the same life. */
  readonly writeLane: (lane: Lane) => Promise<WriteResult>;
  /** Puts it; again, it changes nothing. */
  readonly queue: (lane: string, queued: Queued) => Promise<void>;
  /** Strongly consistent, the next first. @param limit of a page */
  readonly queued: (lane: string, limit: number, cursor?: string) => Promise<Page<Queued>>;
  /** One that is not there is no error. */
  readonly unqueue: (lane: string, queued: Queued) => Promise<void>;
}

/** Until when a supervisor is at work. */
export type Presences = SideRecords<Presence>;

/** Bulk actions, beside the executions. Each record is read strongly, but for all totals at once. */
export interface Bulks {
  readonly read: (bulk: string) => Promise<Bulk | undefined>;
  readonly readPage: (bulk: string, page: number) => Promise<BulkPage | undefined>;
  readonly readTotal: (bulk: string, shard: number) => Promise<BulkTotal | undefined>;
  /** All of them, perhaps as they were a second ago. */
  readonly readTotals: (bulk: string) => Promise<readonly BulkTotal[]>;
  /**
   * All or none of up to 100, on the condition that each stored one is one version behind
   * (version 1: that there is none).
   */
  readonly write: (records: BulkWrite) => Promise<WriteResult>;
}

export interface BulkWrite {
  readonly bulk?: Bulk;
  readonly pages?: readonly BulkPage[];
  readonly total?: BulkTotal;
}

/**
 * Which callers hold a process of the API while they wait; what cannot be read or
 * written lets no further one wait.
 */
export interface Waits extends SideRecords<OpenWaits> {
  /** So many at the same time. @default DEFAULT_MOST_WAITS */
  readonly most?: number;
}

/** How a role calls a supervisor. */
export interface WakeUps extends Presences {
  /** Starts a supervisor that takes this presence over: at least once, perhaps never. */
  readonly call: (presence: Presence) => Promise<void>;
  /** Until when a process with these ports need not read it again; in memory alone. */
  readonly known: { untilAt: number; asking?: Promise<void> };
}

/**
 * Values that are too large for a record, by key (`records/large-values.ts`). An object is put before the
 * record that names it, and no key is ever put twice.
 */
export interface LargeValues {
  /** SHA-256 of the text, in `[a-z0-9]`. */
  readonly hash: (json: string) => string;
  /** Values whose text has more bytes lie here. @default LARGE_VALUE_BYTES */
  readonly above?: number;
  /** Resolves once the object is there for every reader. Rejects when that is not certain. */
  readonly put: (key: string, json: string) => Promise<void>;
  /** The text that was put. Nothing when there certainly is none; rejects when it cannot be read now. */
  readonly get: (key: string) => Promise<string | undefined>;
}

/** An object, as a listing shows it. */
export interface StoredValue {
  readonly key: string;
  /** Epoch ms of its put. */
  readonly storedAt: number;
  readonly bytes: number;
}

/** All large values: for the audit and for an erasure alone. */
export interface LargeValueInventory {
  /** In the order of their keys, those that begin with the prefix. */
  readonly list: (prefix: string, cursor?: string) => Promise<Page<StoredValue>>;
  /** An earlier version may stay for a day; one that is gone already is no error. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** The same, with every version of them at once. @default `remove` */
  readonly erase?: (keys: readonly string[]) => Promise<void>;
}

/** All there is of one execution's id, of whichever life: for an erasure alone. */
export interface Erasure extends Pick<Inventory, 'remove'> {
  /** Strongly read. */
  readonly recordsOf: (executionId: string) => Promise<readonly Found[]>;
  /** No write is under way for longer, its repetitions included. @default 60 s */
  readonly writtenWithinMs?: number;
  /** @default there are none */
  readonly values?: LargeValueInventory;
}

/** Messages of one agent's queue, about. */
export interface QueueDepth {
  readonly waiting: number;
  /** Taken by an agent and not yet acknowledged. */
  readonly underWork: number;
  /** To be delivered later. */
  readonly delayed: number;
}

/** Delivers at least once, in any order, perhaps never. */
export interface Queue {
  readonly send: (sends: readonly Send[]) => Promise<void>;
  /**
   * Whether there is a queue for the agent: one that is not deployed has none. A supervisor and the API know
   * every agent that is deployed, an agent only those to which its own workflows send.
   * @default there is one for every agent
   */
  readonly reaches?: (agent: string) => boolean;
  /** By agent; one whose queue cannot be asked is left out. */
  readonly depths?: (agents: readonly string[]) => Promise<Readonly<Record<string, QueueDepth>>>;
}

/** News that leaves the deployment. It rejects where the event bus does not take it. */
export interface Announcer {
  readonly announce: (news: News) => Promise<void>;
}

export interface Clock {
  /** Epoch ms. */
  readonly now: () => number;
  /** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignalLike) => Promise<void>;
}

export interface RandomSource {
  /** Fresh and unguessable: tokens, write ids. */
  readonly id: () => string;
  /** In [0, 1). */
  readonly number: () => number;
}

/** The origin of a note. */
export interface NoteOrigin {
  readonly workflow: string;
  /** Only for an end: the time since its start. */
  readonly lastedMs?: number;
}

export interface Log {
  readonly note: (note: Note, origin?: NoteOrigin) => void;
}

/** The schemas of workflows that are run by steps of others; a process has those of its own bundle. */
export interface ChildInputs {
  /**
   * Why the workflow with this very plan does not accept the input; nothing also where it is not known here.
   */
  readonly problem: (plan: Plan, input: Json) => Promise<string | undefined>;
}

/** How a caller learns of an end at once, if the process that it waits in makes all announcements. */
export interface Ends {
  /** @returns a signal that is aborted when the end is announced, and what gives it back */
  readonly of: (executionId: string) => { readonly signal: AbortSignalLike; readonly release: () => void };
}

/** Why no write is kept now. */
export interface StorageTrouble {
  /** The first write that was not kept. */
  readonly since: number;
  readonly failure: Failure;
}

export interface Ports {
  readonly store: Store;
  readonly queue: Queue;
  /** Absent while writes are kept. @default it is not known */
  readonly storageTrouble?: () => StorageTrouble | undefined;
  /** When no attempt could go on, of late. @default never, as far as that is known */
  readonly away?: () => readonly Away[];
  /** What agents have done to their processes of late. @default it is not known, as on AWS */
  readonly workerTroubles?: () => WorkerTroubles;
  /** When the code that runs began to run. @default it is not known, as on AWS */
  readonly startedAt?: number;
  /** @default every value is in its record, which bounds its size */
  readonly largeValues?: LargeValues;
  /** Only the role that answers callers has it. */
  readonly erasure?: Erasure;
  /** @default no workflow is ever paused */
  readonly workflowPauses?: WorkflowPauses;
  /** @default no workflow has a lane */
  readonly lanes?: Lanes;
  /** @default there are no bulk actions */
  readonly bulks?: Bulks;
  /** @default no breaker ever opens */
  readonly breakers?: Breakers;
  /** @default no agent has a rate */
  readonly rates?: Rates;
  /** @default any input is accepted for a child; its agents are the first to check */
  readonly childInputs?: ChildInputs;
  /** @default as many callers wait for an end as like */
  readonly waits?: Waits;
  /** Without `waits`: since when each of this process waits, by its id. @default they are not counted */
  readonly waitsHere?: Map<string, number>;
  /** @default an end is found by reading again and again */
  readonly ends?: Ends;
  /** @default none is called: the next tick sees what is due. A supervisor has none. */
  readonly wakeUps?: WakeUps;
  readonly announcer: Announcer;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}
