/**
 * Times as people read them: how long ago or until when, with the instant behind it.
 */

import type { JSX } from 'preact';
import { durationText } from '../../lib/cli/text.ts';
import { now } from '../clock.ts';

/** In the reader's own zone: '14:05:09', of another day with its date. */
export function clockText(at: number, reference: number = Date.now()): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return date.toDateString() === new Date(reference).toDateString() ? time : `${day} ${time}`;
}

const inUtc = (at: number): string => new Date(at).toISOString();

/** Whole seconds: what moves every second need not say more. */
const rough = (ms: number): string => durationText(ms < 60_000 ? Math.floor(ms / 1_000) * 1_000 : ms);

export const sinceText = (at: number): string => {
  const ms = now.value - at;
  return ms < 1_000 ? 'now' : rough(ms);
};

/** '3 min 2 s ago'. */
export const Ago = ({ at }: { at: number }): JSX.Element => (
  <time dateTime={inUtc(at)} title={inUtc(at)}>
    {now.value - at < 1_000 ? 'just now' : `${rough(now.value - at)} ago`}
  </time>
);

/** 'in 3 min 2 s', or how long it is over. */
export function Until({ at }: { at: number }): JSX.Element {
  const left = at - now.value;
  return (
    <time dateTime={inUtc(at)} title={inUtc(at)}>
      {left > 0 ? `in ${rough(Math.max(left, 1_000))}` : left > -1_000 ? 'now' : `${rough(-left)} over`}
    </time>
  );
}

export const Clock = ({ at }: { at: number }): JSX.Element => (
  <time dateTime={inUtc(at)} title={inUtc(at)}>
    {clockText(at, now.value)}
  </time>
);

/** From one instant to another, or until now. */
export const Lasted = ({ from, to }: { from: number; to?: number | undefined }): JSX.Element => (
  <>{to === undefined ? rough(Math.max(0, now.value - from)) : durationText(Math.max(0, to - from))}</>
);
