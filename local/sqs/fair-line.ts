/**
 * Owns: which of the waiting messages of several groups is next: one of the group with the fewest under work,
 * and of several such groups the one that has waited longest. A message without a group counts as a group of
 * its own, as on SQS.
 *
 * SQS takes a group for noisy only from 30 messages in flight, and a tenth of all
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html).
 * One machine works on fewer at a time, so here the rule holds from the first.
 */

import { DueHeap } from './due-heap.ts';

interface Waiting<T> {
  readonly item: T;
  readonly order: number;
}

/** The line of messages without a group: none of them has another one under work. */
const NO_GROUP = '';

export class FairLine<T> {
  readonly #groups = new Map<string, Map<string, Waiting<T>>>();
  readonly #underWork = new Map<string, number>();
  /**
   * Groups with none under work, by the order of their first message: there may be as many as messages, so no
   * message is looked for among all. An entry that the group has outlived is skipped.
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

  /** The next one; it stays until it is removed. */
  next(): T | undefined {
    for (let top = this.#idle.peek(); top !== undefined; top = this.#idle.peek()) {
      const first = this.#firstOf(top.item);
      if (first?.order === top.at && !this.#underWork.has(top.item)) return first.item;
      this.#idle.pop();
      if (this.#offered.get(top.item) === top.at) this.#offered.delete(top.item);
    }
    return this.#nextOfBusy();
  }

  /** Every group has one under work, so there are no more of them than messages under work. */
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

  /** One of the group is under work. */
  began(group: string = NO_GROUP): void {
    if (group !== NO_GROUP) this.#underWork.set(group, (this.#underWork.get(group) ?? 0) + 1);
  }

  /** It is no more. */
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
