/**
 * Virtual time: a heap of future events.
 *
 * Owns: their order: by time, then by the order of planning, so that it is reproducible. Does not own: what
 * they do.
 */

interface Planned {
  readonly at: number;
  readonly seq: number;
  readonly run: Happening;
}

/** @returns false if it resolved no promise */
export type Happening = () => unknown;

export class EventQueue {
  #heap: Planned[] = [];
  #seq = 0;
  now: number;

  constructor(now: number) {
    this.now = now;
  }

  get size(): number {
    return this.#heap.length;
  }

  nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  plan(afterMs: number, run: Happening): void {
    const item = { at: this.now + Math.max(0, afterMs), seq: this.#seq, run };
    this.#seq += 1;
    const heap = this.#heap;
    heap.push(item);
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(item, heap[parent] as Planned)) break;
      heap[at] = heap[parent] as Planned;
      at = parent;
    }
    heap[at] = item;
  }

  /**
   * Advances to the next event and runs it, and further ones until one has an effect.
   * @returns false if no event is left
   */
  step(): boolean {
    for (;;) {
      const first = this.#take();
      if (first === undefined) return false;
      this.now = Math.max(this.now, first.at);
      if (first.run() !== false) return true;
    }
  }

  #take(): Planned | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined) return undefined;
    const last = heap.pop() as Planned;
    if (heap.length > 0) {
      let at = 0;
      for (;;) {
        let child = at * 2 + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && before(heap[child + 1] as Planned, heap[child] as Planned)) child += 1;
        if (!before(heap[child] as Planned, last)) break;
        heap[at] = heap[child] as Planned;
        at = child;
      }
      heap[at] = last;
    }
    return first;
  }
}

const before = (a: Planned, b: Planned): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq);
