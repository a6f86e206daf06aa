/**
 * The reference language: the JSON form of an author's references, and its evaluation.
 *
 * Owns: the form and its evaluation. Does not own: the author's spelling (`author/references.ts`), the reads
 * of an expression (`refs-in.ts`).
 *
 * R1 total: every expression has a value (`undefined` if a path leads nowhere), and none throws unless it
 * reads a value that is not loaded. R2 bounded: one visit per node, no calls, no loops, no recursion of its
 * own. R3 own properties only, so no path reaches a prototype.
 */

import { type Json, type JsonObject, isJsonObject } from '../values/json.ts';
import { matchesPattern } from '../values/text.ts';

/**
 * An expression's JSON form; plain JSON stands for itself. An object with a `$` key is quoted by `$literal`,
 * or is a list of its fields (`$object`) if it contains references.
 */
export type Expr = Json;

/**
 * The values that a reference may read: the execution's input, outputs and outcomes of steps that have
 * passed, tokens, an item of a list.
 */
export interface Scope {
  readonly input: Json;
  /** Given instead of `input` if that may not be loaded: then it throws, and so does the evaluation. */
  readonly loadedInput?: () => Json;
  readonly output: (step: string) => Json | undefined;
  readonly token?: (step: string) => Json | undefined;
  /** 'succeeded', 'failed' or 'skipped', once the step has passed. */
  readonly outcome?: (step: string) => Json | undefined;
  /** The step's failure, if it has failed and that is tolerated. */
  readonly failure?: (step: string) => Json | undefined;
  /** Why the execution ended: `{ kind, step?, code, message }`. */
  readonly cause?: Json | undefined;
  readonly item?: Json;
  readonly index?: number;
  readonly last?: Json;
  readonly given?: Json;
  /** Other values, by source, that a declared request reads besides the input (`ready/`). */
  readonly others?: Readonly<Record<string, Json | undefined>>;
}

/**
 * The value of an expression; object keys whose value is `undefined` are left out, array items become null.
 */
export function evaluateExpression(expr: Expr, scope: Scope): Json | undefined {
  if (Array.isArray(expr)) return expr.map((item) => evaluateExpression(item as Expr, scope) ?? null);
  if (!isJsonObject(expr)) return expr;
  const operator = Object.keys(expr).find((key) => key.startsWith('$'));
  if (operator !== undefined) return evaluateOperator(operator, expr, scope);
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(expr)) {
    const value = evaluateExpression(item, scope);
    if (value !== undefined) result[key] = value;
  }
  return result;
}

function evaluateOperator(operator: string, expr: JsonObject, scope: Scope): Json | undefined {
  const argument = expr[operator] as Expr;
  switch (operator) {
    case '$ref':
      return follow(sourceValue(argument, scope), expr['path']);
    case '$literal':
      return argument;
    case '$object':
      return objectOf(argument, scope);
    case '$length': {
      const value = evaluateExpression(argument, scope);
      return Array.isArray(value) || typeof value === 'string' ? value.length : undefined;
    }
    case '$concat':
      return listOf(argument, scope).map(textOf).join('');
    case '$exists':
      return evaluateExpression(argument, scope) !== undefined;
    case '$orElse': {
      const [value, instead] = listOf(argument, scope);
      return value === undefined ? instead : value;
    }
    case '$and':
      return listOf(argument, scope).every((item) => item === true);
    case '$or':
      return listOf(argument, scope).some((item) => item === true);
    case '$not':
      return evaluateExpression(argument, scope) !== true;
    default:
      return compare(operator, listOf(argument, scope));
  }
}

function objectOf(fields: Expr, scope: Scope): JsonObject {
  const result: Record<string, Json> = {};
  for (const field of Array.isArray(fields) ? (fields as Json[]) : []) {
    const [key, item = null] = Array.isArray(field) ? (field as Json[]) : [];
    const value = evaluateExpression(item, scope);
    if (typeof key === 'string' && value !== undefined) result[key] = value;
  }
  return result;
}

function compare(operator: string, [left, right]: readonly (Json | undefined)[]): boolean {
  switch (operator) {
    case '$eq':
      return same(left, right);
    case '$ne':
      return !same(left, right);
    case '$in':
      return Array.isArray(right) && right.some((item) => same(left, item as Json));
    case '$matches':
      return typeof left === 'string' && typeof right === 'string' && matchesPattern(left, right);
    case '$lt':
      return ordered(left, right) && left < (right as typeof left);
    case '$gt':
      return ordered(left, right) && left > (right as typeof left);
    case '$lte':
      return ordered(left, right) && left <= (right as typeof left);
    case '$gte':
      return ordered(left, right) && left >= (right as typeof left);
    default:
      return false;
  }
}

const listOf = (argument: Expr, scope: Scope): (Json | undefined)[] =>
  Array.isArray(argument) ? argument.map((item) => evaluateExpression(item as Expr, scope)) : [];

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Text with text and number with number; other pairs have no order. */
function ordered(left: Json | undefined, right: Json | undefined): left is string | number {
  return (typeof left === 'number' || typeof left === 'string') && typeof left === typeof right;
}

function same(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (left === undefined || right === undefined || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && same((left as JsonObject)[key], (right as JsonObject)[key]),
  );
}

function sourceValue(source: Expr, scope: Scope): Json | undefined {
  if (source === 'input') return scope.loadedInput === undefined ? scope.input : scope.loadedInput();
  if (source === 'failure') return scope.cause;
  if (source === 'item') return scope.item;
  if (source === 'index') return scope.index;
  if (source === 'last') return scope.last;
  if (source === 'given') return scope.given;
  const [kind, step = ''] = typeof source === 'string' ? source.split(':') : [];
  switch (kind) {
    case 'step':
      return scope.output(step);
    case 'token':
    case 'outcome':
    case 'failure':
      return scope[kind]?.(step);
    default:
      return scope.others?.[kind ?? ''];
  }
}

function follow(root: Json | undefined, path: Expr | undefined): Json | undefined {
  let value = root;
  for (const key of Array.isArray(path) ? (path as Json[]) : []) {
    if (typeof key !== 'string' || typeof value !== 'object' || value === null) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

/** Operators of the language; any other key that starts with `$` is refused when the plan is checked. */
export const OPERATORS: ReadonlySet<string> = new Set(
  'ref literal object concat length exists orElse and or not eq ne lt gt lte gte in matches'
    .split(' ')
    .map((name) => `$${name}`),
);
