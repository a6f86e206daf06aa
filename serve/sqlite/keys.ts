/**
 * Reads and checks the keys of items, in the form of DynamoDB calls.
 *
 * Owns: which keys are complete and valid. Does not own: the columns (`schema.ts`), key conditions
 * (`key-range.ts`).
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { TABLE, type TableIndex } from '../../lib/aws/names.ts';
import { invalid } from './refusals.ts';
import { exactNumber } from './schema.ts';
import type { Place, Row } from './table.ts';
import type { Item } from './values.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

const NAMES = [TABLE.pk, TABLE.sk] as const;

/** The key in an item. @throws ValidationException */
export function keyIn(item: Item): Key {
  const [pk, sk] = NAMES.map((name) => {
    const value = item[name];
    if (value === undefined)
      throw invalid(`One or more parameter values were invalid: Missing the key ${name} in the item`);
    if (value.S === undefined)
      throw invalid(`One or more parameter values were invalid: Type mismatch for key ${name}: expected S`);
    if (value.S === '')
      throw invalid(
        `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
      );
    return value.S;
  });
  return { pk: pk ?? '', sk: sk ?? '' };
}

/** Reads the key from an item that may have no other attribute. @throws ValidationException */
export function keyOnly(item: Item | undefined): Key {
  const key = item ?? {};
  const { length } = Object.keys(key);
  if (length !== NAMES.length || NAMES.some((name) => key[name]?.S === undefined))
    throw invalid('The provided key element does not match the schema');
  return keyIn(key);
}

/** A key as a unique text. */
export const keyText = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/** The `LastEvaluatedKey` of a page that ends with this row. */
export function lastKey(row: Row | Key, index?: TableIndex): Item {
  const own: Item = { [TABLE.pk]: { S: row.pk }, [TABLE.sk]: { S: row.sk } };
  if (index === undefined || !('item' in row)) return own;
  for (const name of [index.pk, index.sk]) {
    const value = row.item[name];
    if (value !== undefined) own[name] = value;
  }
  return own;
}

/** @throws ValidationException */
export function placeOf(start: Item, index: TableIndex | undefined, partition?: string): Place {
  const names: readonly string[] = index === undefined ? NAMES : [...NAMES, index.pk, index.sk];
  const isWhole =
    Object.keys(start).length === names.length && names.every((name) => start[name] !== undefined);
  const given = start[index?.pk ?? TABLE.pk]?.S;
  if (!isWhole || (partition !== undefined && given !== partition))
    throw invalid('The provided starting key is invalid');
  const { pk, sk } = keyIn(start);
  if (index === undefined) return { pk, sk };
  return { pk, sk, sort: exactNumber(start[index.sk] as AttributeValue, index.sk) };
}
