/**
 * The columns of the only table, and which index each key column belongs to. Pure except for `createTable`.
 *
 * Owns: the form of a row. Does not own: reading and writing rows (`table.ts`), the list of indexes
 * (`lib/aws/names.ts`).
 *
 * The item itself is JSON text. Its keys and those of the indexes are also columns. An item is in an index
 * only if it has both keys of the index. If you change any of this, or the meaning of an index's keys, raise
 * `FORMAT` in `file.ts`: a file with another format is refused.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type Sqlite from 'libsql';
import { INDEXES, TABLE, type TableIndex } from '../../lib/aws/names.ts';
import { invalid } from './refusals.ts';
import { type Item, numberText } from './values.ts';

export type Cell = string | number | null;

/** Key columns of the indexes: first the partitions, then the sort keys, then the time of removal. */
const PARTITIONS = INDEXES.map(({ pk }) => pk);
const SORTS = [...new Set(INDEXES.map(({ sk }) => sk))];
export const COLUMNS: readonly string[] = [...PARTITIONS, ...SORTS, TABLE.ttl];

export function createTable(db: Sqlite.Database): void {
  const columns = COLUMNS.map((name) => `${name} ${PARTITIONS.includes(name) ? 'TEXT' : 'REAL'}`);
  db.exec(`CREATE TABLE item (id INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL,
    data TEXT NOT NULL, bytes INTEGER NOT NULL, ${columns.join(', ')})`);
  db.exec('CREATE UNIQUE INDEX by_key ON item (pk, sk)');
  for (const { name, pk, sk } of INDEXES)
    db.exec(`CREATE INDEX by_${name} ON item (${pk}, ${sk}, pk, sk) WHERE ${pk} IS NOT NULL`);
  db.exec(`CREATE INDEX by_${TABLE.ttl} ON item (${TABLE.ttl}) WHERE ${TABLE.ttl} IS NOT NULL`);
}

/** @throws ValidationException */
export const indexNamed = (name: string): TableIndex => {
  const index = INDEXES.find((one) => one.name === name);
  if (index === undefined) throw invalid(`The table does not have the specified index: ${name}`);
  return index;
};

/** The cells of an item that is in no index. */
export const NONE: readonly Cell[] = COLUMNS.map(() => null);

/**
 * The cells of an item's key columns, in the order of `COLUMNS`.
 * @throws ValidationException if a key has the wrong type
 */
export function cellsOf(item: Item): readonly Cell[] {
  let cells: Cell[] | undefined;
  for (let at = 0; at < COLUMNS.length; at += 1) {
    const name = COLUMNS[at] as string;
    const value = item[name];
    if (value === undefined) continue;
    cells ??= [...NONE];
    if (at < PARTITIONS.length) {
      const text = partitionOf(value, name);
      const sorted = item[INDEXES[at]?.sk ?? ''] !== undefined;
      cells[at] = sorted ? text : null;
    } else if (name !== TABLE.ttl) cells[at] = exactNumber(value, name);
    // An item whose value is not a number is never removed, as on DynamoDB.
    else cells[at] = value.N === undefined ? null : Number(value.N);
  }
  return cells ?? NONE;
}

const wrongType = (name: string, expected: string, value: AttributeValue): Error =>
  invalid(
    'One or more parameter values were invalid: Type mismatch for Index Key ' +
      `${name} Expected: ${expected} Actual: ${Object.keys(value)[0] ?? 'none'}`,
  );

function partitionOf(value: AttributeValue, name: string): string {
  if (value.S === undefined) throw wrongType(name, 'S', value);
  if (value.S === '')
    throw invalid(
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        `The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
    );
  return value.S;
}

/** Refuses a number that a column, which stores a double, would sort wrongly. All times and counts fit. */
export function exactNumber(value: AttributeValue, name: string): number {
  if (value.N === undefined) throw wrongType(name, 'N', value);
  const text = numberText(value.N);
  const number = Number(text);
  if (numberText(String(number)) !== text)
    throw invalid(`${name} is a key of an index, and ${text} has more digits than an index keeps`);
  return number;
}
