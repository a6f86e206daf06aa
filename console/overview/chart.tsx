/**
 * One chart as a picture, and as text for readers who cannot see it.
 *
 * Owns: the drawing, in the page's colours and the available width. Does not own: the text of a value
 * (`chart-text.ts`).
 */

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { ShownChart, ShownCharts, ShownLine } from '../../lib/view/shown-charts.ts';
import { lineText, valueText } from './chart-text.ts';

const HEIGHT = 120;
/** The most lines in one picture, because more cannot be distinguished. The text lists all lines. */
const DRAWN = 8;

type Span = Pick<ShownCharts, 'fromAt' | 'everyMs' | 'periods' | 'startedAt'>;

export function ChartOf({ chart, span }: { chart: ShownChart; span: Span }): JSX.Element {
  const { title, unit, lines } = chart;
  const [drawn, others] = [lines.slice(0, DRAWN), lines.slice(DRAWN)];
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {lines.length === 0 ? (
        <p class="faint">No value in this period.</p>
      ) : (
        <>
          <Picture lines={drawn} unit={unit} span={span} />
          <ul class="chart-lines">
            {drawn.map((line, at) => (
              <li key={line.label}>
                <span class={`swatch line-${at}`} aria-hidden="true" />
                <LineText line={line} unit={unit} />
              </li>
            ))}
          </ul>
          {others.length === 0 ? null : (
            <details>
              <summary>{others.length} more</summary>
              <ul class="chart-lines">
                {others.map((line) => (
                  <li key={line.label}>
                    <LineText line={line} unit={unit} />
                  </li>
                ))}
              </ul>
            </details>
          )}
        </>
      )}
    </figure>
  );
}

const LineText = ({ line, unit }: { line: ShownLine; unit: ShownChart['unit'] }): JSX.Element => (
  <span>
    {line.label} <span class="faint">{lineText(line, unit)}</span>
  </span>
);

interface PictureProps {
  readonly lines: readonly ShownLine[];
  readonly unit: ShownChart['unit'];
  readonly span: Span;
}

function Picture({ lines, unit, span }: PictureProps): JSX.Element {
  const room = useRef<HTMLDivElement>(null);
  const shape = `${unit} ${lines.map(({ label }) => label).join('\n')}`;
  const plot = useRef<uPlot | undefined>(undefined);
  const data = dataOf(lines, span);
  const latest = useRef(data);
  latest.current = data;
  const from = useRef<number | undefined>(undefined);
  from.current = span.startedAt;
  useEffect(() => {
    const element = room.current;
    if (element === null) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(lines, unit, element.clientWidth, from), latest.current, element);
    };
    draw();
    const resized = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.current?.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      scheme.removeEventListener('change', draw);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div ref={room} class="chart-picture" aria-hidden="true" />;
}

const dataOf = (lines: readonly ShownLine[], { fromAt, everyMs, periods }: Span): uPlot.AlignedData => [
  Array.from({ length: periods }, (_, at) => (fromAt + at * everyMs) / 1_000),
  ...lines.map(({ values }) => [...values]),
];

function optionsOf(
  lines: readonly ShownLine[],
  unit: ShownChart['unit'],
  width: number,
  startedAt: { readonly current: number | undefined },
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour('--faint'),
    font: `11px ${colour('--sans')}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const top = lines.reduce((most, { values }) => Math.max(most, ...values.map((value) => value ?? 0)), 0);
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    hooks: { draw: [(plot) => markStart(plot, startedAt.current, colour('--faint'))] },
    scales: { y: { range: [0, unit === 'percent' ? 105 : top === 0 ? 1 : top * 1.1] } },
    axes: [
      { ...axis, space: 60, size: 22, values: (_, times) => times.map(hourText) },
      { ...axis, space: 30, size: asWide, values: (_, ticks) => ticks.map((tick) => tickText(tick, unit)) },
    ],
    series: [
      {},
      ...lines.map((_, at) => ({
        stroke: colour(`--line-${at}`),
        width: 1.5,
        // Draws no line across minutes without a value.
        spanGaps: false,
        points: { show: true, size: 4, filter: alone },
      })),
    ],
  };
}

/** Draws a vertical line at the time when the current code began to run. */
function markStart(plot: uPlot, startedAt: number | undefined, colour: string): void {
  const { ctx, bbox } = plot;
  const x = startedAt === undefined ? -1 : Math.round(plot.valToPos(startedAt / 1_000, 'x', true));
  if (x <= bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  // Centers the line on a pixel, so that it is sharp.
  ctx.moveTo(x + 0.5, bbox.top);
  ctx.lineTo(x + 0.5, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/** Draws points for values without a neighbour, because no line shows them. */
const alone: uPlot.Series.Points.Filter = (plot, series) => {
  const values = [...(plot.data[series] ?? [])];
  return values.flatMap((value, at) => {
    const isAlone = (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
    return value !== null && value !== undefined && isAlone ? [at] : [];
  });
};

/** The width of an axis's labels, as measured. */
function asWide(plot: uPlot, labels: readonly (string | null)[] | null): number {
  const { ctx } = plot;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(document.documentElement).getPropertyValue('--sans')}`;
  const widest = Math.max(0, ...(labels ?? []).map((label) => ctx.measureText(label ?? '').width));
  ctx.restore();
  return Math.ceil(widest / devicePixelRatio) + 14;
}

const two = (value: number): string => String(value).padStart(2, '0');
function hourText(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The label of a tick; for counts, only whole numbers have one. */
const tickText = (tick: number, unit: ShownChart['unit']): string =>
  (unit === 'count' || unit === 'ms') && !Number.isInteger(tick) ? '' : valueText(tick, unit);
