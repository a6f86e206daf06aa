/**
 * The expressions of conditions, filters and keys.
 *
 * Owns: their grammar, evaluating them on an item, and caching each parsed text. Does not own: how values
 * compare (`values.ts`), how a key condition becomes a range (`key-range.ts`).
 *
 * Supports slightly more than our adapters use: comparisons, `BETWEEN`, `AND`, `OR`, `NOT`, brackets,
 * `attribute_exists`, `attribute_not_exists`, `begins_with`. Paths are names of attributes; anything else is
 * refused.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalid } from './refusals.ts';
import { compare, isEqual, type Item } from './values.ts';

/** The names and values that a call gives for its expressions. */
export interface Given {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

export type Operand = { readonly path: string } | { readonly value: string };
type Order = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type Node =
  | { readonly is: 'and' | 'or'; readonly parts: readonly Node[] }
  | { readonly is: 'not'; readonly part: Node }
  | { readonly is: 'compare'; readonly order: Order; readonly one: Operand; readonly other: Operand }
  | { readonly is: 'between'; readonly of: Operand; readonly from: Operand; readonly to: Operand }
  | { readonly is: 'begins'; readonly of: Operand; readonly start: Operand }
  | { readonly is: 'exists'; readonly path: Operand; readonly wanted: boolean };

export interface Expression {
  readonly root: Node;
  /** The names and values that it uses, as `#name` and `:value`. */
  readonly uses: ReadonlySet<string>;
}

const TOKEN = /\s*(<>|<=|>=|[=<>(),]|[#:]?[A-Za-z_][A-Za-z0-9_-]*)/y;
const ORDERS: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);
const FUNCTIONS: ReadonlySet<string> = new Set(['attribute_exists', 'attribute_not_exists', 'begins_with']);

const known = new Map<string, Expression>();
/** The most cached texts. Our adapters have some ten; a caller that builds texts must not fill the memory. */
const MOST_KNOWN = 1_000;

/** @throws ValidationException */
export function expressionOf(text: string): Expression {
  const before = known.get(text);
  if (before !== undefined) return before;
  const tokens = tokensOf(text);
  const parser = new Parser(tokens);
  const expression = {
    root: parser.whole(),
    uses: new Set(tokens.filter((token) => /^[#:]/.test(token))),
  };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, expression);
  return expression;
}

function tokensOf(text: string): readonly string[] {
  const end = text.trimEnd().length;
  if (end === 0) throw invalid('Invalid expression: The expression can not be empty;');
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined)
      throw invalid(`Invalid expression: Syntax error near: ${text.slice(at, at + 20)}`);
    tokens.push(token);
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  whole(): Node {
    const node = this.#either();
    if (this.#at < this.#tokens.length) throw this.#unexpected();
    return node;
  }

  #either(): Node {
    const parts = [this.#all()];
    while (this.#takes('OR')) parts.push(this.#all());
    return parts.length === 1 ? (parts[0] as Node) : { is: 'or', parts };
  }

  #all(): Node {
    const parts = [this.#one()];
    while (this.#takes('AND')) parts.push(this.#one());
    return parts.length === 1 ? (parts[0] as Node) : { is: 'and', parts };
  }

  #one(): Node {
    if (this.#takes('NOT')) return { is: 'not', part: this.#one() };
    if (this.#takes('(')) {
      const inner = this.#either();
      this.#need(')');
      return inner;
    }
    const name = this.#tokens[this.#at] ?? '';
    if (FUNCTIONS.has(name) && this.#tokens[this.#at + 1] === '(') return this.#function(name);
    const one = this.#operand();
    if (this.#takes('BETWEEN')) {
      const from = this.#operand();
      this.#need('AND');
      return { is: 'between', of: one, from, to: this.#operand() };
    }
    const order = this.#tokens[this.#at] ?? '';
    if (!ORDERS.has(order)) throw this.#unexpected();
    this.#at += 1;
    return { is: 'compare', order: order as Order, one, other: this.#operand() };
  }

  #function(name: string): Node {
    this.#at += 2;
    const first = this.#operand();
    if (name === 'begins_with') {
      this.#need(',');
      const start = this.#operand();
      this.#need(')');
      return { is: 'begins', of: first, start };
    }
    this.#need(')');
    return { is: 'exists', path: first, wanted: name === 'attribute_exists' };
  }

  #operand(): Operand {
    const token = this.#tokens[this.#at] ?? '';
    if (!/^[#:A-Za-z_]/.test(token)) throw this.#unexpected();
    this.#at += 1;
    return token.startsWith(':') ? { value: token } : { path: token };
  }

  #takes(token: string): boolean {
    const isNext = this.#tokens[this.#at]?.toUpperCase() === token;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #need(token: string): void {
    if (!this.#takes(token)) throw this.#unexpected();
  }

  #unexpected(): Error {
    const token = this.#tokens[this.#at];
    return invalid(`Invalid expression: Syntax error; token: ${token ?? '<EOF>'}`);
  }
}

/** @throws ValidationException if a name is not given */
export function nameOf(path: string, given: Given): string {
  if (!path.startsWith('#')) return path;
  const name = given.ExpressionAttributeNames?.[path];
  if (name !== undefined) return name;
  throw invalid(
    `An expression attribute name used in the document path is not defined; attribute name: ${path}`,
  );
}

/** @throws ValidationException if a value is not given */
export function valueOf(operand: Operand, given: Given, item: Item): AttributeValue | undefined {
  if ('path' in operand) return item[nameOf(operand.path, given)];
  const value = given.ExpressionAttributeValues?.[operand.value];
  if (value !== undefined) return value;
  throw invalid(
    `An expression attribute value used in expression is not defined; attribute value: ${operand.value}`,
  );
}

/** Whether an item meets the condition; for no item, pass an empty one. */
export function holds(node: Node, given: Given, item: Item): boolean {
  switch (node.is) {
    case 'and':
      return node.parts.every((part) => holds(part, given, item));
    case 'or':
      return node.parts.some((part) => holds(part, given, item));
    case 'not':
      return !holds(node.part, given, item);
    case 'exists':
      return (valueOf(node.path, given, item) !== undefined) === node.wanted;
    case 'begins': {
      const [value, start] = [valueOf(node.of, given, item)?.S, valueOf(node.start, given, item)?.S];
      return value !== undefined && start !== undefined && value.startsWith(start);
    }
    case 'between': {
      const value = valueOf(node.of, given, item);
      const [from, to] = [valueOf(node.from, given, item), valueOf(node.to, given, item)];
      return isOrdered('>=', value, from) && isOrdered('<=', value, to);
    }
    default:
      return isOrdered(node.order, valueOf(node.one, given, item), valueOf(node.other, given, item));
  }
}

function isOrdered(
  order: Order,
  one: AttributeValue | undefined,
  other: AttributeValue | undefined,
): boolean {
  // A missing value is equal to nothing, and so unequal.
  if (one === undefined || other === undefined) return order === '<>';
  if (order === '=') return isEqual(one, other);
  if (order === '<>') return !isEqual(one, other);
  const difference = compare(one, other);
  if (difference === undefined) return false;
  if (order === '<') return difference < 0;
  if (order === '<=') return difference <= 0;
  return order === '>' ? difference > 0 : difference >= 0;
}

/**
 * Refuses names and values that none of the call's expressions uses, as DynamoDB does.
 * @throws ValidationException
 */
export function refuseUnused(given: Given, expressions: readonly (Expression | undefined)[]): void {
  refuseKeys('ExpressionAttributeNames', given.ExpressionAttributeNames, expressions);
  refuseKeys('ExpressionAttributeValues', given.ExpressionAttributeValues, expressions);
}

function refuseKeys(
  what: string,
  record: object | undefined,
  expressions: readonly (Expression | undefined)[],
): void {
  for (const key in record) {
    if (!expressions.some((expression) => expression?.uses.has(key) === true))
      throw invalid(`Value provided in ${what} unused in expressions: keys: {${key}}`);
  }
}
