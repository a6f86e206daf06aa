/**
 * docs/BENCHMARKS.md and its charts are the output of `npm run bench:report`, which would delete manual
 * additions.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchmarksPage } from '../../bench/parts/page.ts';

const DOCS = join(import.meta.dirname, '../../docs');

it('the page is what the results and the texts beside them make; else run npm run bench:report', () => {
  const { text, charts } = benchmarksPage();
  expect(readFileSync(join(DOCS, 'BENCHMARKS.md'), 'utf8')).toBe(text);
  expect(charts.size).toBe(3);
  for (const [name, svg] of charts)
    expect(readFileSync(join(DOCS, 'benchmarks', `${name}.svg`), 'utf8')).toBe(svg);
});
