/**
 * Compares the published pages with the uploads and with the files in the library. Pure.
 *
 * Owns: what counts as doubled, incomplete, mixed and left behind. Does not own: reading the entries and
 * files.
 */

import type { FilmEntry } from './world.ts';

export interface FilmAudit {
  /** The heights of the segments of each published page. */
  readonly pages: readonly (readonly number[])[];
  /** Surplus pages with the same reference, and surplus takedowns of one page. */
  readonly doubled: number;
  /** Missing segments of a page, and seconds of a film that no segment covers. */
  readonly lost: number;
  /** Pages whose segments differ in height: no player shows them as one film. */
  readonly mixed: number;
  /** Files that no page uses. */
  readonly leftBehind: readonly string[];
}

/**
 * @param files the library's segments, with their seconds
 * @param seconds the length of each page's film
 */
export function audit(
  entries: readonly FilmEntry[],
  files: ReadonlyMap<string, number>,
  seconds: number,
): FilmAudit {
  const all = entries.filter(({ kind }) => kind === 'page');
  const takedowns = entries.filter(({ kind }) => kind === 'takedown');
  const pages = all.filter(({ id }) => !takedowns.some(({ of }) => of === id));
  const shown = pages.map(({ segments = [] }) => segments);
  const published = new Set(shown.flat().map(({ file }) => file));
  const missing = [...published].filter((file) => !files.has(file)).length;
  const short = shown.map((segments) =>
    Math.abs(seconds - segments.reduce((sum, { file }) => sum + (files.get(file) ?? 0), 0)),
  );
  return {
    pages: shown.map((segments) => segments.map(({ height }) => height)),
    doubled: surplus(all.map(({ reference }) => reference)) + surplus(takedowns.map(({ of }) => of)),
    lost: missing + short.reduce((sum, each) => sum + each, 0),
    mixed: shown.filter((segments) => new Set(segments.map(({ height }) => height)).size > 1).length,
    leftBehind: [...files.keys()].filter((file) => !published.has(file)),
  };
}

const surplus = (names: readonly (string | undefined)[]): number => names.length - new Set(names).size;
