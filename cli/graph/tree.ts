/**
 * A plan as a tree for a terminal, a line for each step.
 *
 * Owns: where a step with several predecessors is put. Does not own: what is said of
 * it (`graph.ts`, `../print.ts`).
 *
 * A step stands in the column of what it follows, so that a long row of steps stays at the left;
 * branches are indented, and the step in which they meet is in the column in which they began. AFTER
 * names all that it comes right after.
 */

import { noteOf } from '../print.ts';
import { recoveryText } from '../../lib/view/waiting-steps.ts';
import { type Cells, printable, table } from '../../lib/view/text.ts';
import {
  childrenOf,
  type Graph,
  type GraphStep,
  performerIn,
  predecessorsOf,
  statusIn,
} from '../../lib/view/graph.ts';

export function treeText(graph: Graph, now: number): string {
  const { workflow, execution, steps } = graph;
  const head = ['STEP', ...(execution === undefined ? [] : ['STATUS']), 'AGENT', 'AFTER', 'NOTE'];
  const before = predecessorsOf(steps);
  const rows = (list: readonly GraphStep[]): Cells[] =>
    branches(list, before).map(([place, step]) => [
      `${place}${step.name}`,
      ...(execution === undefined ? [] : [statusIn(graph, step)]),
      performerIn(graph, step),
      (before.get(step.name) ?? []).join(', '),
      noteIn(graph, step, now),
    ]);
  const title = [workflow, execution?.executionId, execution?.status].filter(Boolean).join('  ');
  const onFailure = steps.filter((step) => step.onFailure === true);
  const all = [
    ...rows(steps.filter((step) => step.onFailure !== true)),
    ...(onFailure.length === 0 ? [] : [['on failure:'], ...rows(onFailure)]),
  ];
  return `${printable(title)}\n\n${table(
    head,
    all.map((row) => row.map(printable)),
  )}`;
}

function noteIn({ execution }: Graph, step: GraphStep, now: number): string {
  const recovery = execution === undefined ? recoveryText(step) : undefined;
  const children = childrenOf(step);
  const { state } = step;
  const isQuiet = state === undefined || state.status === 'pending' || execution?.endedAt !== undefined;
  const note = isQuiet || children !== '' || step.onFailure === true ? '' : noteOf(state, now);
  const mark = step.pointOfNoReturn === true ? 'point of no return' : '';
  const failed = recovery === undefined ? '' : `after a failure: ${recovery}`;
  return [mark, children, note, failed].filter(Boolean).join('; ');
}

type Place = readonly [string, GraphStep];

/** Every step once, with what is drawn before its name. */
function branches(steps: readonly GraphStep[], before: ReadonlyMap<string, readonly string[]>): Place[] {
  const below = placed(steps, before);
  const places: Place[] = [];
  const draw = (parent: string | undefined, column: string): void => {
    const { begun, joined } = below.get(parent) ?? NOTHING;
    for (const [index, step] of begun.entries()) {
      const isLast = index === begun.length - 1;
      const [mark, under] = begun.length === 1 ? ['', ''] : isLast ? ['└─ ', '   '] : ['├─ ', '│  '];
      places.push([`${column}${mark}`, step]);
      draw(step.name, `${column}${under}`);
    }
    for (const step of joined) {
      places.push([column, step]);
      draw(step.name, column);
    }
  };
  draw(undefined, '');
  return places;
}

/**
 * What is drawn below a step, or below nothing: the branches that begin there, and the
 * steps in which such branches meet.
 */
interface Below {
  readonly begun: GraphStep[];
  readonly joined: GraphStep[];
}
const NOTHING: Below = { begun: [], joined: [] };

/** Below the last step that all the ways to it have in common. */
function placed(
  steps: readonly GraphStep[],
  before: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string | undefined, Below> {
  const parents = new Map<string, string | undefined>();
  const depths = new Map<string | undefined, number>();
  const depthOf = (name: string | undefined): number => depths.get(name) ?? 0;
  const above = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : parents.get(name);
  const common = (one: string | undefined, other: string | undefined): string | undefined => {
    if (one === other) return one;
    return depthOf(one) > depthOf(other) ? common(above(one), other) : common(one, above(other));
  };
  const below = new Map<string | undefined, Below>();
  for (const step of steps) {
    const names = before.get(step.name) ?? [];
    let [parent] = names;
    for (const name of names) parent = common(parent, name);
    parents.set(step.name, parent);
    depths.set(step.name, depthOf(parent) + 1);
    const place = below.get(parent) ?? { begun: [], joined: [] };
    place[names.length > 1 ? 'joined' : 'begun'].push(step);
    below.set(parent, place);
  }
  return below;
}
