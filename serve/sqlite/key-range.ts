/**
 * Turns a key condition into the range that a query reads. Pure.
 *
 * Owns: the forms that DynamoDB accepts: the partition key equals a value, and the sort key is in one range.
 * Does not own: the grammar (`expressions.ts`), reading the range (`table.ts`).
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { TABLE, type TableIndex } from '../../lib/aws/names.ts';
import { type Given, type Node, nameOf, type Operand, valueOf } from './expressions.ts';
import { invalid } from './refusals.ts';
import { type Cell, exactNumber } from './schema.ts';
import type { Bound } from './table.ts';
import { compare } from './values.ts';

export interface KeyRange {
  readonly partition: string;
  readonly bounds: readonly Bound[];
}

const notSupported = (): Error => invalid('Query key condition not supported');
/** Sorts after any other character; none of our texts contains it. */
const LAST = '\u{10FFFF}';

/** @throws ValidationException */
export function keyRange(root: Node, given: Given, index: TableIndex | undefined): KeyRange {
  const [pk, sk] = [index?.pk ?? TABLE.pk, index?.sk ?? TABLE.sk];
  const parts = root.is === 'and' ? root.parts : [root];
  let partition: string | undefined;
  let bounds: readonly Bound[] | undefined;
  for (const part of parts) {
    const name = keyName(part, given);
    if (name === pk && partition === undefined) partition = equalTo(part, given);
    else if (name === sk && bounds === undefined) bounds = boundsOf(part, given, index);
    else throw notSupported();
  }
  if (partition === undefined) throw invalid(`Query condition missed key schema element: ${pk}`);
  return { partition, bounds: bounds ?? [] };
}

function keyName(node: Node, given: Given): string {
  const operand =
    node.is === 'compare' ? node.one : node.is === 'between' || node.is === 'begins' ? node.of : undefined;
  if (operand === undefined || !('path' in operand)) throw notSupported();
  return nameOf(operand.path, given);
}

function equalTo(node: Node, given: Given): string {
  if (node.is !== 'compare' || node.order !== '=') throw notSupported();
  const { S } = literal(node.other, given);
  if (S === undefined)
    throw invalid(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    );
  if (S === '')
    throw invalid(
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value.',
    );
  return S;
}

function boundsOf(node: Node, given: Given, index: TableIndex | undefined): readonly Bound[] {
  const cellOf = (operand: Operand): Cell => {
    const value = literal(operand, given);
    if (index !== undefined) return exactNumber(value, index.sk);
    if (value.S === undefined)
      throw invalid(
        'One or more parameter values were invalid: Condition parameter type does not match schema type',
      );
    return value.S;
  };
  if (node.is === 'begins') {
    const start = cellOf(node.start);
    if (typeof start !== 'string') throw notSupported();
    return [
      { order: '>=', cell: start },
      { order: '<', cell: start + LAST },
    ];
  }
  if (node.is === 'between') {
    const difference = compare(literal(node.from, given), literal(node.to, given));
    if (difference !== undefined && difference > 0)
      throw invalid(
        'Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound',
      );
    return [
      { order: '>=', cell: cellOf(node.from) },
      { order: '<=', cell: cellOf(node.to) },
    ];
  }
  if (node.is !== 'compare' || node.order === '<>') throw notSupported();
  return [{ order: node.order, cell: cellOf(node.other) }];
}

function literal(operand: Operand, given: Given): AttributeValue {
  if (!('value' in operand)) throw notSupported();
  return valueOf(operand, given, {}) as AttributeValue;
}
