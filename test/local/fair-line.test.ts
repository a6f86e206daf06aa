/**
 * The fair line chooses the next message by its rule, in random orders, even with as many groups as messages.
 */

import * as fc from 'fast-check';
import { FairLine } from '../../local/sqs/fair-line.ts';

interface Waiting {
  readonly id: string;
  readonly group: string;
}

/** A simple implementation of the rule, which searches all waiting messages. */
class Naive {
  #waiting: Waiting[] = [];
  readonly underWork: Waiting[] = [];

  add(one: Waiting): void {
    this.remove(one.id);
    this.#waiting.push(one);
  }

  remove(id: string): void {
    this.#waiting = this.#waiting.filter((one) => one.id !== id);
  }

  next(): string | undefined {
    const count = ({ group }: Waiting): number =>
      group === '' ? 0 : this.underWork.filter((one) => one.group === group).length;
    const fewest = Math.min(...this.#waiting.map(count));
    return this.#waiting.find((one) => count(one) === fewest)?.id;
  }
}

const acts = fc.array(
  fc.record({
    act: fc.constantFrom('add', 'add', 'take', 'take', 'end', 'remove'),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    group: fc.constantFrom('', 'x', 'y', 'z'),
  }),
  { maxLength: 60 },
);

it('is one of the group with the fewest under work, of several the one that has waited longest', () => {
  fc.assert(
    fc.property(acts, (all) => {
      const line = new FairLine<string>();
      const naive = new Naive();
      const groupOf = new Map<string, string>();
      for (const { act, id, group: wanted } of all) {
        const group = groupOf.get(id) ?? wanted;
        if (act === 'add' && !naive.underWork.some((one) => one.id === id)) {
          groupOf.set(id, group);
          line.add(id, id, group);
          naive.add({ id, group });
        } else if (act === 'remove') {
          line.remove(id, group);
          naive.remove(id);
        } else if (act === 'take') {
          const next = line.next();
          expect(next).toBe(naive.next());
          if (next === undefined) continue;
          const its = groupOf.get(next) ?? '';
          line.remove(next, its);
          line.began(its);
          naive.remove(next);
          naive.underWork.push({ id: next, group: its });
        } else if (act === 'end') {
          const over = naive.underWork.shift();
          if (over !== undefined) line.ended(over.group);
        }
      }
    }),
    { numRuns: 300 },
  );
});

it('does not search all groups for each message', () => {
  const line = new FairLine<number>();
  const many = 100_000;
  for (let at = 0; at < many; at += 1) line.add(String(at), at, `group-${at}`);
  for (let at = 0; at < many; at += 1) {
    if (line.next() !== at) throw new Error(`not ${at}`);
    line.remove(String(at), `group-${at}`);
    line.began(`group-${at}`);
    line.ended(`group-${at}`);
  }
  expect(line.size).toBe(0);
});
