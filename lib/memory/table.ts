/**
 * The state table in memory: synchronous, under the conditions and with the index of the real one.
 *
 * Owns: the records, the conditional write, the wake index (sorted, open executions only), pages and their
 * cursors. Does not own: time, faults, promises (`world.ts`, `simulation/process.ts`).
 *
 * Records and snapshots are never changed in place, so the table stores and returns the same objects, without
 * copies.
 */

import type { Plan } from '../core/plan/plan.ts';
import { type Bounded, MOST_OPEN, type Survey } from '../core/operators/list-filter.ts';
import type { Due, InboxItem, ListedPage, ListQuery, Page, WriteResult } from '../core/ports.ts';
import type { Write } from '../core/decisions/decision.ts';
import { type Question, questionKey, type InboxKey } from '../core/records/question.ts';
import { defined } from '../core/values/defined.ts';
import { isLeftover, isOfEarlierLife } from '../core/records/retention.ts';
import { type Snapshot, openQuestions, withQuestion } from '../core/records/snapshot.ts';
import type { SentMessage } from '../core/records/mailbox.ts';
import type { Execution, Step } from '../core/records/state.ts';
import { type Beside, besideOf, type Found, recordOf, type Removable } from '../core/supervision/audit.ts';
import { MailboxTable } from './mailboxes.ts';
import { openQuestionsIn, listIn, parseCount, parsePlace, surveyIn } from './lists.ts';

export class MemoryTable {
  #shards: number;
  readonly mailboxes = new MailboxTable();
  readonly #tie: (executionId: string) => string;
  readonly #mostOpen: number;
  readonly #plans = new Map<string, Plan>();
  readonly #executions = new Map<string, Snapshot>();
  /** The open executions of each shard, earliest wake time first. */
  readonly #due: Due[][];
  /** The shard that contains an execution's wake time. */
  readonly #places = new Map<string, number>();
  /** Records beside executions, where the execution itself has expired. */
  readonly #left = new Map<string, Beside[]>();
  #open = 0;

  /**
   * @param tie the order of executions that started at the same time; an index of DynamoDB does not order
   * them by their ids
   */
  constructor(shards = 1, tie: (executionId: string) => string = scattered, mostOpen: number = MOST_OPEN) {
    this.#shards = shards;
    this.#tie = tie;
    this.#mostOpen = mostOpen;
    this.#due = Array.from({ length: shards }, () => []);
  }

  /** The number of executions with a wake time. */
  get open(): number {
    return this.#open;
  }

  /** Ids of all executions, in the order in which they were created. */
  ids(): IterableIterator<string> {
    return this.#executions.keys();
  }

