/**
 * The page's section on other engines.
 *
 * Owns: the comments on the figures, and the chart. Does not own: the figures (`beside.ts`), the page
 * (`../report.ts`).
 */

import type { Beside, Peer } from './beside.ts';
import { BESIDE_HEAD, besideCells, howTaken, isMeasured, isSkipped, skippedText } from './beside-table.ts';
import { barChart } from './chart.ts';
import { SERVE } from './page-text.ts';

export interface Page {
  /** Saves a chart beside the page. @returns how the page shows it */
  readonly chart: (name: string, svg: string, alt: string) => string;
  readonly tableOf: (head: readonly string[], rows: readonly (readonly (string | number)[])[]) => string;
  readonly taken: (machine: Beside['machine']) => string;
}

const NOTES = `- Every engine runs five steps that do nothing, one after the other, and each hands on 100 bytes. Processor time and memory are
  those of the whole process tree.
- **Ours, above, runs on a local cloud**, over HTTP through a gateway to emulators, each function a process. The others run their
  steps in the process that asks.
- "Durable by" says what is on the disk before the next step begins. Ours may lose messages in a power cut; they are sent again.
- **Settings are the engines' own**, with [exceptions](../bench/README.md). The supervisor's clock does not run.`;

export function besidePage(peers: readonly Peer[], how: Omit<Beside, 'peers'>, page: Page): string {
  const measured = peers.filter(isMeasured);
  const bars = measured.map(({ name, cpuSecondsPer1000Steps }) => ({
    label: name,
    value: cpuSecondsPer1000Steps,
  }));
  return [
    '## Beside other engines',
    `\`npm run bench:speed\`, or \`-- --only-peers\` for this section alone. ${page.taken(how.machine)} ${howTaken(how)} Medians of the rounds; p99 of all of them.`,
    ...(measured.length === 0
      ? []
      : [
          page.chart(
            'beside',
            barChart('processor seconds per 1,000 steps, many at once', bars),
            'Processor time beside other engines',
          ),
          page.tableOf(
            [...BESIDE_HEAD, 'version', 'durable by'],
            measured.map((one) => [...besideCells(one), one.version, one.durableBy]),
          ),
        ]),
    ...peers.filter(isSkipped).map((one) => `**${skippedText(one)}**`),
    SERVE,
    NOTES,
  ].join('\n\n');
}
