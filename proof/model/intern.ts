/**
 * Maps values to small numbers, equal values to the same number, so that a state of the model is a short
 * text.
 */

import { canonicalJson, type Json } from '../../lib/core/values/json.ts';

/** A number must fit into one UTF-16 code unit of an encoded state. */
const MAX_IDS = 65_536;

export class Interner<Value> {
  readonly #ids = new Map<string, number>();
  readonly #values: Value[] = [];
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  idOf(value: Value): number {
    const key = canonicalJson(value as unknown as Json);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#values.length;
    if (id >= MAX_IDS) throw new Error(`more than ${MAX_IDS} different values: ${this.#kind}`);
    this.#ids.set(key, id);
    this.#values.push(value);
    return id;
  }

  at(id: number): Value {
    return this.#values[id] as Value;
  }

  get size(): number {
    return this.#values.length;
  }
}

/** Caches the answers of a pure function. */
export class Memo<Value> {
  readonly #known = new Map<string, Value>();

  get(key: string, compute: () => Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = compute();
    this.#known.set(key, value);
    return value;
  }
}
