/**
 * A plan or an execution as boxes and lines. Each box links to its step.
 *
 * Owns: the drawing and the links. Does not own: the positions (`graph-layout.ts`), the texts
 * (`graph-text.ts`).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Graph, type GraphStep, toneOf } from '../../lib/view/graph.ts';
import { type Box, type Lane, type Layout, pathOf, TEXT } from './graph-layout.ts';
import { LINE_HEIGHT, textsOf } from './graph-text.ts';

export interface GraphLinks {
  /** The address of a step's box. */
  readonly hrefOf: (step: string, graph: Graph) => string;
  readonly selected?: string | undefined;
  /** Opens and closes a step's child execution, if it has one. */
  readonly openOf?: (step: GraphStep, graph: Graph) => Opening | undefined;
}

export interface Opening {
  readonly href: string;
  readonly isOpen: boolean;
  /** For a step with several executions: the open one, and the addresses of the previous and next ones. */
  readonly among?: {
    readonly at: number;
    readonly of: number;
    readonly before: string | undefined;
    readonly after: string | undefined;
  };
}

export function GraphPicture({
  layout,
  label,
  ...links
}: GraphLinks & { layout: Layout; label: string }): JSX.Element {
  const { width, height } = layout;
  const box = useRef<HTMLDivElement>(null);
  const isWhole = useSignal(false);
  const { scale, isCut, isWide } = useFit(box, layout);
  return (
    <>
      <div
        class={isWhole.value ? 'graph whole' : 'graph'}
        ref={box}
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        <svg width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`}>
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0,0.5 L7.5,4 L0,7.5 z" />
            </marker>
          </defs>
          <Drawn layout={layout} {...links} />
        </svg>
      </div>
      {isWide ? <p class="faint">The graph goes on to the right: scroll it.</p> : null}
      {isCut && !isWhole.value ? (
        <p class="faint">
          The graph goes on below.{' '}
          <button type="button" class="quiet" onClick={() => (isWhole.value = true)}>
            show all of it
          </button>
        </p>
      ) : null}
    </>
  );
}

/** The smallest scale at which the text can be read. */
const SMALLEST = 0.75;
/** The padding and the frame, in pixels. */
const AROUND = 22;

/**
 * Scales a graph that is slightly too high. A much higher graph is cut and a wider one scrolls, with a note.
 */
function useFit(
  box: { readonly current: HTMLElement | null },
  { width, height }: Pick<Layout, 'width' | 'height'>,
): { readonly scale: number; readonly isCut: boolean; readonly isWide: boolean } {
  const room = useSignal(Number.POSITIVE_INFINITY);
  const across = useSignal(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const measure = (): void => {
      // The height in pixels, as the browser computes it; NaN if it has no limit.
      const most =
        box.current === null ? Number.NaN : Number.parseFloat(getComputedStyle(box.current).maxHeight);
      if (Number.isFinite(most)) room.value = most - AROUND;
      if (box.current !== null) across.value = box.current.clientWidth;
    };
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, [width, height]);
  const scale = Math.min(1, Math.max(SMALLEST, room.value / height));
  const isWide = width * scale + AROUND - 2 > across.value + 1;
  return { scale, isCut: height * scale > room.value + 1, isWide };
}

const Drawn = ({ layout, ...links }: GraphLinks & { layout: Layout }): JSX.Element => (
  <>
    {layout.lane === undefined ? null : <OnFailure {...layout.lane} />}
    {layout.lines.map(({ key, points }) => (
      <path key={key} class="line" d={pathOf(points)} marker-end="url(#arrow)" />
    ))}
    {layout.boxes.map((box) => (
      <StepBox key={box.step.name} box={box} graph={layout.graph} {...links} />
    ))}
  </>
);

/** Draws the lane of the on-failure steps. */
const OnFailure = ({ x, y, width, height }: Lane): JSX.Element => (
  <g class="lane" transform={`translate(${x},${y})`}>
    <rect width={width} height={height} rx={6} />
    <text x={10} y={16}>
      on failure
    </text>
  </g>
);

function StepBox({ box, graph, ...links }: GraphLinks & { box: Box; graph: Graph }): JSX.Element {
  const { step, inside, lines } = box;
  const isSelected = links.selected === `${graph.execution?.executionId ?? ''} ${step.name}`;
  const tone = step.state === undefined ? 'plan' : toneOf(step.state);
  const opening = links.openOf?.(step, graph);
  return (
    <g class={`box ${tone}${isSelected ? ' selected' : ''}`} transform={`translate(${box.x},${box.y})`}>
      <title>
        {[...textsOf(graph, step), ...(step.onFailure === true ? ['on failure'] : [])].join('\n')}
      </title>
      <a href={links.hrefOf(step.name, graph)}>
        <rect class="frame" width={box.width} height={box.height} rx={5} />
        <rect class="edge" width={4} height={box.height} rx={2} />
        {lines.map(({ look, text }, at) => (
          <text key={at} class={look} x={TEXT.left} y={TEXT.first + at * LINE_HEIGHT}>
            {`${text} `}
          </text>
        ))}
      </a>
      {opening === undefined ? null : <OpenSign {...opening} x={box.width - 22} name={step.name} />}
      {inside === undefined ? null : (
        <g transform={`translate(${inside.x},${inside.y})`}>
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

/** A button on a box. Without a target it is still drawn, so that the keyboard focus is not lost. */
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
