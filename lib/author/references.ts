/**
 * The references that authors write, such as "the total of the input" or "the charge's id", and the
 * conditions that decide whether a step runs.
 *
 * Owns: references and conditions, and their conversion to the JSON form of a plan. Does not own: their types
 * (`ref-types.ts`), the meaning of that form (`core/plan/refs.ts`), which references a step may use
 * (`checks/check.ts`).
 */

import type { Expr } from '../core/plan/refs.ts';
import { refuse } from '../core/values/errors.ts';
import { type Json, JSON_LIMITS, type JsonObject, isPlainObject, keptOf } from '../core/values/json.ts';
import type { Condition, Input, MaybeRef, Ref } from './ref-types.ts';

export type {
  Condition,
  Input,
  MaybeRef,
  MaybeRefTo,
  MayBeAbsent,
  MayNotFail,
  MayNotSucceed,
  OutputOf,
  Ref,
  RefTo,
} from './ref-types.ts';

/**
 * Identified by name, because a CommonJS agent and an ES module's workflow may each load a copy of this file.
 */
const SOURCE: unique symbol = Symbol.for('steadfast.source');

const REFERENCE = {};

/**
 * The target of a reference: the execution's input; a step's output, outcome or failure; the token with which
 * the external party answers a callback step; for a list, the item and its index; for rounds, the latest
 * round's output and input; for on-failure steps, why the execution ended; in an `httpAgent`, the call and
 * its answer.
 */
export type RefSource =
  | 'input'
  | 'failure'
  | `${'step' | 'outcome' | 'failure' | 'token'}:${string}`
  | 'item'
  | 'index'
  | 'last'
  | 'given'
  | 'call'
  | 'answer'
  | 'env';

/** Called with each field that a reference reads. */
export type NoteRead = (source: RefSource, path: readonly string[]) => void;
let noteRead: NoteRead | undefined;

/**
 * Runs a workflow's function and reports its reads to `note`. The function is synchronous, so no other one
 * interferes.
 */
export function notingReads<R>(note: NoteRead, run: () => R): R {
  const before = noteRead;
  noteRead = note;
  try {
    return run();
  } finally {
    noteRead = before;
  }
}

/**
 * Makes a reference whose fields are references, too. Any path may be written; one that does not exist reads
 * as `undefined`.
 */
export function ref<T>(source: RefSource, path: readonly string[] = []): Ref<T> {
  return new Proxy({}, new Reference(source, path)) as Ref<T>;
}

/**
 * The behaviour of a reference. It is a class, because separate functions for each reference would take a
 * third of the build time.
 */
class Reference implements ProxyHandler<object> {
  readonly #source: RefSource;
  readonly #path: readonly string[];

  constructor(source: RefSource, path: readonly string[]) {
    this.#source = source;
    this.#path = path;
  }

