/** Shows times relative to now, with the instant as a tooltip, in the reader's time zone. */

import type { JSX } from 'preact';
import { timeText } from '../../lib/api/answers.ts';
import { durationText } from '../../lib/view/text.ts';
import { now } from '../clock.ts';

const two = (value: number): string => String(value).padStart(2, '0');

/** The offset of the time zone on that day (summer time included), such as 'UTC', 'UTC+1', 'UTC-3:30'. */
export function zoneText(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${two(rest)}`}`;
}

/** An instant as '14:05:09 UTC+1', with its date if that is not today's. */
export function clockText(at: number, reference: number = now.peek()): string {
  const date = new Date(at);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zoneText(at)}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return date.toDateString() === new Date(reference).toDateString() ? time : `${day} ${time}`;
}

const inUtc = (at: number): string => new Date(at).toISOString();

/** A duration in whole seconds, for values that change every second. */
const rough = (ms: number): string => durationText(ms < 60_000 ? Math.floor(ms / 1_000) * 1_000 : ms);

/** The time since an instant, such as '3 min 2 s ago'. */
export const Ago = ({ at }: { at: number }): JSX.Element => (
  <time dateTime={inUtc(at)} title={timeText(at)}>
    {now.value - at < 1_000 ? 'just now' : `${rough(now.value - at)} ago`}
  </time>
);

/** The time until an instant, such as 'in 3 min 2 s', or since it has passed. */
export function Until({ at }: { at: number }): JSX.Element {
  const left = at - now.value;
  return (
    <time dateTime={inUtc(at)} title={timeText(at)}>
      {left > 0 ? `in ${rough(Math.max(left, 1_000))}` : left > -1_000 ? 'now' : `${rough(-left)} over`}
    </time>
  );
}

export const Clock = ({ at }: { at: number }): JSX.Element => (
  <time dateTime={inUtc(at)} title={timeText(at)}>
    {clockText(at, now.value)}
  </time>
);

/** The time between two instants, or from one until now. */
export const Lasted = ({ from, to }: { from: number; to?: number | undefined }): JSX.Element => (
  <>{to === undefined ? rough(Math.max(0, now.value - from)) : durationText(Math.max(0, to - from))}</>
);

const INSTANT = /(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the API, with its instants in the page's format. */
export const Prose = ({ text }: { text: string }): JSX.Element => (
  <>
    {text.split(INSTANT).map((part, at) => (at % 2 === 0 ? part : <Clock key={at} at={Date.parse(part)} />))}
  </>
);
