/**
 * Sorts a table's rows: the first click on a column's head sorts by it, the second reverses the order, the
 * third restores the original one.
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { countText } from '../../lib/api/answers.ts';

/** The sort value of each column. Rows without a value always come last. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | undefined>>;

interface Order {
  readonly name: string;
  readonly isDown: boolean;
}

export interface Sorting<Row> {
  readonly of: (rows: readonly Row[]) => readonly Row[];
  readonly order: Signal<Order | undefined>;
}

export function useSorting<Row>(columns: Columns<Row>): Sorting<Row> {
  const order = useSignal<Order | undefined>(undefined);
  const of = (rows: readonly Row[]): readonly Row[] => {
    const by = columns[order.value?.name ?? ''];
    if (by === undefined) return rows;
    const sign = order.value?.isDown === true ? -1 : 1;
    return rows.toSorted((one, other) => {
      const [left, right] = [by(one), by(other)];
      if (left === undefined || right === undefined)
        return Number(left === undefined) - Number(right === undefined);
      return left === right ? 0 : left < right ? -sign : sign;
    });
  };
  return { of, order };
}

const ARIA = { none: 'none', up: 'ascending', down: 'descending' } as const;
const MARK = { none: '', up: ' ↑', down: ' ↓' } as const;

/** The head of a sortable column. */
export function SortHead({
  name,
  sorting: { order },
  isNumber = false,
  title,
}: {
  name: string;
  sorting: Pick<Sorting<never>, 'order'>;
  /** Whether the first click sorts the largest first. */
  isNumber?: boolean;
  title?: string | undefined;
}): JSX.Element {
  const own = order.value?.name === name ? order.value : undefined;
  const state = own === undefined ? 'none' : own.isDown ? 'down' : 'up';
  const next = (): void => {
    if (own === undefined) order.value = { name, isDown: isNumber };
    else order.value = own.isDown === isNumber ? { name, isDown: !isNumber } : undefined;
  };
  return (
    <th scope="col" aria-sort={ARIA[state]} title={title}>
      <button type="button" class="sort" onClick={next}>
        {name}
        {MARK[state]}
      </button>
    </th>
  );
}

/** How many rows a table has. */
export const Total = ({ of }: { of: number }): JSX.Element => <span class="faint">{countText(of)}</span>;
