/**
 * `npm run bench:bulk`: measures a bulk retry of 10,000 failed executions while every process is repeatedly
 * killed.
 *
 * Owns: the options, the output, the verdict. Does not own: the run (`parts/bulk-run.ts`).
 */

import { Command } from 'commander';
import { retryInBulk } from './parts/bulk-run.ts';
import { machine } from './parts/machine.ts';
import { atLeastOne } from './parts/options.ts';
import { table } from './parts/print.ts';

interface Options {
  readonly executions: number;
  readonly kills: number;
  readonly every: number;
  readonly json?: true;
}

const options = new Command('bench:bulk')
  .description('retries failed executions in bulk, and kills every process meanwhile')
  .option('--executions <count>', 'that have failed', atLeastOne, 10_000)
  .option('--kills <count>', 'how often every process is killed', atLeastOne, 8)
  .option('--every <seconds>', 'between two of them', atLeastOne, 5)
  .option('--json', 'print one line of JSON')
  .parse()
  .opts<Options>();

const { executions, kills, every } = options;
const say = (text: string): void => {
  if (options.json !== true) process.stderr.write(`${text}\n`);
};
const run = await retryInBulk({ executions, kills, killEveryMs: every * 1_000, say });
const declined = Math.ceil(executions / 10);
const wanted = { '1 × succeeded': executions - declined, '1 × failed': declined };
const isRight =
  Object.keys(run.ends).length === Object.keys(wanted).length &&
  Object.entries(wanted).every(([end, count]) => run.ends[end] === count) &&
  run.bulk.progress?.applied === executions;
if (options.json === true) {
  process.stdout.write(`${JSON.stringify({ bulk: { executions, isRight, ...run }, machine: machine() })}\n`);
} else {
  const rows = [
    ['executions', String(executions)],
    ['processes killed', String(run.killed)],
    ['collected in', `${run.collectMs} ms`],
    ['told, from the confirmation', `${run.toldMs} ms`],
    ['all ended', `${run.endedMs} ms`],
    ...Object.entries(run.ends).map(([end, count]) => [`retries and end: ${end}`, String(count)]),
  ];
  process.stdout.write(
    `${table(['what', 'figure'], rows)}\n${isRight ? 'each was retried once' : 'NOT each was retried once'}\n`,
  );
}
process.exitCode = isRight ? 0 : 1;
