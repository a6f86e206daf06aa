/** docs/BENCHMARKS.md and its charts equal the output of `npm run bench:report`, without manual changes. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchmarksPage } from '../../bench/parts/page.ts';
import { oneHostUnderLoad, whatTheBillIsMadeOf } from '../../bench/parts/page-text.ts';

const DOCS = join(import.meta.dirname, '../../docs');

it('the page is what the results and the texts beside them make; else run npm run bench:report', () => {
  const { text, charts } = benchmarksPage();
  expect(readFileSync(join(DOCS, 'BENCHMARKS.md'), 'utf8')).toBe(text);
  expect(charts.size).toBe(3);
  for (const [name, svg] of charts)
    expect(readFileSync(join(DOCS, 'benchmarks', `${name}.svg`), 'utf8')).toBe(svg);
});

it('its texts name the figures of the results beside them', () => {
  const lines = { steps: 30, supervisors: 20.6, metrics: 1, alarms: 2, dashboard: 4, 'audit, removals': 9 };
  const text = whatTheBillIsMadeOf({ lines, total: 120, rivals: { standard: 0, express: 0, durable: 0 } });
  expect(text.match(/\d+(?: %)?(?=\)| of the sum)/g)).toEqual(['25 %', '21', '7', '9']);
  expect(oneHostUnderLoad('1.50 to 1.75')).toContain('are 1.50 to 1.75 in any case');
});
