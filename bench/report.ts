/**
 * `npm run bench:report`: docs/BENCHMARKS.md and its charts from what the benchmarks said (`bench/results/*.json`).
 *
 * Owns: the page. Does not own: a single figure of it. A result that is missing leaves its section out.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CostReport } from './cost.ts';
import { besidePage } from './parts/beside-page.ts';
import { barChart } from './parts/chart.ts';
import { cellsOf, type Verdict } from './parts/limits.ts';
import type { Machine } from './parts/machine.ts';
import { BILLED, DOLLAR_HEADS, PRICES } from './parts/prices.ts';
import { resultOf } from './parts/results.ts';
import { costVerdicts, recoverVerdicts, scaleVerdicts, speedVerdicts } from './parts/verdicts.ts';
import type { RecoverReport } from './recover.ts';
import type { ScaleReport } from './scale.ts';
import type { SpeedReport } from './speed.ts';

const ROOT = join(import.meta.dirname, '..');
const CHARTS = join(ROOT, 'docs', 'benchmarks');

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map((_, at) => (at === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n');
const money = (usd: number): string => usd.toFixed(2);
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
const chart = (name: string, svg: string, alt: string): string => {
  writeFileSync(join(CHARTS, `${name}.svg`), svg);
  return `![${alt}](benchmarks/${name}.svg)`;
};
const taken = ({ at, processors, memoryGb, load, node }: Machine): string =>
  `Taken ${at.slice(0, 10)} on ${processors} processors and ${memoryGb} GB, Node ${node}, load average ${load.join(' and ')}.`;

function limits(verdicts: readonly Verdict[]): string {
  const missed = verdicts.filter(({ met }) => !met).length;
  return [
    '## Limits',
    `What the figures below are judged by: ${missed === 0 ? 'all are met' : `${missed} of ${verdicts.length} are missed`}. Each section says when it was taken, and how busy the machine was.`,
    tableOf(
      ['judged', 'limit', 'measured', 'met?'],
      verdicts.map((one) => cellsOf(one).map((cell) => (cell === 'missed' ? '**missed**' : cell))),
    ),
  ].join('\n\n');
}

function cost({ cases, situations, machine }: CostReport): string {
  const name = (kind: string, bytes: number, mode: string): string =>
    `${kind}, ${bytes} B, ${mode === 'atRest' ? 'at rest' : 'under load'}`;
  const rows = cases.map((one) => [
    name(one.kind, one.payloadBytes, one.mode),
    ...BILLED.map((what) => money(one.parts[what])),
    `**${money(one.usdPerMillionSteps)}**`,
    money(one.apiGateway),
    money(one.logs),
    money(one.peers.stepFunctionsStandard),
    money(one.peers.lambdaDurable),
  ]);
  const [shown] = cases;
  const bars = cases
    .filter(({ payloadBytes }) => payloadBytes === 100)
    .map((one) => ({ label: name(one.kind, 100, one.mode), value: one.usdPerMillionSteps }));
  const peers =
    shown === undefined
      ? []
      : [
          { label: 'Lambda durable functions', value: shown.peers.lambdaDurable },
          { label: 'Step Functions Standard', value: shown.peers.stepFunctionsStandard },
        ];
  return [
    '## Cost',
    `\`npm run bench:cost\`. ${taken(machine)} Counts do not depend on the machine's load; the processor time in the column "time" does.`,
    chart(
      'cost',
      barChart('$ per million steps, payload 100 B', [...bars, ...peers]),
      'Cost of a million steps',
    ),
    tableOf(['$ per million steps', ...DOLLAR_HEADS], rows),
    `At rest: one execution after the other, one message an invocation. Under load: \`batchSize: 10\` and more work than the agents' processes get done. The sums leave out the API, the logs (ours and Lambda's own, an assumed ${PRICES.platformLogBytesPerInvocation} B an invocation) and what the agents themselves do; the rivals' figures leave out their functions' invocations and time, retries and replays. Prices of ${PRICES.asOf}: \`bench/parts/prices.json\`.`,
    ...(shown === undefined
      ? []
      : [
          `One of them, worked out (${name(shown.kind, shown.payloadBytes, shown.mode)}, units of one execution of ${shown.steps / shown.executions} steps):`,
          `\`\`\`\n${[
            ...BILLED.map(
              (what) =>
                `${what.padEnd(16)} ${shown.units[what].toFixed(3).padStart(8)} / ${shown.steps / shown.executions} x 1 M x $${PRICES.usd[what].toPrecision(3)} = $${money(shown.parts[what])}`,
            ),
            ...shown.peers.arithmetic,
          ].join('\n')}\n\`\`\``,
        ]),
    ...(situations === undefined
      ? []
      : [
          '### Beside steps',
          tableOf(
            ['what', '$', 'how'],
            situations.list.map(({ what, usd, arithmetic }) => [
              what,
              usd < 0.1 ? usd.toPrecision(2) : money(usd),
              arithmetic,
            ]),
          ),
        ]),
  ].join('\n\n');
}

function speed({ single, load, core, onAws, machine }: SpeedReport): string {
  return [
    '## Speed',
    `\`npm run bench:speed\`. ${taken(machine)} A chain of five steps whose agents do nothing, on the local cloud: functions, DynamoDB, queues and the client share the processors, so wall times are only as good as the load average.`,
    `One execution after the other (n = ${single.executions}): **p50 ${single.p50Ms} ms, p99 ${single.p99Ms} ms** for all five steps.`,
    tableOf(
      [
        'in flight',
        'messages an invocation',
        'steps/s',
        'CPU s per 1,000 steps, functions',
        'of these agents',
        'whole process tree',
        'AWS calls a step',
        'MB, all processes',
      ],
      load.map((one) => [
        one.inFlight,
        `≤ ${one.batchSize}`,
        one.stepsPerSecond,
        one.cpuLambda.toFixed(2),
        one.cpuAgents.toFixed(2),
        one.cpuTree.toFixed(2),
        one.callsPerStep.toFixed(2),
        one.memoryMb,
      ]),
    ),
    `The decision core alone: ${core.decisionsPerSecond.toLocaleString('en')} decisions/s, ${(core.nsEach / 1_000).toFixed(1)} µs each, ${core.decisionsPerExecution} an execution of five steps.`,
    `On AWS the calls take longer than here. What follows one after the other from the end of a step's work to the begin of the next one's: ${onAws.hops.join('; ')}. Together ${onAws.msPerStep} ms, of which the hop through the queue is published (bitesizedserverless.com, 2022, p50) and the calls' times are assumed.`,
  ].join('\n\n');
}

const beside = ({ peers, peersTaken }: SpeedReport): string[] =>
  peers === undefined || peersTaken === undefined
    ? []
    : [besidePage(peers, peersTaken, { chart, tableOf, taken })];

function scale({ series, machine }: ScaleReport): string {
  return [
    '## Growth',
    `\`npm run bench:scale\`. ${taken(machine)} The exponent is that of value ~ size^exponent: 0 is constant, 1 grows alike.`,
    ...series.map(({ what, unit, points, exponent }) =>
      [
        `**${what}**: exponent ${exponent.toFixed(2)}`,
        tableOf(
          ['size', ...points.map(({ size }) => size.toLocaleString('en'))],
          [[unit, ...points.map(({ value }) => Number(value.toPrecision(3)).toLocaleString('en'))]],
        ),
      ].join('\n\n'),
    ),
  ].join('\n\n');
}

function recover({ cases, machine }: RecoverReport): string {
  const bars = cases.map(({ fault, leaseMs, detectMs }) => ({
    label: `${fault}, lease ${leaseMs / 1_000} s`,
    value: detectMs.p99 / 1_000,
  }));
  return [
    '## Recovery',
    `\`npm run bench:recover\`. ${taken(machine)} All processes of an agent are struck at once in the middle of their work.`,
    chart('recovery', barChart('seconds until noticed, p99', bars), 'Time until a fault is noticed'),
    tableOf(
      ['fault', 'lease s', 'n', 'noticed p50 s', 'p99 s', 'limit s', 'recovered p50 s', 'p99 s'],
      cases.map((one) => [
        one.fault,
        one.leaseMs / 1_000,
        one.n,
        seconds(one.detectMs.p50),
        seconds(one.detectMs.p99),
        seconds(one.limitMs),
        seconds(one.recoverMs.p50),
        seconds(one.recoverMs.p99),
      ]),
    ),
  ].join('\n\n');
}

const FINDINGS = `## What follows from it

- **Small payloads are cheap, large ones are not.** A step's writes are two units as long as its item stays below 1 KB; each started
  KB of an output is one more. A large input is written once, beside the execution's record. At 16 KB Lambda durable functions
  cost less: keep large things elsewhere and hand on where they are.
- **Length costs nothing.** A step of a long chain is claimed on its own record and its predecessors', not on all of them; a list is
  cut into executions of up to 25 items.
- **Batches pay.** The default of one message an invocation costs $1.20 of SQS and $0.24 of invocations for a million steps;
  \`agentSettings: { batchSize: 10 }\` a quarter of that under load, and nothing changes at rest. It is not the default because a
  process that dies then takes ten attempts with it, and code that computes without a pause keeps ten leases from being renewed.
- **Logs are not free.** At rest a line of figures and Lambda's own two lines for every invocation cost more than its GB-seconds.`;

const NOT_MEASURED = `## What is not measured

- Nothing ran on AWS. Units are counted on the wire of the local cloud, whose DynamoDB reports consumed capacity by AWS's rules;
  durations of Lambda are a model (assumed latency of each call, plus processor time measured here and stretched to the share
  of a processor that 384 MB have). Cold starts, throttling, retries and faults of AWS are not in any figure.
- The poller between queue and function is not on the wire: one receive and one delete for each batch are added, and its empty
  receives are counted by the month.
- Prices of other engines are arithmetic on list prices.
- A hundred thousand overdue at once: the one try was broken off after ten minutes, before it had ended; why is not known. Of
  open executions, those beyond the sizes above.
- Data transfer, KMS, backups, alarms, the dashboard and storage of what has ended are in [OPERATIONS.md](OPERATIONS.md#what-it-costs).`;

function main(): void {
  const costs = resultOf('cost') as CostReport | undefined;
  const speeds = resultOf('speed') as { readonly speed: SpeedReport } | undefined;
  const scales = resultOf('scale') as { readonly scale: ScaleReport } | undefined;
  const recoveries = resultOf('recover') as { readonly recover: RecoverReport } | undefined;
  const sections = [
    '# Benchmarks',
    [
      'What a million steps cost, how fast they are, how both grow, and how long a fault goes unnoticed: figures that anyone can',
      'take again. This page is made of `bench/results` by `npm run bench:report`; each command below prints what it measures, with',
      '`--json` as one line, and leaves it there with `--save`.',
    ].join('\n'),
    limits([
      ...(costs === undefined ? [] : costVerdicts(costs)),
      ...(speeds === undefined ? [] : speedVerdicts(speeds.speed)),
      ...(scales === undefined ? [] : scaleVerdicts(scales.scale)),
      ...(recoveries === undefined ? [] : recoverVerdicts(recoveries.recover)),
    ]),
    ...(costs === undefined ? [] : [cost(costs)]),
    ...(speeds === undefined ? [] : [speed(speeds.speed), ...beside(speeds.speed)]),
    ...(scales === undefined ? [] : [scale(scales.scale)]),
    ...(recoveries === undefined ? [] : [recover(recoveries.recover)]),
    FINDINGS,
    NOT_MEASURED,
  ];
  writeFileSync(join(ROOT, 'docs', 'BENCHMARKS.md'), `${sections.join('\n\n')}\n`);
}

main();
