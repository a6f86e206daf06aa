/**
 * Computes a time scale that shortens long stretches without work.
 *
 * Owns: the position of an instant, from 0 to 1. Does not own: the drawing.
 */

import type { Span } from '../../lib/view/timeline.ts';

export interface Scale {
  readonly placeOf: (at: number) => number;
  readonly timeAt: (place: number) => number;
  /** The shortened stretches. */
  readonly gaps: readonly Span[];
}

interface Piece extends Span {
  readonly begins: number;
  readonly ends: number;
}

/** The longest drawn length of an idle stretch, as a share of all work. */
const SHARE_OF_WORK = 0.25;
const LEAST_MS = 1_000;
/** A stretch is marked if it was shortened at least by this factor. */
const NOTED = 1.5;

/**
 * @param whole the time from the first to the last drawn instant
 * @param marks instants at which something begins or ends
 * @param busy times with work; they are drawn to scale
 */
export function scaleOf(whole: Span, marks: readonly number[], busy: readonly Span[]): Scale {
  const { from, to } = whole;
  const inside = [...marks, ...busy.flatMap((one) => [one.from, one.to])].filter(
    (at) => at > from && at < to,
  );
  const times = [...new Set([from, ...inside, Math.max(to, from + 1)])].sort((a, b) => a - b);
  const spans = times.slice(1).map((end, index) => ({ from: times[index] ?? from, to: end }));
  const isBusy = (span: Span): boolean => busy.some((one) => one.from < span.to && one.to > span.from);
  const work = spans.filter(isBusy).reduce((sum, span) => sum + span.to - span.from, 0);
  const most = Math.max(work * SHARE_OF_WORK, LEAST_MS);
  const drawn = spans.map((span) =>
    isBusy(span) ? span.to - span.from : Math.min(span.to - span.from, most),
  );
  const total = drawn.reduce((sum, one) => sum + one, 0);
  let begins = 0;
  const pieces = spans.map((span, index): Piece => {
    const piece = { ...span, begins, ends: begins + (drawn[index] ?? 0) / total };
    begins = piece.ends;
    return piece;
  });
  return {
    placeOf: (at) => placeIn(pieces, at),
    timeAt: (place) => timeIn(pieces, place),
    gaps: spans.filter((span, index) => (drawn[index] ?? 0) * NOTED < span.to - span.from),
  };
}

const part = (value: number, from: number, to: number): number =>
  Math.min(1, Math.max(0, (value - from) / Math.max(1e-9, to - from)));

function placeIn(pieces: readonly Piece[], at: number): number {
  const piece = pieces.find(({ to }) => at <= to) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  return piece.begins + part(at, piece.from, piece.to) * (piece.ends - piece.begins);
}

function timeIn(pieces: readonly Piece[], place: number): number {
  const piece = pieces.find(({ ends }) => place <= ends) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  return piece.from + part(place, piece.begins, piece.ends) * (piece.to - piece.from);
}
