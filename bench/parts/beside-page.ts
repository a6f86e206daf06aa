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
- **Ours runs on a local cloud.** Its calls of DynamoDB and SQS are signed and go over HTTP through a gateway to emulators, and each
  function is a process of its own. The others run their steps in the process that asks, and talk to one server or file
  beside it. On AWS neither the emulators nor the gateway take our processors' time, and calls take longer: this table ranks
  what runs on one machine, not what runs in production.
- **Kept is not kept alike.** "Durable by" says what is on the disk before the next step begins. Ours loses no step in a power cut,
  but perhaps messages, which the supervisor then sends again. Lambda's local runner is a test tool: it keeps nothing, and its
  times are not the service's.
- **Settings are the engines' own**, with these exceptions: openworkflow and BullMQ take 64 at once; an end in openworkflow is taken
  from its backend, because its own \`result()\` looks once a second; Restate's service logs nothing and DBOS errors alone, while ours
  writes its log; Restate sends no telemetry. A BullMQ job reads what the one before it returned. The supervisor's clock does not run.
- **Not measured here**: what happens when a process dies in the middle of a step, and what the servers cost where they always run.`;

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
            ['engine', 'version', 'durable by', 'server', 'steps/s of the rounds'],
            measured.map((one) => [
              one.name,
              one.version,
              one.durableBy,
              one.server ?? 'none',
              spreadOf(one),
            ]),
          ),
        ]),
    ...peers.filter(isSkipped).map((one) => `**${skippedText(one)}**`),
    NOTES,
  ].join('\n\n');
}
