/**
 * Where the boxes and lines of a graph are.
 *
 * Owns: sizes, and graphs inside of boxes. Does not own: which lines are drawn (`lib/cli/graph/graph.ts`), how (`graph.tsx`).
 */

import { Graph as Dagre, layout as layOut } from '@dagrejs/dagre';
import { type Graph, type GraphStep, linesBetween } from '../../lib/cli/graph/graph.ts';

export const BOX = { width: 188, height: 62 } as const;
/** Around a graph inside of a box, and above it the text of the box. */
const INSIDE = { around: 12, above: 62 } as const;
/** More than in a closed box beside its name: which of several executions is opened, and those before and after it. */
const SIGNS = 76;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly step: GraphStep;
  readonly width: number;
  readonly height: number;
  readonly inside?: Layout;
}

export interface Layout {
  readonly graph: Graph;
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly { readonly key: string; readonly points: readonly Point[] }[];
}

/** The graph of an execution that is opened in a box, and by step what is opened inside of that one. */
export interface Inside {
  readonly graph: Graph;
  readonly inside: ReadonlyMap<string, Inside>;
}

/** More boxes in a row than are read without scrolling: from top to bottom then. */
const WIDE = 860;

/** @param inside by step that is opened */
export function layoutOf(graph: Graph, inside: ReadonlyMap<string, Inside> = new Map()): Layout {
  const across = laidOut(graph, inside, 'LR');
  return across.width <= WIDE ? across : laidOut(graph, inside, 'TB');
}

function laidOut(graph: Graph, inside: ReadonlyMap<string, Inside>, rankdir: 'LR' | 'TB'): Layout {
  const drawn = new Dagre();
  drawn.setGraph({ rankdir, nodesep: 22, ranksep: rankdir === 'LR' ? 44 : 34, marginx: 4, marginy: 4 });
  drawn.setDefaultEdgeLabel(() => ({}));
  const inner = new Map<string, Layout>();
  for (const { name } of graph.steps) {
    const within = inside.get(name);
    const layout = within === undefined ? undefined : layoutOf(within.graph, within.inside);
    if (layout !== undefined) inner.set(name, layout);
    drawn.setNode(name, sizeOf(layout));
  }
  const lines = linesBetween(graph.steps);
  for (const [from, to] of lines) drawn.setEdge(from, to);
  layOut(drawn);
  const { width = 0, height = 0 } = drawn.graph() as { width?: number; height?: number };
  return {
    graph,
    width: Math.ceil(width),
    height: Math.ceil(height),
    boxes: graph.steps.map((step) => boxOf(step, drawn.node(step.name) as Placed, inner.get(step.name))),
    lines: lines.map(([from, to]) => ({
      key: `${from} ${to}`,
      points: (drawn.edge(from, to) as { points: readonly Point[] }).points,
    })),
  };
}

interface Placed extends Point {
  readonly width: number;
  readonly height: number;
}

const sizeOf = (layout: Layout | undefined): { width: number; height: number } =>
  layout === undefined
    ? { ...BOX }
    : {
        width: Math.max(BOX.width + SIGNS, layout.width + 2 * INSIDE.around),
        height: layout.height + INSIDE.above + INSIDE.around,
      };

function boxOf(step: GraphStep, { x, y, width, height }: Placed, inside: Layout | undefined): Box {
  const corner = { step, x: x - width / 2, y: y - height / 2, width, height };
  return inside === undefined ? corner : { ...corner, inside };
}

/** Where a graph inside of a box begins. */
export const insideAt = { x: INSIDE.around, y: INSIDE.above } as const;

/** A line through its points, bent where it turns. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = [`M${first.x},${first.y}`];
  rest.forEach((point, at) => {
    const next = rest[at + 1];
    if (next === undefined) parts.push(`L${point.x},${point.y}`);
    else parts.push(`Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`);
  });
  return parts.join(' ');
}
