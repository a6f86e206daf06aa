/** Planted faults in a page that the auditor of the films must find. */

import { audit, type FilmAudit } from './audit.ts';
import type { FilmEntry } from './world.ts';

const SECONDS = 6;

/** A page of three segments in these heights, all of them in the library. */
function pageOf(...heights: readonly number[]): FilmAudit {
  const segments = heights.map((height, at) => ({ file: `s-${at}`, height }));
  const page = { kind: 'page', id: 'page-1', reference: 'r', segments } as unknown as FilmEntry;
  return audit([page], new Map(segments.map(({ file }) => [file, 2])), SECONDS);
}

test('nothing is wrong with a page that is whole in one height', () => {
  const sound = { doubled: 0, lost: 0, mixed: 0, leftBehind: [] };
  expect(pageOf(720, 720, 720)).toEqual({ pages: [[720, 720, 720]], ...sound });
});

test('a page of which one segment has another height is found', () => {
  expect(pageOf(1080, 720, 1080).mixed).toBe(1);
});

test('a page without one of its segments is found', () => {
  expect(pageOf(1080, 1080).lost).toBe(2);
});
