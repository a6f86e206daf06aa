/**
 * Owns: which of the waiting messages of several groups is next: one of the group with the fewest under work,
 * and of several such groups the one that has waited longest. A message without a group counts as a group of
 * its own, as on SQS.
 *
 * SQS takes a group for noisy only from 30 messages in flight, and a tenth of all
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html).
 * One machine works on fewer at a time, so here the rule holds from the first.
 */

interface Waiting<T> {
  readonly item: T;
  readonly order: number;
}

/** Those without a group wait in one line, since none of them has another under work. */
const NO_GROUP = '';

export class FairLine<T> {
  readonly #groups = new Map<string, Map<string, Waiting<T>>>();
  readonly #underWork = new Map<string, number>();
  #added = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(id: string, item: T, group: string = NO_GROUP): void {
    const own = this.#groups.get(group) ?? new Map<string, Waiting<T>>();
    this.#groups.set(group, own);
    if (!own.has(id)) this.#size += 1;
    this.#added += 1;
    own.set(id, { item, order: this.#added });
  }

  remove(id: string, group: string = NO_GROUP): void {
    const own = this.#groups.get(group);
    if (own?.delete(id) === true) this.#size -= 1;
    if (own?.size === 0) this.#groups.delete(group);
  }

  /** The next one; it stays until it is removed. */
  next(): T | undefined {
    let best: { readonly waiting: Waiting<T>; readonly underWork: number } | undefined;
    for (const [group, own] of this.#groups) {
      const [waiting] = own.values();
      if (waiting === undefined) continue;
      const underWork = this.#underWork.get(group) ?? 0;
      const isBetter =
        best === undefined ||
        underWork < best.underWork ||
        (underWork === best.underWork && waiting.order < best.waiting.order);
      if (isBetter) best = { waiting, underWork };
    }
    return best?.waiting.item;
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
  }
}
