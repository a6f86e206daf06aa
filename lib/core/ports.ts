/**
 * The outside world as the roles see it, implemented on AWS (`lib/aws`) and in memory (`lib/memory`); one
 * contract suite tests both.
 */

import type { AbortSignalLike } from './plan/agent.ts';
import type { Bulk, BulkPage, BulkPageResult } from './operators/bulk.ts';
import type { Bounded, ListFilter, ListOrder, Survey } from './operators/list-filter.ts';
import type { Plan } from './plan/plan.ts';
import type { Lane, Queued } from './records/lane.ts';
import type { Note, NoteOrigin, Send, Write } from './decisions/decision.ts';
import type { Question, InboxKey } from './records/question.ts';
import type { Away } from './values/away.ts';
import type { IssuesInParts } from './values/issues.ts';
import type { Json } from './values/json.ts';
import type { News } from './decisions/news.ts';
import type { ExecutionMessage, Mailbox, SentMessage } from './records/mailbox.ts';
import type { OpenWaits } from './records/open-waits.ts';
import type { AuditReceipt, ReleaseReceipt, ShardReceipt } from './records/receipts.ts';
import type { Snapshot } from './records/snapshot.ts';
import type { Execution } from './records/state.ts';
import type { WorkflowPause } from './holds/workflow-pause.ts';
import type { Breaker } from './step/breaker.ts';
import type { ConnectionTrouble, StorageTrouble } from './values/server-troubles.ts';
import type { WorkerTroubles } from './records/worker-ends.ts';
import type { AgentRate } from './records/slots.ts';
import type { Found, Removable } from './supervision/audit.ts';
import type { Presence } from './supervision/presence.ts';

/** A lost race is a value. `conflict`: a record was not one version behind, and nothing was written. */
export type WriteResult = 'written' | 'conflict';

