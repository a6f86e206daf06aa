/**
 * Shows an execution's log lines in the order of time. They are read on request, because on AWS each query
 * costs money, and then followed. The page scrolls to new lines unless the reader has scrolled up.
 *
 * Does not own: when lines are read (`log-reading.ts`).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { LEVELS } from '../../lib/view/log-line.ts';
import { type LogLine, settings } from '../api.ts';
import { ChoiceField, TickField } from '../parts/fields.tsx';
import { Loading, Problem } from '../parts/states.tsx';
import { clockText } from '../parts/time.tsx';
import { LogReading, type Numbered } from './log-reading.ts';

const OPTIONS = LEVELS.map(
  (level) => [level, level === 'trace' ? 'all levels' : `${level} and above`] as const,
);

/** @param isOver whether the execution has ended, so that no more lines are written */
export function Logs({ id, isOver }: { id: string; isOver: boolean }): JSX.Element {
  const reading = useMemo(() => new LogReading(id), [id]);
  useEffect(() => reading.start(), [reading]);
  useEffect(() => reading.setOver(isOver), [reading, isOver]);
  const level = useSignal('trace');
  const children = useSignal(false);
  const { lines, isBusy, error } = reading;
  const begin = (): void => void reading.begin(level.value, children.value);
  return (
    <section aria-labelledby="logs">
      <h2 id="logs">Log lines</h2>
      {settings.hasLogs ? (
        <form
          class="buttons"
          aria-label="Log lines"
          onSubmit={(event) => {
            event.preventDefault();
            begin();
          }}
        >
          <button type="submit">
            {lines.value === undefined ? 'Read the log lines' : 'Read them again'}
          </button>
          <ChoiceField label="Level" text={level} options={OPTIONS} />
          <TickField ticked={children} label="also from its child executions" />
        </form>
      ) : null}
      {isBusy.value && lines.value === undefined ? <Loading what="its log lines" /> : null}
      {error.value === undefined ? null : <Problem error={error.value} again={() => reading.again()} />}
      {lines.value === undefined ? null : <Lines reading={reading} lines={lines.value} id={id} />}
      <p class="faint">
        {settings.local ? '' : 'CloudWatch Logs charges for what a query reads. '}On the command line:{' '}
        <code>npx steadfast logs {id} --follow</code>
      </p>
    </section>
  );
}

interface LinesProps {
  readonly reading: LogReading;
  readonly lines: readonly Numbered[];
  readonly id: string;
}

function Lines({ reading, lines, id }: LinesProps): JSX.Element {
  const { isCut, scannedBytes } = reading;
  return (
    <>
      <Following reading={reading} />
      {lines.length === 0 ? (
        <p class="faint">None: a healthy step logs only at level DEBUG, which a deployment must switch on.</p>
      ) : (
        <Scrolled reading={reading} lines={lines} id={id} />
      )}
      <p class="faint">
        {isCut.value ? `These are the latest ${lines.length}. ` : ''}
        {scannedBytes.value === undefined
          ? ''
          : `CloudWatch Logs has read ${(scannedBytes.value / 1e6).toFixed(1)} MB.`}
      </p>
    </>
  );
}

const FOLLOWS = {
  not: '',
  following: 'New lines appear by themselves until the execution ends.',
  paused: 'Paused: new lines are not read.',
  over: '',
} as const;

function Following({ reading }: { reading: LogReading }): JSX.Element {
  const { follows } = reading;
  const isFollowing = follows.value === 'following';
  return (
    <div class="buttons">
      {isFollowing || follows.value === 'paused' ? (
        <button type="button" onClick={() => (isFollowing ? reading.pause() : reading.go())}>
          {isFollowing ? 'Pause the lines' : 'Follow the lines'}
        </button>
      ) : null}
      <span class="faint" role="status">
        {FOLLOWS[follows.value]}
      </span>
    </div>
  );
}

/** The distance from the end, in pixels, that still counts as the end. */
const NEAR = 8;

function Scrolled({ reading, lines, id }: LinesProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  /** The number of the last line that the reader has seen. */
  const seen = useSignal(Number.POSITIVE_INFINITY);
  const latest = Math.max(...lines.map(({ number }) => number));
  const toEnd = (): void => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (reading.isAtEnd) toEnd();
  }, [lines]);
  const scrolled = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    reading.isAtEnd = scrollTop + clientHeight >= scrollHeight - NEAR;
    if (reading.isAtEnd) seen.value = Number.POSITIVE_INFINITY;
    else if (seen.value === Number.POSITIVE_INFINITY) seen.value = latest;
  };
  const below = lines.filter(({ number }) => number > seen.value).length;
  return (
    <>
      <div
        class="scroll logs"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Log lines, oldest first"
        onScroll={scrolled}
      >
        <ol>
          {lines.map((line) => (
            <li key={line.number} class={TONE[line.level] ?? ''}>
              <Line line={line} id={id} />
            </li>
          ))}
        </ol>
      </div>
      {below === 0 ? null : (
        <button type="button" onClick={toEnd}>
          {below === 1 ? '1 new line' : `${below} new lines`} below
        </button>
      )}
    </>
  );
}

const TONE: Readonly<Record<string, string>> = { WARN: 'warn', ERROR: 'bad', CRITICAL: 'bad' };

function Line({ line, id }: { line: LogLine; id: string }): JSX.Element {
  const { at, level, executionId, who, step, attempt, message, rest } = line;
  const place = [executionId.slice(id.length), step, attempt === '' ? '' : `#${attempt}`];
  return (
    <>
      <time dateTime={new Date(at).toISOString()}>{clockText(at)}</time> <strong>{level}</strong> {who}{' '}
      {place.filter(Boolean).join(' ')} <span>{message}</span> <span class="faint">{rest}</span>
    </>
  );
}
