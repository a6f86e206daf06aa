/**
 * The list of executions. It draws only the visible rows, so that ten thousand rows scroll smoothly.
 *
 * Owns: the window, the keys, the selection. Does not own: the pages (`pages.ts`), bulk actions (`bulk.tsx`).
 *
 * Invariant: a key acts on the marked execution, and the focus is in its row. Rows move when an execution
 * starts, so the mark is stored by execution, not by position.
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type ExecutionSummary, riskText } from '../../lib/api/answers.ts';
import { executionLink } from '../execution/head.tsx';
import { ShortId } from '../parts/copy.tsx';
import { isNarrow } from '../parts/room.ts';
import { type Columns, SortHead, type Sorting } from '../parts/sorted.tsx';
import { ExecutionStatusOf } from '../parts/status.tsx';
import { Ago, clockText, Lasted } from '../parts/time.tsx';

/** The height of a row in pixels; on a phone a row has two lines. */
const rowHeight = (): number => (isNarrow.value ? 56 : 34);
/** The number of rows drawn above and below the window. */
const SPARE = 8;

interface ListProps {
  readonly items: readonly ExecutionSummary[];
  readonly selected: Signal<ReadonlySet<string>>;
  readonly hasMore: boolean;
  /** Called with the index of the first visible row. */
  readonly onSeen: (first: number) => void;
  readonly more: () => void;
  readonly selectable: boolean;
  readonly sorting: Pick<Sorting<ExecutionSummary>, 'order'>;
}

export function List({
  items,
  selected,
  hasMore,
  onSeen,
  more,
  selectable,
  sorting,
}: ListProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useHeight(box);
  const first = Math.max(0, Math.floor(top.value / rowHeight()) - SPARE);
  const last = Math.min(items.length, first + Math.ceil(height.value / rowHeight()) + 2 * SPARE);
  const { active, item, at, move } = useActive(items, box);
  useFocus(box, active.value, [first, last, at]);
  const scrolled = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    top.value = scrollTop;
    onSeen(Math.floor(scrollTop / rowHeight()));
    if (hasMore && scrollTop + clientHeight > scrollHeight - 20 * rowHeight()) more();
  };
  const toggle = (id: string): unknown => (selected.value = toggled(selected.value, id));
  const toggleActive = (): void => {
    if (!selectable || item === undefined) return;
    toggle(item.executionId);
    // Scrolls to the row, because the reader may have scrolled away from it.
    bringIn(box.current, at);
  };
  const pressed = keysOf({ move, toggle: toggleActive, clear: () => (selected.value = new Set()) });
  return (
    <div
      class="list"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label="Executions"
      onScroll={scrolled}
      onKeyDown={pressed}
    >
      <table aria-rowcount={hasMore ? -1 : items.length + 1}>
        <Heads selectable={selectable} items={items} selected={selected} sorting={sorting} />
        <tbody>
          <Space rows={first} />
          {items.slice(first, last).map((one, index) => (
            <Row
              key={one.executionId}
              item={one}
              at={first + index}
              isActive={one === item}
              isSelected={selected.value.has(one.executionId)}
              toggle={selectable ? () => toggle(one.executionId) : undefined}
              focused={() => (active.value = one.executionId)}
            />
          ))}
          <Space rows={items.length - last} />
        </tbody>
      </table>
    </div>
  );
}

type Box = { readonly current: HTMLElement | null };

interface Active {
  readonly active: Signal<string | undefined>;
  /** The marked execution; absent if none is marked or it has left the list. */
  readonly item: ExecutionSummary | undefined;
  readonly at: number;
  readonly move: (by: number) => void;
}

/** Tracks the marked row. */
function useActive(items: readonly ExecutionSummary[], box: Box): Active {
  const active = useSignal<string | undefined>(undefined);
  const lastAt = useRef(-1);
  const id = active.value;
  const at = id === undefined ? -1 : items.findIndex(({ executionId }) => executionId === id);
  if (at >= 0) lastAt.current = at;
  const move = (by: number): void => {
    // Moves from the last position, even if its execution has left the list.
    const to = Math.min(items.length - 1, Math.max(0, lastAt.current + by));
    active.value = items[to]?.executionId;
    bringIn(box.current, to);
  };
  return { active, item: items[at], at, move };
}

/**
 * Keeps the focus on the marked row, or on the list while that row is not drawn.
 * @param places values that redraw or move rows when they change
 */
function useFocus(box: Box, id: string | undefined, places: readonly number[]): void {
  // Reads the focus before the rows change: if its row is removed, the focus is lost.
  const { activeElement } = document;
  const isInside = box.current?.contains(activeElement) === true;
  const isInHead = (activeElement?.closest('thead') ?? null) !== null;
  const follow = (): void => {
    if (isInside && id !== undefined) focusRow(box.current, id);
  };
  useLayoutEffect(follow, [id]);
  useLayoutEffect(() => {
    if (!isInHead) follow();
  }, places);
}