export interface Due {
  readonly executionId: string;
  readonly wakeAt: number;
  /** The hash of its group (`fairBy`). */
  readonly group?: string;
  /** Set if the execution is due because of the wake time of its mailbox, which belongs to this life. */
  readonly mailbox?: true;
  readonly life?: string;
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
 * The only truth. Reads of one execution are strongly consistent; `due` and `list` may lag and are only
 * hints. Every method may reject if the store is away or answers ambiguously: the caller then knows nothing.
 */
export interface Store {
  /** Puts the plan unless it exists already; a plan is addressed by its content, so both are the same. */
  readonly writePlan: (hash: string, plan: Plan) => Promise<void>;
  readonly readPlan: (hash: string) => Promise<Plan | undefined>;
  /**
   * Writes a new execution, or returns the existing one, unless that is of an earlier life of its parent.
   * @param isNewId a hint: the id was made for this start, so an existing one is unlikely. @default false
   * @param first its first message: both are written, or none
   */
  readonly create: (
    execution: Execution,
    isNewId?: boolean,
    first?: SentMessage,
  ) => Promise<Execution | 'written'>;
  readonly read: (executionId: string) => Promise<Snapshot | undefined>;
  /**
   * The records of these steps, and after them the execution's: enough for a claim in a long execution. No
   * incident is read, and the answer says that it is a part. @default everything is read
   * @param withInput also reads an input beside the record, which is otherwise `null`. @default true
   */
  readonly readSteps?: (
    executionId: string,
    steps: readonly string[],
    withInput?: boolean,
  ) => Promise<Snapshot | undefined>;
  readonly readExecution: (executionId: string) => Promise<Execution | undefined>;
  /**
   * Writes each record if the stored one is one version behind (version 1: if there is none). If an ambiguous
   * answer hid our own write, its write id identifies it, and it counts as written.
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
   * All open questions according to their index: seconds old, and up to a bound.
   * @param below only those of executions that this one's steps run
   */
  readonly openQuestions: (below?: string) => Promise<Bounded<InboxKey>>;
  /**
   * The executions that match the filter, in its order. Reading is bounded: if few match, a page may be short
   * and still have a cursor.
   * @throws SteadfastError `bad-cursor`
   */
  readonly list: (query: ListQuery) => Promise<ListedPage>;
  /**
   * All counts: open executions, open questions, and bad ends since a time. They may be seconds old.
   * @param workflows whose starts since then are counted, if any execution has ended badly
   * @param latelySince the time from which starts are counted by workflow. @default that of the bad ends
   */
  readonly survey: (
    endedSince: number,
    workflows: readonly string[],
    latelySince?: number,
  ) => Promise<Survey>;
}

/** One of `of` parts of the table, numbered from 0. All records of an execution stay in one. */
export interface Segment {
  readonly index: number;
  readonly of: number;
}

/** The state table without its indexes: for the audit alone. */
export interface Inventory {
  /** A page of all records of executions in a segment, strongly read: an execution's own comes first. */
  readonly page: (segment: Segment, cursor?: string) => Promise<Page<Found>>;
  /** Removes the record if it is still the one that was found. */
  readonly remove: (found: Removable) => Promise<'removed' | 'conflict'>;
}

/** The receipts of supervisors and audit: beside the executions, which never need them. */
export interface Receipts {
  /** The receipts of the shards that have one, by number, the audit's, and the release's. */
  readonly read: () => Promise<{
    readonly shards: readonly ShardReceipt[];
    readonly audit?: AuditReceipt;
    readonly release?: ReleaseReceipt;
  }>;
  /** Writes if the stored one is one version behind (version 1: if there is none). */
  readonly write: (receipt: ShardReceipt | AuditReceipt | ReleaseReceipt) => Promise<WriteResult>;
}

/** The fields of every record beside the executions. */
export interface SideRecord {
  readonly version: number;
  readonly writeId: string;
}

/** Records beside the executions. No execution waits for one; each reader decides what its absence means. */
export interface SideRecords<Kept extends SideRecord, Key extends readonly unknown[] = []> {
  /** Strongly consistent. */
  readonly read: (...key: Key) => Promise<Kept | undefined>;
  /** Writes if the stored one is one version behind (version 1: if there is none). */
  readonly write: (record: Kept) => Promise<WriteResult>;
}

export type Breakers = SideRecords<Breaker, [agent: string]>;
/** Slots and turns of agents that have a rate. */
export type Rates = SideRecords<AgentRate, [agent: string]>;
/** Which workflows are paused. Every start reads it. */
export type WorkflowPauses = SideRecords<WorkflowPause, [workflow: string]>;
/** Lanes, by their keys, and the queue of each. */
export interface Lanes {
  /** SHA-256 of the text, in `[a-z0-9]`. */
  readonly hash: (text: string) => string;
  /** Strongly consistent. */
  readonly readLane: (lane: string) => Promise<Lane | undefined>;
  /** Writes if the stored one is one version behind, and of the same life. */
  readonly writeLane: (lane: Lane) => Promise<WriteResult>;
  /** Puts the entry; repeating this changes nothing. */
  readonly queue: (lane: string, queued: Queued) => Promise<void>;
  /** Strongly consistent, the next first. @param limit of a page */
  readonly queued: (lane: string, limit: number, cursor?: string) => Promise<Page<Queued>>;
  /** Removes the entry; a missing one is not an error. */
  readonly unqueue: (lane: string, queued: Queued) => Promise<void>;
}

/** Messages to executions, and their mailboxes. Reads are strongly consistent. */
export interface Mailboxes {
  readonly readMailbox: (executionId: string, life: string) => Promise<Mailbox | undefined>;
  readonly readMessage: (
    executionId: string,
    life: string,
    id: string,
  ) => Promise<ExecutionMessage | undefined>;
  /** Writes both if the mailbox is one version behind (1: there is none) and no message has this id. */
  readonly accept: (mailbox: Mailbox, message: ExecutionMessage) => Promise<WriteResult>;
  /** Writes the mailbox if the stored one is one version behind. */
  readonly writeMailbox: (mailbox: Mailbox) => Promise<WriteResult>;
}

/** Until when a supervisor is at work. */
export type Presences = SideRecords<Presence>;

/** Bulk actions, beside the executions. All is read strongly. */
export interface Bulks {
  readonly read: (bulk: string) => Promise<Bulk | undefined>;
  readonly readPage: (bulk: string, page: number) => Promise<BulkPage | undefined>;
  readonly readResult: (bulk: string, page: number) => Promise<BulkPageResult | undefined>;
  /** The results of all pages, in no order. */
  readonly readResults: (bulk: string) => Promise<readonly BulkPageResult[]>;
  /** Writes all or none of up to 100 records, each if the stored one is one version behind (1: none). */
  readonly write: (records: BulkWrite) => Promise<WriteResult>;
}

export interface BulkWrite {
  readonly bulk?: Bulk;
  readonly pages?: readonly BulkPage[];
  readonly result?: BulkPageResult;
}

/** Callers that each occupy a process of the API. If this cannot be read or written, no other may wait. */
export interface Waits extends SideRecords<OpenWaits> {
  /** How many may wait at the same time. @default DEFAULT_MOST_WAITS */
  readonly most?: number;
}

/** How a role calls a supervisor. */
export interface WakeUps extends Presences {
  /** Starts a supervisor that takes this presence over. The call may be lost, or start several. */
  readonly call: (presence: Presence) => Promise<void>;
  /** Until when a process with these ports need not read the presence; only in memory. */
  readonly known: { untilAt: number; asking?: Promise<void> };
}

/**
 * Values that are too large for a record, by key (`records/large-values.ts`). An object is put before the
 * record that names it, and no key is ever put twice.
 */
export interface LargeValues {
  /** SHA-256 of the text, in `[a-z0-9]`. */
  readonly hash: (json: string) => string;
  /** Values whose text has more bytes are stored here. @default LARGE_VALUE_BYTES */
  readonly above?: number;
  /** Resolves once every reader finds the object; rejects if that is not certain. */
  readonly put: (key: string, json: string) => Promise<void>;
  /** The text that was put; undefined only if there certainly is none. Rejects if it cannot be read now. */
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
  /** Removes them, except earlier versions, which may stay for a day; a missing one is not an error. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Removes every version of them at once. @default `remove` */
  readonly erase?: (keys: readonly string[]) => Promise<void>;
}

/** All that exists of one execution's id, of any life: only for an erasure. */
export interface Erasure extends Pick<Inventory, 'remove'> {
  /** All records, strongly read. */
  readonly recordsOf: (executionId: string) => Promise<readonly Found[]>;
  /** The longest that a write can be under way, repetitions included. @default 60 s */
  readonly writtenWithinMs?: number;
  /** @default there are none */
  readonly values?: LargeValueInventory;
}

/** About how many messages one agent's queue has. */
export interface QueueDepth {
  readonly waiting: number;
  /** Messages that an agent has taken and not yet acknowledged. */
  readonly underWork: number;
  /** Messages to be delivered later. */
  readonly delayed: number;
}

/** A queue of messages. A message may be lost, delivered several times, and in any order. */
export interface Queue {
  readonly send: (sends: readonly Send[]) => Promise<void>;
  /**
   * True if the agent has a queue; one that is not deployed has none. A supervisor and the API know every
   * deployed agent, an agent only those to which its own workflows send.
   * @default every agent has one
   */
  readonly reaches?: (agent: string) => boolean;
  /** By agent; an agent whose queue cannot be read is left out. */
  readonly depths?: (agents: readonly string[]) => Promise<Readonly<Record<string, QueueDepth>>>;
}

/** News that leaves the deployment. It rejects if the event bus does not accept it. */
export interface Announcer {
  readonly announce: (news: News) => Promise<void>;
}

export interface Clock {
  /** Epoch ms. */
  readonly now: () => number;
  /** How far it is ahead of the machine's clock, which was set back. @default it is the machine's */
  readonly aheadMs?: () => number;
  /** Resolves after `ms`, or at once if the signal is aborted; never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignalLike) => Promise<void>;
}

export interface RandomSource {
  /** Fresh and unguessable: tokens, write ids. */
  readonly id: () => string;
  /** In [0, 1). */
  readonly number: () => number;
}

export interface Log {
  readonly note: (note: Note, origin?: NoteOrigin) => void;
}

/** The schemas of workflows that other workflows' steps run; each process has those of its own bundle. */
export interface ChildInputs {
  /** Why the workflow with this very plan refuses the input; undefined if it does not, or is unknown here. */
  readonly problem: (plan: Plan, input: Json) => Promise<string | undefined>;
}

/** Wakes a caller that waits for an end, if the process in which it waits makes all announcements. */
export interface Ends {
  readonly of: (executionId: string) => AwaitedEnd;
}
export interface AwaitedEnd {
  /** Aborted when the end is announced. */
  readonly signal: AbortSignalLike;
  readonly release: () => void;
  /** Resolves when the caller may go on: all other work has its turn between thousands that wait. */
  readonly turn: () => Promise<void>;
}

export interface Ports {
  readonly store: Store;
  readonly queue: Queue;
  /** Why writes are not kept now; undefined while they are. @default it is unknown */
  readonly storageTrouble?: () => StorageTrouble | undefined;
  /** Connections that are refused now; undefined if none is. @default it is unknown */
  readonly connectionTrouble?: () => ConnectionTrouble | undefined;
  /** Recent periods in which no attempt could go on. @default none, as far as is known */
  readonly away?: () => readonly Away[];
  /** Recent damage that agents did to their processes. @default it is unknown, as on AWS */
  readonly workerTroubles?: () => WorkerTroubles;
  /** When the running code began to run. @default the receipts know when it was deployed, as on AWS */
  readonly startedAt?: number;
  /** @default every value is in its record, which bounds its size */
  readonly largeValues?: LargeValues;
  /** @default a long value is checked in one go: a function of AWS has one call at a time */
  readonly issuesInParts?: IssuesInParts;
  /** Only the role that answers callers has it. */
  readonly erasure?: Erasure;
  /** @default no workflow is ever paused */
  readonly workflowPauses?: WorkflowPauses;
  /** @default no workflow has a lane */
  readonly lanes?: Lanes;
  /** @default nothing can be sent to an execution */
  readonly mailboxes?: Mailboxes;
  /** @default there are no bulk actions */
  readonly bulks?: Bulks;
  /** @default no breaker ever opens */
  readonly breakers?: Breakers;
  /** @default no agent has a rate */
  readonly rates?: Rates;
  /** @default any input is accepted for a child; its agents are the first to check */
  readonly childInputs?: ChildInputs;
  /** @default any number of callers may wait for an end */
  readonly waits?: Waits;
  /** Without `waits`: since when each caller of this process waits. @default they are not counted */
  readonly waitsHere?: Map<string, number>;
  /** @default an end is found by repeated reads */
  readonly ends?: Ends;
  /** @default none is called: the next tick finds due executions. A supervisor's own ports have none. */
  readonly wakeUps?: WakeUps;
  readonly announcer: Announcer;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}
