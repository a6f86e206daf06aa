/** The list of executions by the filters in the address, with the bulk actions. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { countText, type ExecutionSummary } from '../../lib/api/answers.ts';
import { settings } from '../api.ts';
import { serverTime } from '../clock.ts';
import { keptOf, readAgain, useLive } from '../live.ts';
import { Empty, Problem, READ_ONLY, Shown } from '../parts/states.tsx';
import { useSorting } from '../parts/sorted.tsx';
import { addressOf, place } from '../router.ts';
import { BulkProgress } from './bulk-progress.tsx';
import { Bulk } from './bulk.tsx';
import { FilterBar, UsualFilters } from './filter-bar.tsx';
import { askedFor, type Filters, filtersIn } from './filters.ts';
import { COLUMNS, List } from './list.tsx';
import { PAGE, type PageRead, Pages } from './pages.ts';

export function ExecutionsPage(): JSX.Element {
  const filters = filtersIn(place.value.query);
  const bulk = place.value.query.get('bulk');
  return (
    <section aria-labelledby="executions" class="executions">
      <div class="title">
        <h1 id="executions">Executions</h1>
        <UsualFilters filters={filters} />
      </div>
      <FilterBar filters={filters} />
      {bulk === undefined ? null : <BulkProgress key={bulk} id={bulk} done={readAgain} />}
      <Filtered key={JSON.stringify(filters)} filters={filters} />
    </section>
  );
}

function Filtered({ filters }: { filters: Filters }): JSX.Element {
  const key = `executions ${JSON.stringify(filters)}`;
  const pages = useMemo(
    () => new Pages(() => askedFor(filters, serverTime.now()), keptOf(key) as PageRead | undefined),
    [],
  );
  const seen = useSignal(0);
  const live = useLive<PageRead>(key, () => pages.again(Math.floor(seen.peek() / PAGE)));
  // Keeps the pages that were read, so that the reader returns to the same place in the list.
  const isRead = pages.read.value.length > 0;
  return (
    <Shown live={isRead ? live : { ...live, data: undefined }} what="the executions">
      {() => <Listed pages={pages} filters={filters} onSeen={(first) => (seen.value = first)} />}
    </Shown>
  );
}

const None = ({ isFiltered }: { isFiltered: boolean }): JSX.Element => (
  <Empty title={isFiltered ? 'No execution matches' : 'No execution has been started yet'}>
    {isFiltered ? <a href={addressOf(['executions'])}>Show all executions</a> : <ToBegin />}
  </Empty>
);

interface ListedProps {
  readonly pages: Pages;
  readonly filters: Filters;
  readonly onSeen: (first: number) => void;
}

function Listed({ pages, filters, onSeen }: ListedProps): JSX.Element {
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const sorting = useSorting(COLUMNS);
  const items = sorting.of(pages.items());
  const isSorted = sorting.order.value !== undefined;
  const hasMore = pages.hasMore();
  if (items.length === 0 && !hasMore) return <None isFiltered={Object.keys(filters).length > 0} />;
  const causes = filters.code === undefined && filters.tag === undefined ? byCause(items) : [];
  const orderedBy = pages.read.value[0]?.page.orderedBy;
  return (
    <>
      {settings.readOnly ? null : (
        <Bulk
          ids={[...selected.value]}
          filters={filters}
          workflow={filters.workflow ?? oneWorkflow(items, selected.value)}
          clear={() => (selected.value = new Set())}
        />
      )}
      <Causes causes={causes} filters={filters} />
      <List
        items={items}
        selected={selected}
        hasMore={hasMore}
        // In a sorted list, a visible row may be of any page.
        onSeen={(first) => onSeen(isSorted ? 0 : first)}
        sorting={sorting}
        more={() => void pages.more()}
        selectable={!settings.readOnly}
      />
      <p class="faint">
        {countText(items.length)} read{hasMore ? ', and there are more' : ', and these are all'}
        {isSorted && hasMore ? '; sorted is what was read' : ''}.
        {orderedBy === 'wakeAt' ? ' More than 10,000 are open, listed by due time.' : ''}{' '}
        {hasMore ? (
          <button
            type="button"
            class="quiet"
            disabled={pages.isReading.value}
            onClick={() => void pages.more()}
          >
            {pages.isReading.value ? 'reading …' : 'read more'}
          </button>
        ) : null}
      </p>
      {pages.error.value === undefined ? null : (
        <Problem error={pages.error.value} again={() => void pages.more()} />
      )}
    </>
  );
}

const ToBegin = (): JSX.Element =>
  settings.readOnly ? <>{READ_ONLY}</> : <a href={addressOf(['workflows'])}>Start one of a workflow</a>;

const Causes = ({
  causes,
  filters,
}: {
  causes: readonly (readonly [string, number])[];
  filters: Filters;
}): JSX.Element | null =>
  causes.length === 0 ? null : (
    <p class="chips" role="group" aria-label="Causes of the executions shown so far">
      {causes.map(([code, count]) => (
        <a key={code} href={addressOf(['executions'], { ...filters, code })}>
          {code}: {count}
        </a>
      ))}
    </p>
  );

/** The workflow of the selected executions, if they share one. */
function oneWorkflow(items: readonly ExecutionSummary[], ids: ReadonlySet<string>): string | undefined {
  const workflows = new Set(items.flatMap((item) => (ids.has(item.executionId) ? [item.workflow] : [])));
  return workflows.size === 1 ? [...workflows][0] : undefined;
}

/** Counts failures by code, the most frequent first. */
function byCause(items: readonly ExecutionSummary[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { cause } of items)
    if (cause !== undefined) counts.set(cause.failure.code, (counts.get(cause.failure.code) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}
