/**
 * Tracks the child executions, at any depth, that are open in an execution's graph, and makes the addresses
 * that open and close them.
 *
 * Owns: `open=` in the address, and reading the open executions. Does not own: where they are drawn
 * (`../parts/graph-layout.ts`).
 */

import { useRef } from 'preact/hooks';
import type { ExecutionView } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { type Graph, graphOfExecution, type GraphStep } from '../../lib/view/graph.ts';
import { api } from '../api.ts';
import { useLive } from '../live.ts';
import type { Opening } from '../parts/graph.tsx';
import type { Inside } from '../parts/graph-layout.ts';
import { addressOf, place } from '../router.ts';

/** Executions by their ids. */
type Opened = Readonly<Record<string, ExecutionView>>;

export const openedIn = (): readonly string[] =>
  (place.value.query.get('open') ?? '').split(',').filter(Boolean);

const read = async (ids: readonly string[]): Promise<Opened> =>
  Object.fromEntries((await Promise.all(ids.map((id) => api.get(id)))).map((one) => [one.executionId, one]));

/**
 * Reads the open executions separately from the page, so that opening one does not change the page or its
 * focus.
 */
export function useOpened(): { readonly opened: Opened; readonly error: unknown } {
  const ids = openedIn();
  const live = useLive(`opened ${ids.join()}`, () => read(ids), { isOver: () => ids.length === 0 });
  const last = useRef<Opened>({});
  if (live.data !== undefined) last.current = live.data;
  return { opened: last.current, error: live.error };
}

type Children = GraphStep['state'];

/** The ids of the started child executions in the answer. */
const idsOf = (state: Children): readonly string[] =>
  state?.children?.executionIds.slice(0, state.children.started) ?? [];

export function insideOf(
  view: ExecutionView,
  workflows: readonly WorkflowView[],
  opened: Opened,
): ReadonlyMap<string, Inside> {
  const ids = openedIn();
  return new Map(
    view.steps.flatMap((step) => {
      const inner = opened[idsOf(step).find((one) => ids.includes(one)) ?? ''];
      if (inner === undefined) return [];
      const graph: Graph = graphOfExecution(inner, workflows);
      return [[step.name, { graph, inside: insideOf(inner, workflows, opened) }]];
    }),
  );
}

/**
 * The address that opens one of a step's executions, or none, and closes the step's other executions with all
 * inside them.
 */
export function placeWith(id: string, of: Children, opened: Opened, wanted: string | undefined): string {
  const ids = openedIn();
  const closed = new Set(idsOf(of).filter((one) => one !== wanted));
  for (const one of closed)
    for (const step of (ids.includes(one) ? opened[one] : undefined)?.steps ?? [])
      for (const below of idsOf(step)) closed.add(below);
  const others = ids.filter((one) => one !== wanted && !closed.has(one));
  const open = [...others, ...(wanted === undefined ? [] : [wanted])].join();
  return addressOf(['executions', id], { step: place.value.query.get('step'), open });
}

/**
 * The links of a step's box: they open the step's first execution (its latest round), then the previous and
 * the next one.
 */
export function opening({ state }: GraphStep, id: string, opened: Opened): Opening | undefined {
  const ids = idsOf(state);
  if (ids.length === 0) return undefined;
  const at = ids.findIndex((one) => openedIn().includes(one));
  const to = (one: string | undefined): string => placeWith(id, state, opened, one);
  if (at === -1)
    return { href: to(state?.children?.rounds === undefined ? ids[0] : ids.at(-1)), isOpen: false };
  const beside = (one: string | undefined): string | undefined => (one === undefined ? undefined : to(one));
  const among = {
    at: at + 1,
    of: state?.children?.started ?? 0,
    before: beside(ids[at - 1]),
    after: beside(ids[at + 1]),
  };
  return { href: to(undefined), isOpen: true, ...(ids.length === 1 ? {} : { among }) };
}
