/**
 * Finds what an expression reads: its references, their sources, the steps among them.
 *
 * Does not own: the language and its evaluation (`refs.ts`), which references a step may make (`plan.ts`).
 */

import { isJsonObject, isPlainObject, type Json, type JsonObject } from '../values/json.ts';
import type { Expr } from './refs.ts';

/** Skips parts that are not plain JSON; the plan is refused for them. */
const isTree = (expr: Expr): expr is JsonObject | Json[] =>
  Array.isArray(expr) || (typeof expr === 'object' && expr !== null && isPlainObject(expr));

const OF_STEP = /^(?:step|outcome|failure):(.*)$/;

/** The steps whose output, outcome or failure an expression reads, each once, sorted. */
export const stepsIn = (expr: Expr): string[] => [
  ...new Set(sourcesIn(expr).flatMap((source) => OF_STEP.exec(source)?.[1] ?? [])),
];

/** The steps whose output it reads. */
export const outputsIn = (expr: Expr): string[] =>
  sourcesIn(expr).flatMap((source) => (source.startsWith('step:') ? [source.slice('step:'.length)] : []));

/** Everything that the references of an expression point to, each once, sorted. */
export const sourcesIn = (expr: Expr): string[] =>
  [...new Set(refsIn(expr).map(({ source }) => source))].sort();

export interface Reference {
  readonly source: string;
  readonly path: readonly string[];
}

/** The references of an expression, in its order. */
export function refsIn(expr: Expr): Reference[] {
  const found: Reference[] = [];
  const open: Expr[] = [expr];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isTree(next) || Object.hasOwn(next, '$literal')) continue;
    const { $ref: source, path } = isJsonObject(next) ? next : {};
    if (typeof source === 'string')
      found.push({ source, path: Array.isArray(path) ? (path as string[]) : [] });
    // Not by spread: a list may be longer than a call may have arguments.
    for (const item of Object.values(next).toReversed()) open.push(item as Expr);
  }
  return found;
}

/** The references of an expression except those that only ask (`exists`). */
export function valuesReadIn(expr: Expr): Reference[] {
  if (Array.isArray(expr)) return expr.flatMap((item) => valuesReadIn(item as Expr));
  if (!isJsonObject(expr) || Object.hasOwn(expr, '$literal') || Object.hasOwn(expr, '$exists')) return [];
  return Object.hasOwn(expr, '$ref')
    ? refsIn(expr)
    : Object.values(expr).flatMap((item) => valuesReadIn(item));
}
