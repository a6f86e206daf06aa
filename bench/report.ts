/**
 * `npm run bench:report`: writes docs/BENCHMARKS.md and its charts from the stored results
 * (`bench/results/*.json`).
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { benchmarksPage } from './parts/page.ts';

const DOCS = join(import.meta.dirname, '..', 'docs');

function main(): void {
  const { text, charts } = benchmarksPage();
  writeFileSync(join(DOCS, 'BENCHMARKS.md'), text);
  for (const [name, svg] of charts) writeFileSync(join(DOCS, 'benchmarks', `${name}.svg`), svg);
}

new Command('bench:report')
  .description('Writes docs/BENCHMARKS.md and its charts from what the benchmarks kept in bench/results.')
  .action(main)
  .parse();
