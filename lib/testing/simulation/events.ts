/**
 * Virtual time: a heap of things that will happen.
 *
 * Owns: their order (by time, then by the order in which they were planned: repeatable). Does not own: what they do.
 */

interface Planned {
  readonly at: number;
  readonly seq: number;
  readonly run: () => void;
}

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

  plan(afterMs: number, run: () => void): void {
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

  /** Moves time to the next thing and does it. @returns false when there is nothing left */
  step(): boolean {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined) return false;
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
    this.now = Math.max(this.now, first.at);
    first.run();
    return true;
  }
}

const before = (a: Planned, b: Planned): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq);