  writePlan(hash: string, plan: Plan): void {
    if (!this.#plans.has(hash)) this.#plans.set(hash, plan);
  }

  readPlan(hash: string): Plan | undefined {
    return this.#plans.get(hash);
  }

  create(execution: Execution, first?: SentMessage): Execution | 'written' {
    const existing = this.#executions.get(execution.id)?.execution;
    if (existing !== undefined) {
      if (existing.writeId === execution.writeId) return 'written';
      if (!isOfEarlierLife(existing, execution.parent)) return existing;
      this.expire(execution.id);
    }
    if (first !== undefined) this.mailboxes.accept(first.mailbox, first.message);
    this.#executions.set(execution.id, this.#born(execution));
    this.#wake(execution, undefined, execution.wakeAt);
    return 'written';
  }

  read(executionId: string): Snapshot | undefined {
    return this.#executions.get(executionId);
  }

  readSteps(executionId: string, names: readonly string[]): Snapshot | undefined {
    const all = this.#executions.get(executionId);
    if (all === undefined) return undefined;
    const steps = names.flatMap((name) => (all.steps[name] === undefined ? [] : [[name, all.steps[name]]]));
    return {
      execution: all.execution,
      steps: Object.fromEntries(steps) as Snapshot['steps'],
      isReadInPart: true,
    };
  }

  write({ executionId, execution, step, question, taken }: Write): WriteResult {
    const before = this.#executions.get(executionId);
    const isOther = (record: Step | Question | undefined): boolean =>
      record !== undefined && before !== undefined && isLeftover(record, before.execution);
    if (before === undefined || isOther(step) || isOther(question))
      return execution === undefined
        ? this.#writeBeside(executionId, besidesIn(executionId, { step, question }))
        : 'conflict';
    if (execution !== undefined && !follows(execution, before.execution)) return 'conflict';
    if (step !== undefined && !follows(step, before.steps[step.name])) return 'conflict';
    if (question !== undefined && !follows(question, before.questions?.[questionKey(question)]))
      return 'conflict';
    if (taken !== undefined && !this.mailboxes.canTake(taken)) return 'conflict';
    if (taken !== undefined) this.mailboxes.take(taken);
    const steps = step === undefined ? before.steps : { ...before.steps, [step.name]: step };
    const { questions } = withQuestion(before, question);
    const after = { execution: execution ?? before.execution, steps, ...defined({ questions }) };
    this.#executions.set(executionId, after);
    if (this.#left.size > 0) this.#replaceLeft(executionId, besidesIn(executionId, { step, question }));
    if (execution !== undefined) this.#wake(execution, before.execution.wakeAt, execution.wakeAt);
    return 'written';
  }

  /** @param shown the index's entries, if they differ from the table */
  due(shard: number, untilAt: number, cursor?: string, limit = DUE_PAGE, shown?: readonly Due[]): Page<Due> {
    const sent = this.mailboxes.due().filter((one) => this.shardOf(one.executionId) === shard);
    const own = shown ?? this.#due[shard] ?? [];
    const all = sent.length > 0 || shown !== undefined ? [...own, ...sent].sort(byPlace) : own;
    const from = cursor === undefined ? 0 : placeIn(all, ...parsePlace(cursor), true);
    let to = from;
    while (to < all.length && to - from < limit && (all[to] as Due).wakeAt <= untilAt) to += 1;
    const items = all.slice(from, to);
    const last = items.at(-1);
    const more = last !== undefined && to < all.length && (all[to] as Due).wakeAt <= untilAt;
    return more ? { items, cursor: `${last.wakeAt}.${last.executionId}` } : { items };
  }

  /** The entries of the indexes: here, the same as in the table. */
  protected indexed(): Iterable<Snapshot> {
    return this.#executions.values();
  }

  list(query: ListQuery): ListedPage {
    return listIn(this.indexed(), query, { tie: this.#tie, mostOpen: this.#mostOpen });
  }

  survey(endedSince: number, workflows: readonly string[], latelySince?: number): Survey {
    return surveyIn(this.indexed(), { endedSince, workflows, latelySince }, this.#mostOpen);
  }

  openQuestions(below?: string): Bounded<InboxKey> {
    return openQuestionsIn(this.#executions.values(), this.#mostOpen, below);
  }

  inbox(limit: number, cursor?: string): Page<InboxItem> {
    const all = [...this.indexed()]
      .flatMap((state): InboxItem[] =>
        openQuestions(state).map((question) => ({ executionId: state.execution.id, question })),
      )
      .sort(
        (a, b) => a.question.deadlineAt - b.question.deadlineAt || (a.executionId < b.executionId ? -1 : 1),
      );
    const from = cursor === undefined ? 0 : parseCount(cursor);
    const items = all.slice(from, from + limit);
    return from + limit < all.length ? { items, cursor: String(from + limit) } : { items };
  }

  get shards(): number {
    return this.#shards;
  }

  /** Sets another number of shards, as a deployment does. Entries of the index stay where they are. */
  reshard(shards: number): void {
    this.#shards = shards;
    while (this.#due.length < shards) this.#due.push([]);
  }

  /** Removes the record of the execution as if it had expired; the records beside it stay. */
  expire(executionId: string): void {
    const before = this.#executions.get(executionId);
    if (before === undefined) return;
    const beside = this.#besides(executionId);
    this.#wake(before.execution, before.execution.wakeAt, undefined);
    this.#executions.delete(executionId);
    this.#left.set(executionId, beside);
  }

  /** Returns all records, each execution's own before those beside it. */
  found(): Found[] {
    const sent = this.mailboxes.found().map(({ executionId }) => executionId);
    const ids = [...new Set([...this.#executions.keys(), ...this.#left.keys(), ...sent])].sort();
    return ids.flatMap((executionId) => this.recordsOf(executionId));
  }

  /** Returns the records of one id, from all its lives. */
  recordsOf(executionId: string): Found[] {
    const execution = this.#executions.get(executionId)?.execution;
    const own: Found[] =
      execution === undefined ? [] : [{ kind: 'execution', execution, wake: this.#placeOf(execution) }];
    return [...own, ...this.#besides(executionId), ...this.mailboxes.found(executionId)];
  }

  remove(found: Removable): 'removed' | 'conflict' {
    // Lanes are not in this table.
    if (found.kind === 'queued') return 'conflict';
    const { writeId } = recordOf(found);
    if (found.kind === 'execution') {
      if (this.#executions.get(found.execution.id)?.execution.writeId !== writeId) return 'conflict';
      this.expire(found.execution.id);
      return 'removed';
    }
    if (found.kind === 'mail') return this.mailboxes.remove(found);
    // An input is part of its execution's record here.
    if (found.kind === 'input') return 'conflict';
    const { executionId } = found;
    const stored = this.#besides(executionId).find((one) => isSame(one, found));
    if (stored === undefined || besideOf(stored).writeId !== writeId) return 'conflict';
    const rest = (this.#left.get(executionId) ?? []).filter((one) => !isSame(one, found));
    if (rest.length === 0) this.#left.delete(executionId);
    else this.#left.set(executionId, rest);
    const owner = this.#executions.get(executionId);
    if (owner !== undefined) this.#executions.set(executionId, without(owner, found));
    return 'removed';
  }

  /** Returns the records beside an execution, from this life of its id or an earlier one. */
  #besides(executionId: string): Beside[] {
    const { steps = {}, questions = {} } = this.#executions.get(executionId) ?? {};
    return [
      ...Object.values(questions).map((question) => ({ kind: 'question', executionId, question }) as const),
      ...Object.values(steps).map((step) => ({ kind: 'step', executionId, step }) as const),
      ...(this.#left.get(executionId) ?? []),
    ];
  }

  #placeOf(execution: Execution): 'none' | 'unswept' | 'swept' {
    if (execution.wakeAt === undefined) return 'none';
    return (this.#places.get(execution.id) ?? 0) < this.#shards ? 'swept' : 'unswept';
  }

  /** Makes a new execution's snapshot. Records of its own life that exist already stay beside it. */
  #born(execution: Execution): Snapshot {
    const left = this.#left.get(execution.id) ?? [];
    const own = left.filter((one) => !isLeftover(besideOf(one), execution));
    if (left.length > 0) {
      const rest = left.filter((one) => !own.includes(one));
      if (rest.length === 0) this.#left.delete(execution.id);
      else this.#left.set(execution.id, rest);
    }
    const steps = own.flatMap((one) => (one.kind === 'step' ? [[one.step.name, one.step]] : []));
    const questions = own.flatMap((one) =>
      one.kind === 'question' ? [[questionKey(one.question), one.question]] : [],
    );
    return {
      execution,
      steps: Object.fromEntries(steps) as Snapshot['steps'],
      ...(questions.length === 0
        ? {}
        : { questions: Object.fromEntries(questions) as NonNullable<Snapshot['questions']> }),
    };
  }

  /**
   * Writes records that belong to no execution, or to another life than the stored one's: each has only its
   * own condition.
   */
  #writeBeside(executionId: string, records: readonly Beside[]): WriteResult {
    const known = this.#besides(executionId);
    const storedOf = (one: Beside) => known.find((other) => isSame(one, other));
    const follow = records.every((one) => {
      const stored = storedOf(one);
      return follows(besideOf(one), stored && besideOf(stored));
    });
    if (!follow) return 'conflict';
    this.#replaceLeft(executionId, records);
    this.#left.set(executionId, [...(this.#left.get(executionId) ?? []), ...records]);
    return 'written';
  }

  /** Puts the written record in place of the one that an earlier life left. */
  #replaceLeft(executionId: string, written: readonly Beside[]): void {
    const left = this.#left.get(executionId) ?? [];
    const rest = left.filter((one) => !written.some((other) => isSame(one, other)));
    if (rest.length === 0) this.#left.delete(executionId);
    else this.#left.set(executionId, rest);
  }

  #wake(execution: Execution, was: number | undefined, is: number | undefined): void {
    const { id: executionId, fairGroup: group } = execution;
    const shard = this.shardOf(executionId);
    const from = this.#places.get(executionId);
    if (was === is && (is === undefined || from === shard)) return;
    if (was !== undefined && from !== undefined) {
      const all = this.#due[from] as Due[];
      all.splice(placeIn(all, was, executionId, false), 1);
    }
    if (is === undefined) this.#places.delete(executionId);
    else {
      const all = this.#due[shard] as Due[];
      all.splice(placeIn(all, is, executionId, false), 0, {
        executionId,
        wakeAt: is,
        ...defined({ group }),
      });
      this.#places.set(executionId, shard);
    }
    this.#open += (is === undefined ? 0 : 1) - (was === undefined ? 0 : 1);
  }

  protected shardOf(executionId: string): number {
    if (this.#shards === 1) return 0;
    return sumOf(executionId) % this.#shards;
  }
}

const besidesIn = (
  executionId: string,
  { step, question }: { [Kind in 'step' | 'question']: Write[Kind] | undefined },
): Beside[] => [
  ...(step === undefined ? [] : [{ kind: 'step', executionId, step } as const]),
  ...(question === undefined ? [] : [{ kind: 'question', executionId, question } as const]),
];

const keyOf = (found: Beside): string =>
  found.kind === 'step' ? found.step.name : questionKey(found.question);

/** True if both have the same key. */
const isSame = (one: Beside, other: Beside): boolean =>
  one.kind === other.kind && keyOf(one) === keyOf(other);

function without(snapshot: Snapshot, found: Beside): Snapshot {
  if (found.kind === 'step') {
    const { [found.step.name]: _, ...steps } = snapshot.steps;
    return { ...snapshot, steps };
  }
  const { [keyOf(found)]: _, ...questions } = snapshot.questions ?? {};
  return { ...snapshot, questions };
}

interface Stored {
  readonly version: number;
  readonly writeId: string;
  readonly life: string;
}

/**
 * True if a record may replace the stored one: it is the next version of the same life, or repeats the same
 * write.
 */
const follows = (next: Stored, stored: Stored | undefined): boolean =>
  ((stored?.version ?? 0) === next.version - 1 && (stored?.life ?? next.life) === next.life) ||
  stored?.writeId === next.writeId;

const DUE_PAGE = 100;

/** Returns a key whose order does not follow from the ids. */
const scattered = (id: string): string => `${sumOf(id)}.${id}`;

function sumOf(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) % 1_000_003;
  return sum;
}

const compare = (at: number, id: string, otherAt: number, otherId: string): number =>
  at - otherAt || (id < otherId ? -1 : Number(id > otherId));

const byPlace = (one: Due, other: Due): number =>
  compare(one.wakeAt, one.executionId, other.wakeAt, other.executionId);

/**
 * Returns the index at which an item is or belongs in a sorted list. @param past true for the index after the
 * item
 */
function placeIn(all: readonly Due[], at: number, id: string, past: boolean): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = all[middle] as Due;
    const order = compare(item.wakeAt, item.executionId, at, id);
    if (order < 0 || (past && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
