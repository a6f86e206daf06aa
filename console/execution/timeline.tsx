/**
 * The timeline of an execution: a row for each step, work drawn to scale, idle stretches shortened.
 *
 * Owns: the drawing. Does not own: the content (`lib/view/timeline.ts`), the positions (`time-scale.ts`).
 */

import type { JSX } from 'preact';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { durationText } from '../../lib/view/text.ts';
import { now } from '../clock.ts';
import { clockText } from '../parts/time.tsx';
import { isWork, type Row, rowsOf, type Stretch, type StretchKind } from '../../lib/view/timeline.ts';
import { type Scale, scaleOf } from './time-scale.ts';

const LEGEND: readonly (readonly [StretchKind, string])[] = [
  ['queue', 'queue'],
  ['run', 'run'],
  ['lease', 'lease'],
  ['lost', 'outcome unknown'],
  ['probe', 'probe'],
  ['backoff', 'backoff'],
  ['wait', 'waiting'],
  ['paused', 'paused'],
  ['asked', 'person asked'],
  ['undo', 'undo'],
  ['left-out', 'attempts left out'],
];

interface TimelineProps {
  readonly view: ExecutionView;
  readonly hrefOf: (step: string) => string;
  readonly selected?: string | undefined;
}

export function Timeline({ view, hrefOf, selected }: TimelineProps): JSX.Element {
  const at = view.endedAt === undefined ? now.value : Math.max(view.endedAt, latestOf(view));
  const rows = rowsOf(view, at);
  const stretches = rows.flatMap((row) => row.stretches);
  const to = Math.max(view.startedAt + 1, at, ...stretches.map((one) => one.to));
  const marks = [...stretches.flatMap((one) => [one.from, one.to]), at];
  const scale = scaleOf({ from: view.startedAt, to }, marks, stretches.filter(isWork));
  const used = new Set(stretches.map(({ kind }) => kind));
  return (
    <div class="timeline">
      <Axis scale={scale} from={view.startedAt} />
      {rows.map((row) => (
        <TimelineRow
          key={row.step}
          row={row}
          scale={scale}
          href={hrefOf(row.step)}
          isSelected={row.step === selected}
          at={view.endedAt === undefined ? at : undefined}
          pauses={view.pauses ?? []}
        />
      ))}
      <p class="legend">
        {LEGEND.filter(([kind]) => used.has(kind)).map(([kind, word]) => (
          <span key={kind}>
            <svg width="18" height="10" aria-hidden="true">
              <rect class={`stretch ${kind}`} width="18" height="10" rx="2" />
            </svg>
            {word}
          </span>
        ))}
        {scale.gaps.length === 0 ? null : (
          <span>
            <span class="mono">//</span> idle time, shortened
          </span>
        )}
      </p>
    </div>
  );
}

/** The latest instant. On-failure steps and undos may end after the execution's recorded end. */
const latestOf = (view: ExecutionView): number =>
  Math.max(view.startedAt, ...view.steps.flatMap(({ attempts }) => attempts.map(({ endedAt }) => endedAt)));

const percent = (place: number): string => `${Math.round(place * 10_000) / 100}%`;

const TICKS = [0, 0.25, 0.5, 0.75, 1];
/** Marks of the scale that a narrow page leaves out. */
const SPARED: Readonly<Record<number, string>> = { 0.25: 'quarter', 0.5: 'half', 0.75: 'quarter' };
const ANCHOR: Readonly<Record<number, string>> = { 0: 'start', 1: 'end' };

const Axis = ({ scale, from }: { scale: Scale; from: number }): JSX.Element => (
  <div class="row axis" aria-hidden="true">
    <span class="label">{clockText(from)}</span>
    <svg height="16" width="100%">
      {TICKS.map((tick) => (
        <text
          key={tick}
          class={SPARED[tick] ?? ''}
          x={percent(tick)}
          y="12"
          text-anchor={ANCHOR[tick] ?? 'middle'}
        >
          +{durationText(Math.max(0, Math.round(scale.timeAt(tick) - from)))}
        </text>
      ))}
    </svg>
  </div>
);

interface RowProps {
  readonly row: Row;
  readonly scale: Scale;
  readonly href: string;
  readonly isSelected: boolean;
  /** The current time while the execution is running. */
  readonly at: number | undefined;
  readonly pauses: NonNullable<ExecutionView['pauses']>;
}

const TimelineRow = ({ row, scale, href, isSelected, at, pauses }: RowProps): JSX.Element => (
  <div class={isSelected ? 'row selected' : 'row'}>
    <a class="label" href={href} title={row.step}>
      {row.step}
    </a>
    <svg height="20" width="100%" role="img" aria-label={`${row.step}: ${wordsOf(row)}`}>
      {pauses.map((pause) => (
        <Bar
          key={pause.number}
          scale={scale}
          from={pause.at}
          to={pause.endedAt ?? at ?? pause.at}
          y={0}
          height={20}
          tone="paused"
          note={`paused: ${pause.reason}`}
        />
      ))}
      {row.stretches.map((one) => (
        <Bar
          key={`${one.kind} ${one.from}`}
          scale={scale}
          {...one}
          {...sizeOf(one)}
          tone={classOf(one)}
          note={noteOf(one)}
        />
      ))}
      {scale.gaps.map(({ from, to }) => (
        <text
          key={from}
          class="gap"
          x={percent((scale.placeOf(from) + scale.placeOf(to)) / 2)}
          y="14"
          text-anchor="middle"
        >
          //<title>{`idle for ${durationText(to - from)}, shortened`}</title>
        </text>
      ))}
      {at === undefined ? null : (
        <line class="now" x1={percent(scale.placeOf(at))} x2={percent(scale.placeOf(at))} y1="0" y2="20" />
      )}
    </svg>
  </div>
);

const wordsOf = ({ stretches, status }: Row): string =>
  [status, ...stretches.map((one) => noteOf(one))].join('; ');

const noteOf = ({ note, from, to }: Stretch): string => `${note}, ${durationText(to - from)}`;
const classOf = ({ kind, failed, ahead }: Stretch): string =>
  `${kind}${failed === true ? ' failed' : ''}${ahead === true ? ' ahead' : ''}`;

/** The position and height of a bar: high for work, low for waiting. */
const sizeOf = (one: Stretch): { y: number; height: number } =>
  isWork(one) || one.kind === 'lease' ? { y: 3, height: 14 } : { y: 7, height: 6 };

/** The smallest width of a bar, as a share of the whole, so that short attempts are visible. */
const LEAST = 0.003;

function Bar({
  scale,
  from,
  to,
  y,
  height,
  tone,
  note,
}: {
  scale: Scale;
  from: number;
  to: number;
  y: number;
  height: number;
  tone: string;
  note: string;
}): JSX.Element {
  const begins = Math.min(scale.placeOf(from), 1 - LEAST);
  const width = Math.max(LEAST, scale.placeOf(to) - begins);
  return (
    <rect class={`stretch ${tone}`} x={percent(begins)} width={percent(width)} y={y} height={height} rx={2}>
      <title>{note}</title>
    </rect>
  );
}
