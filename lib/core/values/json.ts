/**
 * JSON values and their one canonical text.
 *
 * Owns: the `Json` type, canonical serialisation (the input of every content hash), checking that a foreign
 * value is plain JSON of Unicode text without a key that could pollute a prototype, treating JavaScript
 * values that JSON cannot express. Does not own: parsing or hashing, what a text shows before it is parsed
 * (`json-text.ts`).
 */

/** Any JSON value: what inputs, outputs and messages are stored and sent as. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * Assigning to this key sets a prototype, so a copy loses it. It is refused wherever JSON enters. Other
 * inherited names (`constructor`) are data: as keys of JSON they are an object's own, and are read and
 * copied.
 */
export const FORBIDDEN_KEY = '__proto__';

/** Limits of one JSON document that comes from outside. */
export interface JsonLimits {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Keys and array elements, all levels together. */
  readonly nodes: number;
  /** Different keys, of all objects together. @default as many as there are nodes */
  readonly keys?: number;
  /** Allows text with half of a surrogate pair, which is not Unicode. */
  readonly anyText?: true;
}

/**
 * A list may have 10,000 items (`waiting/child.ts`) with several fields each, as far as a body has room for
 * them.
 */
export const JSON_LIMITS: JsonLimits = { depth: 32, nodes: 60_000 };

/**
 * Limits of a large value. With more values, or more different keys, it would block the event loop of `serve`
 * for more than 0.1 s when it is received, checked, stored or read.
 */
export const LARGE_JSON_LIMITS: JsonLimits = { ...JSON_LIMITS, nodes: 300_000, keys: 50_000 };

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A deep copy: changes to one do not affect the other. */
export function copyOf<Value extends Json | undefined>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item) => copyOf(item as Json)) as Json as Value;
  if (!isJsonObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) copy[key] = copyOf(value[key] as Json);
  return copy as Json as Value;
}

/** Keys sorted, no white space: equal values give equal text, in whatever order they were written. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) {
    // Not item by item, because a list may have millions of numbers.
    if (!value.some(isObject)) return JSON.stringify(value);
    return `[${value.map((item) => canonicalJson(item as Json)).join(',')}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** An object or a list in a value, and the one that contains it. */
interface Place {
  readonly value: unknown;
  readonly key: string | number;
  readonly depth: number;
  readonly within: Place | undefined;
}

const pathOf = ({ key, within }: Place): string => (within === undefined ? '' : `${pathOf(within)}/${key}`);

/**
 * The problem with a value that should be plain JSON; undefined if there is none. The walk is iterative and
 * bounded by `limits`, so that a hostile document costs no stack and no more time than its limit.
 */
export function jsonProblem(root: unknown, limits: JsonLimits = JSON_LIMITS): string | undefined {
  const walk = new Walk(limits);
  let problem = walk.enter(root, '', undefined);
  for (let next = walk.next(); problem === undefined && next !== undefined; next = walk.next())
    problem = walk.through(next);
  return problem;
}

