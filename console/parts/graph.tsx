/**
 * A plan, or an execution, as boxes and lines: each box is a link to its step.
 *
 * Owns: what is written in a box. Does not own: where it is (`graph-layout.ts`), what is said of a step (`lib/cli/graph/graph.ts`).
 */

import type { JSX } from 'preact';
import { childrenOf, type Graph, type GraphStep, performerIn } from '../../lib/cli/graph/graph.ts';
import { BOX, type Box, insideAt, type Layout, pathOf } from './graph-layout.ts';
import { toneOfStep, SIGN } from './status.tsx';

export interface GraphLinks {
  /** Where the box of a step leads to. */
  readonly hrefOf: (step: string, graph: Graph) => string;
  readonly selected?: string | undefined;
  /** Where a step with an execution of its own is opened, or closed again. */
  readonly openOf?: (step: GraphStep, graph: Graph) => Opening | undefined;
}

export interface Opening {
  readonly href: string;
  readonly isOpen: boolean;
  /** Where it has several: which of them is opened, and where those beside it are. */
  readonly among?: {
    readonly at: number;
    readonly of: number;
    readonly before: string | undefined;
    readonly after: string | undefined;
  };
}

export const GraphPicture = ({
  layout,
  label,
  ...links
}: GraphLinks & { layout: Layout; label: string }): JSX.Element => (
  <div class="graph" tabIndex={0} role="group" aria-label={label}>
    <svg width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`}>
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0,0.5 L7.5,4 L0,7.5 z" />
        </marker>
      </defs>
      <Drawn layout={layout} {...links} />
    </svg>
  </div>
);

const Drawn = ({ layout, ...links }: GraphLinks & { layout: Layout }): JSX.Element => (
  <>
    {layout.lines.map(({ key, points }) => (
      <path key={key} class="line" d={pathOf(points)} marker-end="url(#arrow)" />
    ))}
    {layout.boxes.map((box) => (
      <StepBox key={box.step.name} box={box} graph={layout.graph} {...links} />
    ))}
  </>
);

function StepBox({ box, graph, ...links }: GraphLinks & { box: Box; graph: Graph }): JSX.Element {
  const { step, inside } = box;
  const isSelected = links.selected === `${graph.execution?.executionId ?? ''} ${step.name}`;
  const tone =
    step.state === undefined
      ? `plan${step.onFailure === true ? ' on-failure' : ''}`
      : toneOfStep(step.state.status);
  const opening = links.openOf?.(step, graph);
  return (
    <g class={`box ${tone}${isSelected ? ' selected' : ''}`} transform={`translate(${box.x},${box.y})`}>
      <title>{[step.name, ...linesOf(graph, step)].join('\n')}</title>
      <a href={links.hrefOf(step.name, graph)}>
        <rect class="frame" width={box.width} height={box.height} rx={5} />
        <rect class="edge" width={4} height={box.height} rx={2} />
        <BoxText graph={graph} step={step} />
      </a>
      {opening === undefined ? null : <OpenSign {...opening} x={box.width - 22} name={step.name} />}
      {inside === undefined ? null : (
        <g transform={`translate(${insideAt.x},${insideAt.y})`}>
          <Drawn layout={inside} {...links} />
        </g>
      )}
    </g>
  );
}

const OpenSign = ({
  href,
  isOpen,
  among,
  x,
  name,
}: Opening & { readonly x: number; readonly name: string }): JSX.Element => (
  <>
    <Sign href={href} x={x} label={`${isOpen ? 'Close' : 'Open'} the execution of ${name}`}>
      {isOpen ? '−' : '+'}
    </Sign>
    {among === undefined ? null : (
      <>
        <Sign href={among.after} x={x - 22} label={`Open the next execution of ${name}`}>
          ›
        </Sign>
        <Sign href={among.before} x={x - 42} label={`Open the previous execution of ${name}`}>
          ‹
        </Sign>
        <text class="line1 among" x={x - 47} y={18} text-anchor="end">
          {among.at}/{among.of}
        </text>
      </>
    )}
  </>
);

/** Without a place to lead to it stays, so that whoever stands on it goes on from there. */
const Sign = ({
  href,
  x,
  label,
  children,
}: {
  href: string | undefined;
  x: number;
  label: string;
  children: string;
}): JSX.Element => (
  <a
    class="open"
    href={href ?? ''}
    aria-label={label}
    aria-disabled={href === undefined ? 'true' : undefined}
    onClick={href === undefined ? (event) => event.preventDefault() : undefined}
  >
    <rect x={x} y={6} width={16} height={16} rx={3} />
    <text x={x + 8} y={18} text-anchor="middle">
      {children}
    </text>
  </a>
);

/** What is read in a box without a closer look. */
const NAME_CHARS = 22;
const LINE_CHARS = 27;
const cutTo = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;

function BoxText({ graph, step }: { graph: Graph; step: GraphStep }): JSX.Element {
  const [performer = '', state = ''] = linesOf(graph, step);
  const status = step.state?.status;
  return (
    <>
      <text class="name" x={14} y={19}>
        {`${cutTo(step.name, NAME_CHARS)} `}
      </text>
      <text class="line1" x={14} y={35}>
        {`${cutTo(performer, LINE_CHARS)} `}
      </text>
      <text class="line2" x={14} y={51}>
        {status === undefined
          ? cutTo(state, LINE_CHARS)
          : `${SIGN[toneOfStep(status)]} ${cutTo(state, LINE_CHARS - 2)}`}
      </text>
      {step.pointOfNoReturn === true ? (
        <text class="mark" x={BOX.width - 10} y={51} text-anchor="end">
          ⚑
        </text>
      ) : null}
    </>
  );
}

/** Who performs it; how it is, or what its plan says. */
function linesOf(graph: Graph, step: GraphStep): string[] {
  const { state } = step;
  const marks = [
    ...(step.onFailure === true ? ['on failure'] : []),
    ...(step.pointOfNoReturn === true ? ['point of no return'] : []),
  ];
  if (state === undefined) return [performerIn(graph, step), marks.join(', ') || kindText(step)];
  const children = childrenOf(step);
  const attempt = (state.attempt ?? 1) > 1 ? `, attempt ${state.attempt}` : '';
  return [
    performerIn(graph, step),
    [`${state.status}${attempt}`, ...(children === '' ? [] : [children]), ...marks].join('; '),
  ];
}

const kindText = ({ kind, effect, undo }: GraphStep): string =>
  kind === 'agent' ? `${effect ?? ''}${undo === 'none' ? ', no undo' : ''}` : kind;