function focusRow(box: HTMLElement | null, id: string): void {
  const row = box?.querySelector(`[data-id="${CSS.escape(id)}"]`);
  if (row === null || row === undefined) box?.focus({ preventScroll: true });
  else if (!row.contains(document.activeElement)) row.querySelector('a')?.focus({ preventScroll: true });
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

function useHeight(box: Box): Signal<number> {
  const height = useSignal(800);
  useEffect(() => {
    if (box.current === null) return undefined;
    const watch = new ResizeObserver(([entry]) => {
      height.value = entry?.contentRect.height ?? height.value;
    });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return height;
}

/** The height of the table's head. */
const HEAD = 34;

function bringIn(box: HTMLElement | null, row: number): void {
  if (box === null) return;
  const at = row * rowHeight();
  if (at < box.scrollTop) box.scrollTop = at;
  else if (at + rowHeight() + HEAD > box.scrollTop + box.clientHeight)
    box.scrollTop = at + rowHeight() + HEAD - box.clientHeight;
}

interface Keys {
  readonly move: (by: number) => void;
  readonly toggle: () => void;
  readonly clear: () => void;
}

const keysOf =
  ({ move, toggle, clear }: Keys) =>
  (event: KeyboardEvent): void => {
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(1),
      j: () => move(1),
      ArrowUp: () => move(-1),
      k: () => move(-1),
      PageDown: () => move(15),
      PageUp: () => move(-15),
      x: toggle,
      Escape: clear,
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

const Space = ({ rows }: { rows: number }): JSX.Element | null =>
  rows <= 0 ? null : (
    <tr aria-hidden="true" class="space">
      <td colSpan={8} style={{ height: `${rows * rowHeight()}px` }} />
    </tr>
  );

export const COLUMNS: Columns<ExecutionSummary> = {
  Status: ({ status }) => status,
  Workflow: ({ workflow }) => workflow,
  Step: ({ step }) => step,
  Started: ({ startedAt }) => startedAt,
  Took: ({ startedAt, endedAt }) => (endedAt === undefined ? undefined : endedAt - startedAt),
};

function Heads({
  selectable,
  items,
  selected,
  sorting,
}: {
  selectable: boolean;
  items: readonly ExecutionSummary[];
  selected: Signal<ReadonlySet<string>>;
  sorting: ListProps['sorting'];
}): JSX.Element {
  const all = items.length > 0 && items.every(({ executionId }) => selected.value.has(executionId));
  const selectAll = (): void => {
    selected.value = all ? new Set() : new Set(items.map(({ executionId }) => executionId));
  };
  return (
    <thead>
      <tr>
        {selectable ? (
          <th scope="col">
            <input
              type="checkbox"
              aria-label="Select all loaded executions"
              checked={all}
              onChange={selectAll}
            />
          </th>
        ) : null}
        <SortHead name="Status" sorting={sorting} />
        <th scope="col">Execution</th>
        <SortHead name="Workflow" sorting={sorting} />
        <SortHead name="Step" sorting={sorting} />
        <SortHead name="Started" sorting={sorting} isNumber />
        <SortHead name="Took" sorting={sorting} isNumber />
        <th scope="col">Why, tags</th>
      </tr>
    </thead>
  );
}

interface RowProps {
  readonly item: ExecutionSummary;
  readonly at: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly toggle: (() => void) | undefined;
  readonly focused: () => void;
}

const Row = ({ item, at, isActive, isSelected, toggle, focused }: RowProps): JSX.Element => (
  <tr
    data-id={item.executionId}
    aria-rowindex={at + 2}
    class={isActive ? 'active' : isSelected ? 'selected' : ''}
    onFocusIn={focused}
  >
    {toggle === undefined ? null : (
      <td class="tick-cell">
        <input
          type="checkbox"
          aria-label={`Select ${item.executionId}`}
          checked={isSelected}
          onChange={toggle}
        />
      </td>
    )}
    <td class="status-cell">
      <ExecutionStatusOf status={item.status} asked={item.asked} />
    </td>
    <td class="id-cell">
      <a class="mono" href={executionLink(item.executionId)}>
        <ShortId id={item.executionId} />
      </a>
    </td>
    <td class="rest-cell">{item.workflow}</td>
    <td class="rest-cell">{item.step}</td>
    <td class="since-cell">
      <Ago at={item.startedAt} />
    </td>
    <td class="rest-cell">
      {item.endedAt === undefined ? (
        <span class="faint">–</span>
      ) : (
        <Lasted from={item.startedAt} to={item.endedAt} />
      )}
    </td>
    <td class="cut">
      <Notes item={item} />
    </td>
  </tr>
);

/** The reason of the risk, without details. */
const riskNote = (risk: NonNullable<ExecutionSummary['risk']>): string =>
  isNarrow.value ? riskText(risk) : `at risk: ${riskText(risk)}`;

/** Shows notes on an execution: its failure, since when it is at risk, its tags. */
function Notes({ item }: { item: ExecutionSummary }): JSX.Element {
  const { workflow, cause, tags = {}, riskSince, risk, step } = item;
  const why =
    cause === undefined
      ? ''
      : `${cause.failure.code}${cause.step === undefined ? '' : ` at ${cause.step}`}: ${cause.failure.message}`;
  const tagged = Object.entries(tags).map(([name, value]) => `${name}: ${value}`);
  const text = [why, ...tagged].filter(Boolean).join(' · ');
  return (
    <span title={text}>
      <span class="narrow-only">
        {[workflow, step].filter(Boolean).join(' · ')}
        {text === '' && risk === undefined ? '' : ' · '}
      </span>
      {riskSince === undefined || risk === undefined || item.endedAt !== undefined ? null : (
        <strong class="risk" title={`since ${clockText(riskSince)}`}>
          ! {riskNote(risk)}{' '}
        </strong>
      )}
      {text}
    </span>
  );
}