/** Walks through a document without creating an object or a path for each of its millions of numbers. */
class Walk {
  readonly #limits: JsonLimits;
  readonly #places: Place[] = [];
  readonly #keys = new Set<string>();
  #nodes = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  next(): Place | undefined {
    return this.#places.pop();
  }

  enter(value: unknown, key: string | number, within: Place | undefined): string | undefined {
    const { nodes, depth: most, anyText } = this.#limits;
    const depth = within === undefined ? 0 : within.depth + 1;
    this.#nodes += 1;
    if (this.#nodes > nodes) return `more than ${nodes} values`;
    if (depth > most)
      return circleAbove({ value, key, depth, within }) ?? `nested deeper than ${most} levels`;
    if (isObject(value)) {
      this.#places.push({ value, key, depth, within });
      return undefined;
    }
    if (isScalar(value) && (typeof value !== 'string' || anyText === true || value.isWellFormed()))
      return undefined;
    return scalarProblem(value, pathOf({ value, key, depth, within }));
  }

  /** The problem with an object or a list, or with a scalar in it. */
  through(place: Place): string | undefined {
    const { value } = place;
    const isList = Array.isArray(value);
    if (!isList && !isPlainObject(value as object))
      return `${pathOf(place) || 'the value'} is not plain JSON${classOf(value as object)}`;
    if (saysItself(value as object))
      return `${pathOf(place) || 'the value'} has a toJSON of its own: give what that returns in its place`;
    if (isList) return this.#items(value, place);
    for (const key of Object.keys(value as object)) {
      const problem =
        this.#keyProblem(key, place) ?? this.enter((value as Record<string, unknown>)[key], key, place);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #items(list: readonly unknown[], place: Place): string | undefined {
    for (let at = 0; at < list.length; at += 1) {
      const item = list[at];
      const problem = item === undefined && !(at in list) ? undefined : this.enter(item, at, place);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #keyProblem(key: string, place: Place): string | undefined {
    const { keys } = this.#limits;
    if (keys !== undefined && this.#keys.add(key).size > keys) return `more than ${keys} different keys`;
    if (key === FORBIDDEN_KEY) return `the key ${JSON.stringify(key)} is not allowed`;
    if (this.#limits.anyText === true || key.isWellFormed()) return undefined;
    return `a key of ${(pathOf(place) || 'the value').toWellFormed()} ${HALF}`;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isScalar = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isFinite(value) : SCALARS.has(typeof value) || value === null;
const SCALARS: ReadonlySet<string> = new Set(['string', 'boolean']);

/** Finds the circle in a value that exceeds any depth because it contains itself. */
function circleAbove(deepest: Place): string | undefined {
  const above: Place[] = [];
  for (let place: Place | undefined = deepest; place !== undefined; place = place.within)
    above.unshift(place);
  for (const [at, place] of above.entries()) {
    const first = above.slice(0, at).find(({ value }) => value === place.value);
    if (first !== undefined)
      return `${pathOf(place)} refers back to ${pathOf(first) || 'the value'}: JSON cannot hold a cycle`;
  }
  return undefined;
}

/** ' but a Date': the name of the value's class, if it has one. */
function classOf(value: object): string {
  const { constructor: made } = (Object.getPrototypeOf(value) ?? {}) as { readonly constructor?: unknown };
  const name: unknown = typeof made === 'function' ? made.name : '';
  if (typeof name !== 'string' || name === '' || name === 'Object') return '';
  const instead = Object.hasOwn(INSTEAD, name) ? `: give ${INSTEAD[name]}` : '';
  return ` but of class ${name.slice(0, 60)}${instead}`;
}

/** The replacements that JSON can express. */
const INSTEAD: Readonly<Record<string, string>> = {
  Date: 'its toISOString()',
  Map: 'Object.fromEntries(…) of it',
  Set: '[...set]',
  URL: 'its href',
  Promise: 'what it resolves to (await)',
};

/**
 * A JavaScript value as JSON, or why it cannot be. Leaves out what `JSON.stringify` leaves out: keys whose
 * value is undefined, a function or a symbol; in a list these become null. It is a problem if
 * `JSON.stringify` would change another value silently (a date, NaN, an instance of a class, a `toJSON`) or
 * throw (a bigint, a circle).
 */
export function asJson(
  root: unknown,
  limits: JsonLimits = JSON_LIMITS,
): { readonly json: Json } | { readonly problem: string } {
  const given = root === undefined ? null : root;
  if (jsonProblem(given, limits) === undefined) return { json: given as Json };
  const kept = keptOf(given, limits);
  const problem = jsonProblem(kept, limits);
  return problem === undefined ? { json: kept as Json } : { problem };
}

/** True if `JSON.stringify` would replace it by the result of its own function. */
const saysItself = (value: object): boolean =>
  typeof (value as { readonly toJSON?: unknown }).toJSON === 'function';

const isNoJson = (value: unknown): boolean => ['undefined', 'function', 'symbol'].includes(typeof value);

/** The value without what JSON leaves out; the same object if nothing is left out. */
export function keptOf(
  root: unknown,
  { depth: maxDepth, nodes: maxNodes }: JsonLimits = JSON_LIMITS,
  isLeftOut: (value: unknown) => boolean = isNoJson,
): unknown {
  let nodes = 0;
  const kept = (value: unknown, depth: number): unknown => {
    nodes += 1;
    // A value beyond a limit is refused later.
    if (typeof value !== 'object' || value === null || depth > maxDepth || nodes > maxNodes) return value;
    // Kept whole, with its function, so that it is refused.
    if (saysItself(value)) return value;
    if (Array.isArray(value)) {
      const items = Array.from(value as unknown[], (item) =>
        isLeftOut(item) ? null : kept(item, depth + 1),
      );
      return items.every((item, at) => item === (value as unknown[])[at]) ? value : items;
    }
    if (!isPlainObject(value)) return value;
    const entries = Object.entries(value);
    const left = entries.flatMap(([key, item]) =>
      isLeftOut(item) ? [] : [[key, kept(item, depth + 1)] as const],
    );
    const isSame = left.length === entries.length && left.every(([, item], at) => item === entries[at]?.[1]);
    return isSame ? value : Object.fromEntries(left);
  };
  return kept(root, 0);
}

const HALF = 'contains half a character (an unpaired surrogate), which is not valid Unicode';

function scalarProblem(value: unknown, path: string): string {
  const what = path || 'the value';
  if (typeof value === 'string') return `${what.toWellFormed()} ${HALF}`;
  if (typeof value === 'number') return `${what} is not a finite number`;
  const instead = typeof value === 'function' ? ': give what it returns' : '';
  return `${what} is ${typeof value}, which JSON cannot hold${instead}`;
}

/**
 * True for a plain object of any realm: under Jest the results of Node's functions have another
 * `Object.prototype`.
 */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The bytes of a text in UTF-8, as stores and queues count them; half of a pair counts as U+FFFD. */
export function utf8Bytes(text: string): number {
  // Finds most texts in ASCII, several times as fast as it counts: one may have 16 MB.
  if (!/[\u0080-\uffff]/.test(text)) return text.length;
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A pair has four bytes: one for each unit, as above, and two more.
    bytes += unit < 0x800 ? 1 : 2;
    if (isPair(unit, text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
}

const isPair = (unit: number, next: number): boolean =>
  unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