  get(_: object, key: string | symbol): unknown {
    const [source, path] = [this.#source, this.#path];
    if (key === SOURCE) return { $ref: source, path };
    // Template literals, sums and `<` call this; `===` and `if` call no method, so they go unnoticed here.
    if (key === Symbol.toPrimitive) return (as: string) => refuseValue(nameOf(source, path), NO_SUM[as]);
    // Called by for (… of …), [...list] and Array.from.
    if (key === Symbol.iterator)
      return () => refuseValue(nameOf(source, path), iterationOf(nameOf(source, path)));
    if (key === 'toJSON') return () => refuseValue(nameOf(source, path));
    if (typeof key === 'symbol') return undefined;
    const field = [...path, key];
    noteRead?.(source, field);
    return ref(source, field);
  }

  has(_: object, key: string | symbol): boolean {
    return key === SOURCE;
  }

  /**
   * Called by `{ ...input }` and `const { id, ...rest } = input`: the field names are unknown, so none can be
   * copied.
   */
  ownKeys(): never {
    return refuseValue(nameOf(this.#source, this.#path), 'give its fields one by one');
  }

  /**
   * Differs from a plain object's prototype, so that the plan's check refuses a reference that was not
   * converted.
   */
  getPrototypeOf(): object {
    return REFERENCE;
  }
}

/** The hint that JavaScript passes for sums, products and comparisons of numbers; for text it is another. */
const NO_SUM: Readonly<Record<string, string>> = {
  number: 'let an agent compute with it, and compare in `when` with lt, gt',
};

const iterationOf = (list: string): string =>
  `a list of the execution goes to a step, write w.map('…', ${list}, agent, (item) => ({ … })), and one item is read by its place, ${list}[0]`;

/** @throws SteadfastError `not-a-value` */
function refuseValue(what: string, instead?: string): never {
  const other = `join texts with concat('…', ${what}), and compare in \`when\` with eq, ne, lt, gt`;
  throw refuse('not-a-value', `${what} has no value while the workflow is built: ${instead ?? other}`);
}

/**
 * Returns the reference as its author most likely wrote it: 'input.name', 'pay.output.id', 'paid.token',
 * 'item.sizes[0]'.
 */
export function nameOf(source: string, path: readonly string[]): string {
  const [kind, step = ''] = source.split(':');
  return fieldText(step === '' ? source : `${step}.${kind === 'step' ? 'output' : kind}`, path);
}

/** Writes a field within a value as in code: `lines[0].size`, `prices['a-b c']`. */
export const fieldText = (root: string, path: readonly string[]): string => root + path.map(keyText).join('');

function keyText(key: string): string {
  if (/^(?:0|[1-9]\d*)$/.test(key)) return `[${key}]`;
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)
    ? `.${key}`
    : `['${key.replaceAll(/['\\]/g, String.raw`\$&`)}']`;
}

function condition(expression: JsonObject): Condition {
  const what = 'an expression (concat, eq, and, …)';
  const made = { [SOURCE]: expression };
  for (const key of [Symbol.toPrimitive, 'toJSON']) {
    const value = (as: string): never => refuseValue(what, NO_SUM[as]);
    Object.defineProperty(made, key, { value, enumerable: false });
  }
  return made as unknown as Condition;
}

/** `undefined` exists only in the type: `noUncheckedIndexedAccess` adds it to an item of a list. */
type Perhaps<T> = Ref<T> | MaybeRef<T> | undefined;
type Scalar = string | number | boolean | null;
type Sortable = string | number;
/**
 * Equal: a text, a number, a boolean or null.
 * @example when: eq(w.input.country, 'DE')
 */
export const eq = <T extends Scalar>(left: Ref<T>, right: T | Ref<T>): Condition =>
  condition({ $eq: [toExpr(left), toExpr(right)] });
/**
 * Not equal: a text, a number, a boolean or null.
 * @example when: ne(w.input.country, 'DE')
 */
export const ne = <T extends Scalar>(left: Ref<T>, right: T | Ref<T>): Condition =>
  condition({ $ne: [toExpr(left), toExpr(right)] });
/**
 * Less than: of two numbers, or two texts by their UTF-16 units.
 * @example when: lt(w.input.amount, 100)
 */
export const lt = <T extends Sortable>(left: Ref<T>, right: T | Ref<T>): Condition =>
  condition({ $lt: [toExpr(left), toExpr(right)] });
/**
 * Greater than: of two numbers, or two texts by their UTF-16 units.
 * @example when: gt(w.input.amount, 100)
 */
export const gt = <T extends Sortable>(left: Ref<T>, right: T | Ref<T>): Condition =>
  condition({ $gt: [toExpr(left), toExpr(right)] });
/**
 * Less than or equal: of two numbers, or two texts by their UTF-16 units.
 * @example when: lte(w.input.amount, 100)
 */
export const lte = <T extends Sortable>(left: Ref<T>, right: T | Ref<T>): Condition =>
  condition({ $lte: [toExpr(left), toExpr(right)] });
/**
 * Greater than or equal: of two numbers, or two texts by their UTF-16 units.
 * @example when: gte(w.input.amount, 100)
 */
export const gte = <T extends Sortable>(left: Ref<T>, right: T | Ref<T>): Condition =>
  condition({ $gte: [toExpr(left), toExpr(right)] });
/**
 * True if the value is there, also if it is null: an optional field, or the output of a step that may have
 * failed.
 * @example when: exists(w.input.voucher)
 */
export const exists = (value: Perhaps<unknown>): Condition => condition({ $exists: toExpr(value) });
/**
 * True if the value is one of the list.
 * @example when: isIn(w.input.plan, ['pro', 'team'])
 */
export const isIn = <T extends Scalar>(value: Ref<T>, list: readonly T[]): Condition =>
  condition({ $in: [toExpr(value), toExpr(list)] });
/**
 * True if all the conditions are true.
 * @example when: and(eq(w.input.country, 'DE'), gt(w.input.amount, 100))
 */
export const and = (...all: readonly Condition[]): Condition => condition({ $and: all.map(toExpr) });
/**
 * True if at least one of the conditions is true.
 * @example when: or(eq(w.input.plan, 'pro'), gt(w.input.amount, 100))
 */
export const or = (...any: readonly Condition[]): Condition => condition({ $or: any.map(toExpr) });
/**
 * True if the condition is not true.
 * @example when: not(isIn(w.input.country, ['DE', 'FR']))
 */
export const not = (inner: Condition): Condition => condition({ $not: toExpr(inner) });
/**
 * True if the text matches the pattern. Each `*` stands for any characters, and `\*` for itself.
 * @example when: matches(w.input.email, '*@example.com')
 */
export const matches = (text: Ref<string>, pattern: string): Condition =>
  condition({ $matches: [toExpr(text), pattern] });
/**
 * The number of items in the list, or of UTF-16 units in the text.
 * @example when: gt(length(w.input.files), 0)
 */
export const length = (value: Ref<string> | Ref<readonly unknown[]>): Ref<number> =>
  condition({ $length: toExpr(value) }) as unknown as Ref<number>;
/**
 * Joins texts and references to texts or numbers into one text.
 * @example
 * w.step('greet', sendMail, { to: w.input.email, subject: concat('Order ', w.input.orderId) });
 */
export const concat = (...parts: readonly Input<string | number>[]): Ref<string> =>
  condition({ $concat: parts.map(toExpr) }) as unknown as Ref<string>;

/** A step, or its name. */
type Named = { readonly name: string } | string;
const endedAs = (step: Named, outcome: string): Condition => {
  const name = typeof step === 'string' ? step : step.name;
  return condition({ $eq: [{ $ref: `outcome:${name}`, path: [] }, outcome] });
};
/**
 * True if the step is done. Once a step has passed, exactly one of `succeeded`, `failed`, `skipped` is true.
 * @example when: succeeded('reserve')
 */
export const succeeded = (step: Named): Condition => endedAs(step, 'succeeded');
/**
 * True if the step has failed, its failure is tolerated (`mayFail: true`), and none of its work is still
 * running or still to be undone.
 */
export const failed = (step: Named): Condition => endedAs(step, 'failed');
/**
 * True if the step was skipped, because its `when` was not true.
 * @example when: skipped('gift-wrap')
 */
export const skipped = (step: Named): Condition => endedAs(step, 'skipped');

type Meant<D> = D extends Ref<infer T> ? T : D;
/** The result of `orElse`: it may be absent only if both the value and the replacement may be. */
type Otherwise<T, D> = unknown extends D
  ? Ref<T | Meant<D>>
  : [D] extends [MaybeRef<infer U, infer Why> | undefined]
    ? MaybeRef<T | U, Why>
    : Ref<T | Meant<D>>;
/**
 * The value, or the replacement if there is none.
 * @example
 * w.step('greet', sendMail, { to: w.input.email, subject: orElse(w.input.voucher, 'no voucher') });
 */
export const orElse = <T, const D>(value: Perhaps<T>, instead: D): Otherwise<T, D> =>
  condition({ $orElse: [toExpr(value), toExpr(instead)] }) as unknown as Otherwise<T, D>;
/**
 * Returns the same reference, which the compiler then takes for one that is always there: a cast, which
 * checks and replaces nothing when the execution runs. Write it where a condition guarantees the value:
 * `when: exists(x.output.note)`, `succeeded(x)` or `failed(x)` of the step; `until: not(exists(last.next))`
 * of rounds, whose `next` reads `required(last.next)`. Without such a condition the deployment and
 * `testWorkflow` refuse the workflow (`workflow-refused`), if its schemas can be read; otherwise a value that
 * is missing is left out, and the receiver's schema decides.
 * @example
 * w.step('redeem', sendMail, { to: required(w.input.voucher) }, { when: exists(w.input.voucher) });
 */
export const required = <T>(value: MaybeRef<T> | undefined): Ref<T> => value as unknown as Ref<T>;

/**
 * The name of the class below as error messages show it; set explicitly, because a minifier would change it.
 */
export const DECLARED_STEP = 'DeclaredStep';

/**
 * The object that the builder returns for a step. It is not a value: a plan that uses one as an output is
 * refused.
 */
export class DeclaredStep {
  static readonly name = DECLARED_STEP;
  declare readonly name: string;

  constructor(fields: Readonly<Record<'name' | 'output' | 'failure' | 'token', unknown>>) {
    Object.assign(this, fields);
  }
}

/**
 * Converts what an author wrote to its JSON form. Values that are not JSON (functions, class instances) are
 * kept, so that `checkPlan` refuses them.
 */
export function toExpr(value: unknown): Expr {
  if (typeof value !== 'object' || value === null) return value as Expr;
  if (SOURCE in value) return (value as Record<typeof SOURCE, Expr>)[SOURCE];
  if (Array.isArray(value)) return value.map(toExpr);
  if (!isPlainObject(value)) return value as Expr;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  if (entries.some(([key]) => key.startsWith('$')))
    return holdsReference(value)
      ? { $object: entries.map(([key, item]) => [key, toExpr(item)]) }
      : { $literal: literalOf(value) };
  return Object.fromEntries(entries.map(([key, item]) => [key, toExpr(item)]));
}

/**
 * True if the value contains a reference. False if it is nested too deeply; the check of the plan refuses
 * such a value.
 */
function holdsReference(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > JSON_LIMITS.depth) return false;
  if (SOURCE in value) return true;
  const items = Array.isArray(value)
    ? (value as unknown[])
    : isPlainObject(value)
      ? Object.values(value)
      : [];
  return items.some((item) => holdsReference(item, depth + 1));
}

/** The value without its undefined fields. */
const literalOf = (value: object): Json => keptOf(value, JSON_LIMITS, (item) => item === undefined) as Json;
