/**
 * The page's section on other engines.
 *
 * Owns: what is said of the figures, and the chart. Does not own: the figures (`beside.ts`), the page (`../report.ts`).
 */

import type { Beside, Peer, PeerFigures } from './beside.ts';
import { BESIDE_HEAD, besideCells, howTaken, isMeasured, isSkipped, skippedText } from './beside-table.ts';
import { barChart } from './chart.ts';

export interface Page {
  /** Leaves a chart beside the page. @returns how the page shows it */
  readonly chart: (name: string, svg: string, alt: string) => string;
  readonly tableOf: (head: readonly string[], rows: readonly (readonly (string | number)[])[]) => string;
  readonly taken: (machine: Beside['machine']) => string;
}

const spreadOf = ({ rounds }: PeerFigures): string => {
  const all = rounds.map(({ stepsPerSecond }) => stepsPerSecond);
  return `${Math.min(...all).toLocaleString('en')}–${Math.max(...all).toLocaleString('en')}`;
};

const NOTES = `What the figures are of:

- **The same work, not the same way.** Every engine runs five steps that do nothing, one after the other, and each step hands on the
  100 bytes that it was given. Processor time and memory are those of an engine's whole process tree: the client that asks, what
  runs the steps, and the server that keeps them.
- **Ours runs on a local cloud.** Every call of DynamoDB and SQS is signed, goes over HTTP through a gateway to an emulator, and each
  function is a process of its own, as on AWS. The others call their steps in the process that asks, and talk to a database (or
  their server) beside it. On AWS the emulators and the gateway would not be on our processors, nor their latencies ours: this
  table ranks what runs on one machine, not what runs in production.
- **Only ours is at home on AWS's services.** What the others need there (a PostgreSQL, a Redis, Restate's server, a worker that always runs)
  is in neither time nor cost here; [Cost](#cost) has what ours needs.
- **Lambda's local runner is a test tool.** It keeps nothing, and its times are not the service's.
- **Settings.** Engines run as they come, with these exceptions: openworkflow and BullMQ take 64 at once; an end in openworkflow is taken from
  its backend, because its own \`result()\` looks once a second; a BullMQ job reads what the one before it returned; Restate sends no
  telemetry and, like DBOS, logs errors alone. Ours logs as it does in production.
- **Not measured here**: what happens when a process dies in the middle of a step.`;

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
          page.tableOf(BESIDE_HEAD, measured.map(besideCells)),
          page.tableOf(
            ['engine', 'durable by', 'server', 'steps/s of the rounds'],
            measured.map((one) => [one.name, one.durableBy, one.server ?? 'none', spreadOf(one)]),
          ),
        ]),
    ...peers.filter(isSkipped).map((one) => `**${skippedText(one)}**`),
    NOTES,
  ].join('\n\n');
}
