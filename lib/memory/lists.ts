/**
 * Lists and counts of the state table in memory, as the indexes of the real one would give them.
 *
 * Owns: the entries of a list, their order, pages and cursors. Does not own: the records (`table.ts`), the
 * filters (`core/operators/list-filter.ts`).
 */

import {
  badEndOf,
  type Bounded,
  indexFor,
  isListed,
  type ListFilter,
  type ListOrder,
  MOST_OPEN,
  type Survey,
} from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import type { ListedPage, ListQuery } from '../core/ports.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { isExecutionId } from '../core/values/names.ts';
import { riskOf } from '../core/records/risk.ts';
import { openIncidents, type Snapshot, openQuestions } from '../core/records/snapshot.ts';
import { type Execution, isTerminal } from '../core/records/state.ts';

interface Options {
  /** The order of executions with the same time: an index of DynamoDB does not order these by their ids. */
  readonly tie: (executionId: string) => string;
  /** @default MOST_OPEN */
  readonly mostOpen?: number;
}

export function listIn(
  all: Iterable<Snapshot>,
  query: ListQuery,
  { tie, mostOpen = MOST_OPEN }: Options,
): ListedPage {
  const whole = [...all].filter(({ execution }) => execution.parent?.part !== true);
  const open = whole.filter(({ execution }) => isOpen(execution));
  const orderedBy = orderOf(query, open.length > mostOpen);
  const { since = 0, until = Number.POSITIVE_INFINITY } = query;
  const after = query.cursor === undefined ? undefined : parsePlace(query.cursor);
  const place = ([at, id]: Place) => [orderedBy === 'wakeAt' ? -at : at, tie(id)] as const;
  const rest = whole
    .filter(({ execution }) => indexFor(query) !== 'list' || query.workflows.includes(execution.workflow))
    .filter(({ execution }) => isListed(execution, query) && hasTag(execution, query))
    .flatMap((snapshot) => {
      const at = timeOf(snapshot, orderedBy, query);
      const bounded = orderedBy === 'wakeAt' ? snapshot.execution.startedAt : at;
      if (at === undefined || bounded === undefined || bounded < since || bounded >= until) return [];
      return [{ execution: snapshot.execution, place: [at, snapshot.execution.id] as Place }];
    })
    .filter((one) => after === undefined || compare(place(after), place(one.place)) > 0)
    .sort((one, other) => compare(place(other.place), place(one.place)));
  const page = rest.slice(0, query.limit);
  const last = page.at(-1)?.place;
  const items = page.map(({ execution }) => execution);
  return last !== undefined && rest.length > query.limit
    ? { items, cursor: last.join('.'), orderedBy }
    : { items, orderedBy };
}

const hasTag = ({ search, tags }: Execution, { tag }: ListFilter): boolean =>
  tag === undefined || (search?.includes(tag.name) === true && tags?.[tag.name] === tag.value);

const isOpen = ({ status, wakeAt }: Execution): boolean => wakeAt !== undefined && !isTerminal(status);

function orderOf(query: ListFilter, isCrowded: boolean): ListOrder {
  switch (indexFor(query)) {
    case 'code':
      return 'codeAt';
    case 'ended':
      return 'endedAt';
    case 'wake':
      return isCrowded ? 'wakeAt' : 'startedAt';
    default:
      return 'startedAt';
  }
}

/** Returns the time of an entry in the index; undefined if the index does not contain it. */
function timeOf(snapshot: Snapshot, orderedBy: ListOrder, { code }: ListFilter): number | undefined {
  const { execution } = snapshot;
  const end = badEndOf(execution);
  if (orderedBy === 'endedAt') return end?.endedAt;
  if (orderedBy !== 'codeAt') return execution[orderedBy];
  const times = openIncidents(snapshot).flatMap(({ failure, openedAt }) =>
    failure.code === code ? [openedAt] : [],
  );
  if (end !== undefined && end.code === code) times.push(end.endedAt);
  return times.length === 0 ? undefined : Math.max(...times);
}

export function surveyIn(
  all: Iterable<Snapshot>,
  {
    endedSince,
    workflows,
    latelySince = endedSince,
  }: {
    readonly endedSince: number;
    readonly workflows: readonly string[];
    readonly latelySince?: number | undefined;
  },
  most: number = MOST_OPEN,
): Survey {
  const snapshots = [...all];
  const whole = snapshots.map(({ execution }) => execution).filter(({ parent }) => parent?.part !== true);
  const open = whole.filter(isOpen).map((execution) => ({
    ...riskOf(execution),
    executionId: execution.id,
    workflow: execution.workflow,
    plan: execution.plan,
    startedAt: execution.startedAt,
    wakeAt: execution.wakeAt ?? 0,
  }));
  const ended = whole
    .filter((execution) => (badEndOf(execution)?.endedAt ?? -1) >= endedSince)
    .map(({ workflow, startedAt, status, cause }) => ({
      workflow,
      startedAt,
      status,
      code: cause?.failure.code ?? '',
    }));
  const bounded = <Key>(items: readonly Key[]) => upTo(most, items);
  const started = whole.filter(
    ({ workflow, startedAt }) => workflows.includes(workflow) && startedAt >= endedSince,
  );
  const { items, ...bound } = bounded(started);
  const lately = bounded(
    started.filter(({ startedAt }) => startedAt >= latelySince).map(({ workflow }) => workflow),
  );
  const begun = ended.length === 0 ? {} : { begun: { count: items.length, ...bound, lately } };
  return { open: bounded(open), ended: bounded(ended), inbox: openQuestionsIn(snapshots, most), ...begun };
}

export const openQuestionsIn = (
  all: Iterable<Snapshot>,
  most: number = MOST_OPEN,
  below?: string,
): Bounded<InboxKey> =>
  upTo(
    most,
    [...all].flatMap((snapshot) =>
      below !== undefined && !snapshot.execution.id.startsWith(`${below}.`)
        ? []
        : openQuestions(snapshot).map(({ kind, openedAt, deadlineAt }) => ({
            executionId: snapshot.execution.id,
            kind,
            openedAt,
            deadlineAt,
          })),
    ),
    (one, other) => one.deadlineAt - other.deadlineAt,
  );

const upTo = <Key>(
  most: number,
  items: readonly Key[],
  first: (one: Key, other: Key) => number = () => 0,
): Bounded<Key> =>
  items.length > most ? { items: items.toSorted(first).slice(0, most), atLeast: true } : { items };

type Place = readonly [at: number, id: string];

const compare = ([at, id]: Place, [otherAt, otherId]: Place): number =>
  at - otherAt || (id < otherId ? -1 : Number(id > otherId));

/**
 * Parses a cursor of a list. It contains the last place instead of a number, so that new and removed entries
 * do not shift the pages.
 * @throws SteadfastError `bad-cursor`
 */
export function parsePlace(cursor: string): Place {
  const match = /^(\d{1,15})\.(.+)$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined || !isExecutionId(match[2])) {
    throw badCursor();
  }
  return [Number(match[1]), match[2]];
}

/**
 * Parses a cursor of the inbox: how many entries come before.
 * @throws SteadfastError `bad-cursor`
 */
export function parseCount(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

const badCursor = (): SteadfastError =>
  refuse('bad-cursor', 'the cursor is not one that a list has returned');
