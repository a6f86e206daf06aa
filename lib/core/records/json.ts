/**
 * JSON values and their one canonical text.
 *
 * Owns: the `Json` type, canonical serialisation (the input of every content hash) and the check that a foreign
 * value is plain JSON of Unicode text without keys that could pollute a prototype. Does not own: parsing or hashing.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Keys that reach a prototype when a careless merge meets them. Refused wherever JSON enters. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Limits of one JSON document that comes from outside. */
export interface JsonLimits {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Keys and array elements, all levels together. */
  readonly nodes: number;
  /** Also text with half of a character in it, which is no Unicode. */
  readonly anyText?: true;
}

/** A list may have 10,000 items (`waiting/child.ts`): of several fields each, as far as a body has room for them. */
export const JSON_LIMITS: JsonLimits = { depth: 32, nodes: 60_000 };

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keys sorted, no white space: equal values give equal text, whatever the order they were written in. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item as Json)).join(',')}]`;
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/**
 * Says what is wrong with a value that should be plain JSON, or nothing. The walk is iterative and bounded by
 * `limits`, so that a hostile document costs no stack and no more time than its limit.
 */
export function jsonProblem(root: unknown, limits: JsonLimits = JSON_LIMITS): string | undefined {
  const queue: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }];
  let nodes = 0;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    nodes += 1;
    if (nodes > limits.nodes) return `more than ${limits.nodes} values`;
    if (next.depth > limits.depth) return `nested deeper than ${limits.depth} levels`;
    const { value, path, depth } = next;
    const problem =
      scalarProblem(value, path) ?? (limits.anyText === true ? undefined : textProblem(value, path));
    if (problem !== undefined) return problem;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && !isPlainObject(value)) return `${path || 'the value'} is not plain JSON`;
    for (const key of Object.keys(value)) {
      if (FORBIDDEN_KEYS.has(key)) return `the key ${JSON.stringify(key)} is not allowed`;
      queue.push({
        value: (value as Record<string, unknown>)[key],
        path: `${path}/${key}`,
        depth: depth + 1,
      });
    }
  }
  return undefined;
}

function scalarProblem(value: unknown, path: string): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value))
    return `${path || 'the value'} is not a finite number`;
  if (['undefined', 'function', 'symbol', 'bigint'].includes(typeof value)) {
    return `${path || 'the value'} is ${typeof value}, which JSON cannot hold`;
  }
  return undefined;
}

/** What is wrong with a text, or with an object's keys. */
function textProblem(value: unknown, path: string): string | undefined {
  const what = (path || 'the value').toWellFormed();
  if (typeof value === 'string' && !value.isWellFormed())
    return `${what} has half of a character in it (an unpaired surrogate), which is no Unicode text`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.keys(value).every((key) => key.isWellFormed())
    ? undefined
    : `a key of ${what} has half of a character in it (an unpaired surrogate), which is no Unicode text`;
}

export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === null || prototype === Object.prototype;
}

/** Bytes of a text in UTF-8, which is what stores and queues count; half of a character counts as U+FFFD. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A pair has four: one for each unit, as every text, and two more.
    bytes += unit < 0x800 ? 1 : 2;
    if (isPair(unit, text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
}

const isPair = (unit: number, next: number): boolean =>
  unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
