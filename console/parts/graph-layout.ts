/**
 * Computes the positions of a graph's boxes and lines.
 *
 * Owns: sizes, graphs inside boxes, the lane of the on-failure steps, and the direction of the graph. Does
 * not own: which lines there are (`lib/view/graph.ts`), the texts (`graph-text.ts`), the drawing
 * (`graph.tsx`).
 */

import { Graph as Dagre, layout as layOut } from '@dagrejs/dagre';
import { type Graph, type GraphStep, linesBetween } from '../../lib/view/graph.ts';
import { LINE_HEIGHT, linesOf, type TextLine } from './graph-text.ts';

/** The distances between the text and the edges of its box. */
export const TEXT = { left: 14, right: 8, first: 19, below: 11 } as const;
/** The possible widths of a box, the best first; with a narrower one the graph may fit without scrolling. */
const WIDTHS = [188, 168, 150] as const;
/** The margin around a graph inside a box. */
const AROUND = 12;
/** The width of the button beside the name of a step with child executions. */
const SIGN = 24;
const SIGNS = 76;
/** The margins of the lane of on-failure steps, with room for its name above. */
const LANE = { around: 10, above: 24, gap: 16 } as const;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly step: GraphStep;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly TextLine[];
  readonly inside?: Layout & Point;
}

export interface Lane extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly graph: Graph;
  readonly width: number;
  readonly height: number;
  /** Whether the graph runs from left to right. */
  readonly isAcross: boolean;
  readonly boxes: readonly Box[];
  readonly lines: readonly { readonly key: string; readonly points: readonly Point[] }[];
  /** The separate lane of the on-failure steps. */
  readonly lane?: Lane;
}

/** The graph of a child that is open in a box, and the open graphs inside it, by step. */
export interface Inside {
  readonly graph: Graph;
  readonly inside: ReadonlyMap<string, Inside>;
}

type Opened = ReadonlyMap<string, Inside>;

/**
 * Lays the graph out from left to right if it fits, otherwise from top to bottom; if neither fits, in the
 * direction that overflows less.
 * @param room the available width
 * @param inside the open graphs, by step
 */
export function layoutOf(graph: Graph, room: number, inside: Opened = new Map()): Layout {
  const drawn = { graph, room, inside };
  const [widest, ...narrower] = WIDTHS.map((width) => () => laidOut({ ...drawn, width, isAcross: true }));
  let across = widest?.();
  for (const next of narrower) if (across === undefined || across.width > room) across = next();
  if (across !== undefined && across.width <= room) return across;
  const [narrowest] = WIDTHS.slice(-1);
  const down = laidOut({ ...drawn, width: room < 520 ? (narrowest ?? 0) : WIDTHS[1], isAcross: false });
  return across === undefined || down.width <= Math.max(room, across.width) ? down : across;
}

interface Drawn {
  readonly graph: Graph;
  readonly room: number;
  readonly inside: Opened;
  /** The width of a box. */
  readonly width: number;
  readonly isAcross: boolean;
}

function laidOut(drawn: Drawn): Layout {
  const { graph, isAcross } = drawn;
  const main = groupOf(
    graph.steps.filter(({ onFailure }) => onFailure !== true),
    drawn,
  );
  const onFailure = graph.steps.filter((step) => step.onFailure === true);
  if (onFailure.length === 0) return { graph, isAcross, ...main };
  const after = groupOf(onFailure, drawn);
  const hasMain = main.boxes.length > 0;
  const lane: Lane = {
    x: 4,
    y: hasMain ? main.height + LANE.gap : 4,
    width: after.width + 2 * LANE.around,
    height: after.height + LANE.above + LANE.around,
  };
  const moved = movedBy(after, { x: lane.x + LANE.around, y: lane.y + LANE.above });
  return {
    graph,
    isAcross,
    width: Math.max(main.width, lane.x + lane.width + 4),
    height: lane.y + lane.height + 4,
    boxes: [...main.boxes, ...moved.boxes],
    lines: [...main.lines, ...moved.lines],
    lane,
  };
}

type Group = Pick<Layout, 'width' | 'height' | 'boxes' | 'lines'>;

const movedBy = ({ boxes, lines, ...size }: Group, by: Point): Group => {
  const moved = <P extends Point>(one: P): P => ({ ...one, x: one.x + by.x, y: one.y + by.y });
  return {
    ...size,
    boxes: boxes.map(moved),
    lines: lines.map(({ key, points }) => ({ key, points: points.map(moved) })),
  };
};

/** Lays out steps and the lines between them. */
function groupOf(steps: readonly GraphStep[], drawn: Drawn): Group {
  if (steps.length === 0) return { width: 0, height: 0, boxes: [], lines: [] };
  const dagre = new Dagre();
  const { isAcross } = drawn;
  dagre.setGraph({
    rankdir: isAcross ? 'LR' : 'TB',
    nodesep: isAcross ? 14 : 20,
    ranksep: isAcross ? 36 : 26,
    marginx: 4,
    marginy: 4,
  });
  dagre.setDefaultEdgeLabel(() => ({}));
  const sized = new Map(steps.map((step) => [step.name, sizeOf(step, drawn)]));
  for (const [name, { width, height }] of sized) dagre.setNode(name, { width, height });
  const lines = linesBetween(steps);
  for (const [from, to] of lines) dagre.setEdge(from, to);
  layOut(dagre);
  const { width = 0, height = 0 } = dagre.graph() as { width?: number; height?: number };
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    boxes: [...sized].map(([name, size]) => {
      const { x, y } = dagre.node(name) as Point;
      return { ...size, x: x - size.width / 2, y: y - size.height / 2 };
    }),
    lines: lines.map(([from, to]) => ({
      key: `${from} ${to}`,
      points: (dagre.edge(from, to) as { points: readonly Point[] }).points,
    })),
  };
}

/** The size of a box, as high as its text needs. */
function sizeOf(step: GraphStep, { graph, room, inside, width }: Drawn): Omit<Box, 'x' | 'y'> {
  const within = inside.get(step.name);
  const layout =
    within === undefined ? undefined : layoutOf(within.graph, room - 2 * AROUND - 8, within.inside);
  const sign = step.state?.children === undefined ? 0 : SIGN;
  const own = layout === undefined ? width : Math.max(WIDTHS[0] + SIGNS, layout.width + 2 * AROUND);
  const signs = layout === undefined ? sign : SIGN + SIGNS;
  const lines = linesOf(graph, step, own - TEXT.left - TEXT.right, signs);
  const text = TEXT.first + (lines.length - 1) * LINE_HEIGHT + TEXT.below;
  if (layout === undefined) return { step, lines, width: own, height: text };
  return {
    step,
    lines,
    width: own,
    height: text + layout.height + AROUND,
    inside: { ...layout, x: AROUND, y: text },
  };
}

/** The path of a line through its points, with round corners. */
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
