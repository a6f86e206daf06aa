/** A binary heap of items by due time; items with equal times keep the order in which they were pushed. */

interface Entry<T> {
  readonly at: number;
  readonly order: number;
  readonly item: T;
}

export class DueHeap<T> {
  readonly #entries: Entry<T>[] = [];
  #pushed = 0;

  push(at: number, item: T): void {
    this.#pushed += 1;
    const entry: Entry<T> = { at, order: this.#pushed, item };
    const entries = this.#entries;
    let index = entries.length;
    entries.push(entry);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = entries[parentIndex];
      if (parent === undefined || !isBefore(entry, parent)) break;
      entries[index] = parent;
      index = parentIndex;
    }
    entries[index] = entry;
  }

  peek(): { readonly at: number; readonly item: T } | undefined {
    return this.#entries[0];
  }

  pop(): void {
    const entries = this.#entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      const left = entries[childIndex];
      const right = entries[childIndex + 1];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) childIndex += 1;
      const child = entries[childIndex];
      if (child === undefined || !isBefore(child, last)) break;
      entries[index] = child;
      index = childIndex;
    }
    entries[index] = last;
  }
}

function isBefore<T>(left: Entry<T>, right: Entry<T>): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}
