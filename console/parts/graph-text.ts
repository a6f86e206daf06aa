/**
 * Breaks the text of a step's box into lines that fit.
 *
 * Owns: the order of the lines, and breaking them by measured widths. Does not own: the words
 * (`lib/view/graph.ts`), the box (`graph-layout.ts`).
 */

import {
  childrenOf,
  type Graph,
  type GraphStep,
  performerIn,
  statusIn,
  toneOf,
} from '../../lib/view/graph.ts';
import { SIGN } from './status.tsx';

export interface TextLine {
  readonly look: 'name' | 'line1' | 'line2';
  readonly text: string;
}

/** The distance between two baselines. */
export const LINE_HEIGHT = 16;

/** The most lines for a name, an agent and a state; longer texts are cut. */
const MOST = { name: 2, line1: 3, line2: 3 } as const;
const FONT = { name: '600 13px', line1: '11.5px', line2: '11.5px' } as const;

/** @param room the width of a line @param sign the width of the button beside the name */
export function linesOf(graph: Graph, step: GraphStep, room: number, sign: number): readonly TextLine[] {
  const [name, performer, ...states] = textsOf(graph, step);
  const texts: readonly (readonly [TextLine['look'], string | undefined])[] = [
    ['name', name],
    ['line1', performer],
    ...states.map((state) => ['line2', state] as const),
  ];
  return texts.flatMap(([look, text]) =>
    text === undefined || text === ''
      ? []
      : wrapped(text, look === 'name' ? room - sign : room, look).map((one) => ({ look, text: one })),
  );
}

/** The step's name, its agent, and its state or its plan. */
export function textsOf(graph: Graph, step: GraphStep): readonly string[] {
  const { state, pointOfNoReturn } = step;
  const performer = performerIn(graph, step);
  const mark = pointOfNoReturn === true ? ['⚑ point of no return'] : [];
  if (state === undefined) return [step.name, performer, kindText(step), ...mark];
  const status = `${SIGN[toneOf(state)]} ${statusIn(graph, step)}`;
  // Keeps a count in one line.
  const children = childrenOf(step).replaceAll(/(\d) of (?=\d)/g, '$1\u00a0of\u00a0');
  return [step.name, performer, children === '' ? status : `${status}; ${children}`, ...mark];
}

const kindText = ({ kind, effect, undo }: GraphStep): string =>
  kind === 'agent' ? `${effect ?? ''}${undo === 'none' ? ', no undo' : ''}` : '';

/** Breaks a text at blanks and after hyphens; within a word only if the word alone is too long. */
function wrapped(text: string, room: number, look: TextLine['look']): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of text.split(/(?<=[ -])/)) {
    if (fits(line + piece, room, look)) {
      line += piece;
      continue;
    }
    if (line !== '') lines.push(line);
    line = piece;
    while (!fits(line, room, look)) {
      const head = longest(line, room, look);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  const all = [...lines, line].map((one) => one.trimEnd()).filter((one) => one !== '');
  const most = MOST[look];
  if (all.length <= most) return all;
  const last = all.slice(most - 1).join(' ');
  return [...all.slice(0, most - 1), `${longest(last, room - widthOf('…', look), look)}…`];
}

const fits = (text: string, room: number, look: TextLine['look']): boolean =>
  widthOf(text.trimEnd(), look) <= room;

/** The longest beginning of a text that fits, at least one character. */
function longest(text: string, room: number, look: TextLine['look']): string {
  const characters = Array.from(text);
  let count = characters.length;
  while (count > 1 && !fits(characters.slice(0, count).join(''), room, look)) count -= 1;
  return characters.slice(0, count).join('');
}

let context: CanvasRenderingContext2D | null | undefined;
let family = '';
const known = new Map<string, number>();

/** The drawn width of a text, cached because a page draws the same texts every few seconds. */
function widthOf(text: string, look: TextLine['look']): number {
  const key = `${FONT[look]} ${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  if (context === undefined) {
    context = document.createElement('canvas').getContext('2d');
    family = getComputedStyle(document.documentElement).getPropertyValue('--sans');
  }
  if (context === null) return text.length * 7;
  context.font = `${FONT[look]} ${family}`;
  const { width } = context.measureText(text);
  if (known.size > 5_000) known.clear();
  known.set(key, width);
  return width;
}
