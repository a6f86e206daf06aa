/**
 * Writes a plan as a Mermaid flowchart, which GitHub, GitLab and many editors draw.
 *
 * Owns: shapes, colours, and escaping the texts of steps. Does not own: the words (`graph.ts`).
 *
 * https://mermaid.js.org/syntax/flowchart.html
 */

import { printable, timeText } from '../../lib/view/text.ts';
import {
  childrenOf,
  type Graph,
  type GraphStep,
  type Tone,
  toneOf,
  linesBetween,
  performerIn,
  statusIn,
} from '../../lib/view/graph.ts';

/** Dark text on light colours, readable on a dark page too. */
const STYLES: Readonly<Record<Tone, string>> = {
  done: 'fill:#d3f2d9,stroke:#1f7a3a,color:#0b2e16',
  active: 'fill:#d6e8ff,stroke:#1f5fbf,color:#0b2447',
  waiting: 'fill:#fff1c9,stroke:#a36f00,color:#3d2a00',
  failed: 'fill:#ffd9d6,stroke:#b3261e,color:#410e0b',
  tolerated: 'fill:#ffe6d1,stroke:#b3541e,color:#45210b,stroke-dasharray:5 3',
  skipped: 'fill:#efefef,stroke:#777777,color:#333333,stroke-dasharray:5 3',
  compensated: 'fill:#eadcfb,stroke:#6b3fa0,color:#2a1247',
  pending: 'fill:#ffffff,stroke:#777777,color:#333333',
};

/** The opening and closing characters of a shape. */
const SHAPES: Readonly<Record<GraphStep['kind'], readonly [string, string]>> = {
  agent: ['["', '"]'],
  wait: ['(["', '"])'],
  callback: ['{{"', '"}}'],
  approval: ['{{"', '"}}'],
  receive: ['{{"', '"}}'],
  lane: ['(["', '"])'],
  child: ['[["', '"]]'],
  map: ['[["', '"]]'],
};

/**
 * The most lines that Mermaid draws; a page cannot raise the limit.
 * https://mermaid.js.org/config/schema-docs/config.html#maxedges
 */
export const MOST_LINES = 500;

export function mermaidText(graph: Graph): string {
  const { steps, execution } = graph;
  const ids = new Map(steps.map(({ name }, index) => [name, `s${index}`]));
  const box = (step: GraphStep): string => boxOf(graph, step, ids.get(step.name) ?? '');
  const onFailure = steps.filter((step) => step.onFailure === true);
  const title = [graph.workflow, execution?.executionId, execution?.status].filter(Boolean).join(' ');
  const looks = new Set(steps.flatMap(({ state }) => (state === undefined ? [] : [toneOf(state)])));
  const lines = [
    '---',
    `title: "${title.replace(/[^\w .:-]/g, '?')}"`,
    '---',
    'flowchart TD',
    ...steps.filter((step) => step.onFailure !== true).map((step) => `  ${box(step)}`),
    ...(onFailure.length === 0
      ? []
      : ['  subgraph onFailure ["on failure"]', ...onFailure.map((step) => `    ${box(step)}`), '  end']),
    ...linesBetween(steps).map(([from, to]) => `  ${ids.get(from) ?? ''} --> ${ids.get(to) ?? ''}`),
    ...[...looks].map((tone) => `  classDef ${tone} ${STYLES[tone]}`),
  ];
  return `${lines.join('\n')}\n`;
}

function boxOf(graph: Graph, step: GraphStep, id: string): string {
  const { state } = step;
  const [open, close] = SHAPES[step.kind] ?? SHAPES.agent;
  const label = [step.name, performerIn(graph, step), ...marksOf(step), ...statesOf(graph, step)];
  const tone = state === undefined ? '' : `:::${toneOf(state)}`;
  return `${id}${open}${label.map(asText).join('<br/>')}${close}${tone}`;
}

const marksOf = ({ pointOfNoReturn }: GraphStep): string[] =>
  pointOfNoReturn === true ? ['point of no return'] : [];

function statesOf(graph: Graph, step: GraphStep): string[] {
  const { execution } = graph;
  const { state } = step;
  if (state === undefined) return [];
  const { waitsUntil } = state;
  const children = childrenOf(step);
  return [
    statusIn(graph, step),
    ...(waitsUntil === undefined || execution?.endedAt !== undefined
      ? []
      : [`until ${timeText(waitsUntil)}`]),
    ...(children === '' ? [] : [children]),
  ];
}

/**
 * Writes every character except letters, digits and harmless ones by its number: quotes would end the label,
 * tags and Markdown would be interpreted, '%%' would begin a comment, a leading dash a list.
 */
const asText = (text: string): string =>
  printable(text).replace(/[^A-Za-z0-9 ,:/()-]|^-/gu, (character) => `#${character.codePointAt(0) ?? 32};`);
