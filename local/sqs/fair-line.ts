/**
 * Chooses the next waiting message: from the group with the fewest messages in flight, and among such groups
 * the one that has waited longest. A message without a group counts as its own group, as on SQS.
 *
 * On SQS a group counts as noisy from 30 messages in flight, and a tenth of all
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html).
 * One machine has fewer messages in flight, so here the rule applies from the first.
 */

import { DueHeap } from './due-heap.ts';

interface Waiting<T> {
  readonly item: T;
  readonly order: number;
}

/** The line of all messages without a group. It never counts messages in flight. */
const NO_GROUP = '';

export class FairLine<T> {
  readonly #groups = new Map<string, Map<string, Waiting<T>>>();
  readonly #underWork = new Map<string, number>();
  /**
   * Groups with no message in flight, in the order of their first message. A heap, because there may be as
   * many groups as messages. Outdated entries are skipped.
   */
  readonly #idle = new DueHeap<string>();
  /** The entry of each group that is in the heap. */
  readonly #offered = new Map<string, number>();
  #added = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(id: string, item: T, group: string = NO_GROUP): void {
    const own = this.#groups.get(group) ?? new Map<string, Waiting<T>>();
    this.#groups.set(group, own);
    if (!own.delete(id)) this.#size += 1;
    this.#added += 1;
    own.set(id, { item, order: this.#added });
    this.#offer(group);
  }

  remove(id: string, group: string = NO_GROUP): void {
    const own = this.#groups.get(group);
    if (own?.delete(id) === true) this.#size -= 1;
    if (own?.size === 0) this.#groups.delete(group);
    this.#offer(group);
  }

  /** The next message; it stays until it is removed. */
  next(): T | undefined {
    for (let top = this.#idle.peek(); top !== undefined; top = this.#idle.peek()) {
      const first = this.#firstOf(top.item);
      if (first?.order === top.at && !this.#underWork.has(top.item)) return first.item;
      this.#idle.pop();
      if (this.#offered.get(top.item) === top.at) this.#offered.delete(top.item);
    }
    return this.#nextOfBusy();
  }

  /** Searches the groups with messages in flight; there are at most as many as messages in flight. */
  #nextOfBusy(): T | undefined {
    let best: { readonly first: Waiting<T>; readonly underWork: number } | undefined;
    for (const group of this.#groups.keys()) {
      const first = this.#firstOf(group);
      const underWork = this.#underWork.get(group) ?? 0;
      if (first === undefined) continue;
      const isBetter =
        best === undefined ||
        underWork < best.underWork ||
        (underWork === best.underWork && first.order < best.first.order);
      if (isBetter) best = { first, underWork };
    }
    return best?.first.item;
  }

  /** Counts a message of the group whose processing has begun. */
  began(group: string = NO_GROUP): void {
    if (group !== NO_GROUP) this.#underWork.set(group, (this.#underWork.get(group) ?? 0) + 1);
  }

  /** Counts a message of the group whose processing has ended. */
  ended(group: string = NO_GROUP): void {
    const rest = (this.#underWork.get(group) ?? 0) - 1;
    if (rest > 0) this.#underWork.set(group, rest);
    else this.#underWork.delete(group);
    this.#offer(group);
  }

  #firstOf(group: string): Waiting<T> | undefined {
    return this.#groups.get(group)?.values().next().value;
  }

  #offer(group: string): void {
    const first = this.#underWork.has(group) ? undefined : this.#firstOf(group);
    if (first === undefined || this.#offered.get(group) === first.order) return;
    this.#offered.set(group, first.order);
    this.#idle.push(first.order, group);
  }
}
