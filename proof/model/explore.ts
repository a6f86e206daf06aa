/**
 * Searches all reachable states breadth first, so that the first trace to a violation is a shortest one.
 *
 * Owns: the set of states, the bound, traces, and the backward search for states from which no end can be
 * reached without a fault. Does not own: the possible moves (`machine`).
 */

import type { Explorable } from './machine.ts';

export interface Found {
  readonly problems: readonly string[];
  readonly trace: readonly string[];
}

export interface Explored {
  readonly states: number;
  readonly edges: number;
  /** Whether every reachable state was visited. */
  readonly closed: boolean;
  readonly violations: number;
  /** The number of states from which no end can be reached without a further fault. */
  readonly stuck: number;
  /** Goals of the run that no state meets. */
  readonly unreached: readonly string[];
  readonly first?: Found;
}

export interface Limits {
  readonly maxStates: number;
  /** Whether to stop at the first violation. */
  readonly firstOnly: boolean;
}

/** A growing list of whole numbers. */
class Numbers {
  #items = new Int32Array(1 << 12);
  length = 0;

  push(value: number): void {
    if (this.length === this.#items.length) {
      const more = new Int32Array(this.length * 2);
      more.set(this.#items);
      this.#items = more;
    }
    this.#items[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#items[index] as number;
  }
}

export function explore<State>(machine: Explorable<State>, limits: Limits): Explored {
  const ids = new Map<string, number>();
  const states: string[] = [];
  const parents = new Numbers();
  const ends = new Numbers();
  const healthy = { from: new Numbers(), to: new Numbers() };
  let [edges, violations, closed] = [0, 0, true];
  let first: Found | undefined;
  const visit = (text: string, parent: number): number => {
    const known = ids.get(text);
    if (known !== undefined) return known;
    const id = states.length;
    ids.set(text, id);
    states.push(text);
    parents.push(parent);
    return id;
  };
  const goals = new Set(machine.goals);
  visit(machine.encode(machine.first()), -1);
  for (let at = 0; at < states.length; at += 1) {
    if (states.length > limits.maxStates || (violations > 0 && limits.firstOnly)) {
      closed = false;
      break;
    }
    const world = machine.decode(states[at] as string);
    if (machine.isEnd(world)) ends.push(at);
    for (const goal of machine.goalsAt(world, goals)) goals.delete(goal);
    machine.expand(world, (next, label, fault, problems) => {
      const text = machine.encode(next);
      if (problems.length > 0) {
        violations += 1;
        first ??= { problems, trace: [...traceTo(machine, states, parents, at), label] };
        return;
      }
      if (text === states[at]) return;
      edges += 1;
      const id = visit(text, at);
      if (fault) return;
      healthy.from.push(at);
      healthy.to.push(id);
    });
  }
  const lost = closed ? stuckStates(states.length, healthy, ends) : [];
  const stuckAt = lost[0];
  if (stuckAt !== undefined && first === undefined) {
    first = {
      problems: ['L1 no end can be reached from here'],
      trace: traceTo(machine, states, parents, stuckAt),
    };
  }
  const counts = { states: states.length, edges, violations, stuck: lost.length };
  return { ...counts, closed, unreached: [...goals], ...(first && { first }) };
}

/** The labels on the path to a state, found by expanding the states on it again. */
function traceTo<State>(
  machine: Explorable<State>,
  states: readonly string[],
  parents: Numbers,
  target: number,
): string[] {
  const labels: string[] = [];
  for (let at = target; parents.at(at) >= 0; at = parents.at(at)) {
    const wanted = states[at] as string;
    let label = '?';
    machine.expand(machine.decode(states[parents.at(at)] as string), (next, text) => {
      if (label === '?' && machine.encode(machine.copy(next)) === wanted) label = text;
    });
    labels.push(label);
  }
  return labels.toReversed();
}

/** Finds the states that reach no end, by a search backwards from the ends. */
function stuckStates(count: number, edges: { from: Numbers; to: Numbers }, ends: Numbers): number[] {
  const starts = new Int32Array(count + 1);
  for (let at = 0; at < edges.to.length; at += 1) {
    const to = edges.to.at(at) + 1;
    starts[to] = (starts[to] as number) + 1;
  }
  for (let at = 0; at < count; at += 1) starts[at + 1] = (starts[at + 1] as number) + (starts[at] as number);
  const filled = starts.slice();
  const sources = new Int32Array(edges.to.length);
  for (let at = 0; at < edges.to.length; at += 1) {
    const to = edges.to.at(at);
    const slot = filled[to] as number;
    sources[slot] = edges.from.at(at);
    filled[to] = slot + 1;
  }
  const good = new Uint8Array(count);
  const queue: number[] = [];
  const reach = (id: number): void => {
    if (good[id] === 1) return;
    good[id] = 1;
    queue.push(id);
  };
  for (let at = 0; at < ends.length; at += 1) reach(ends.at(at));
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (let slot = starts[id] as number; slot < (starts[id + 1] as number); slot += 1)
      reach(sources[slot] as number);
  }
  const lost: number[] = [];
  for (let id = 0; id < count; id += 1) if (good[id] === 0) lost.push(id);
  return lost;
}
