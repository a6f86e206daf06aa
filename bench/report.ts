/**
 * `npm run bench:report`: docs/BENCHMARKS.md and its charts from what the benchmarks said (`bench/results/*.json`).
 *
 * Owns: the page. Does not own: a single figure of it. A result that is missing leaves its section out, and its
 * limits are said not to be measured.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { CostReport } from './cost.ts';
import { besidePage } from './parts/beside-page.ts';
import { barChart } from './parts/chart.ts';
import { cellsOf, type Verdict } from './parts/limits.ts';
import type { Machine, Taken } from './parts/machine.ts';
import { BELOW_ONE, FINDINGS, NOT_MEASURED } from './parts/page-text.ts';
import { BILLED, DOLLAR_HEADS, PRICES } from './parts/prices.ts';
import { resultOf } from './parts/results.ts';
import { costVerdicts, recoverVerdicts, scaleVerdicts, speedVerdicts, unmeasured } from './parts/verdicts.ts';
import type { ProfileReport } from './profile.ts';
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
const when = ({ at, commit }: Taken): string =>
  `${at.slice(0, 16).replace('T', ' ')}${commit === undefined ? '' : `, ${commit}`}`;
const taken = (machine: Machine): string =>
  `Taken ${when(machine)} on ${machine.processors} processors and ${machine.memoryGb} GB, Node ${machine.node}, load average ${machine.load.join(' and ')}.`;
const loadOf = (one: { readonly taken: Taken }): string => one.taken.load.join(' and ');

function onWhat(machines: readonly Machine[]): string {
  const [latest] = [...machines].sort((one, other) => other.at.localeCompare(one.at));
  if (latest === undefined) return '';
  const versions = Object.entries(latest.versions).map(([name, version]) => `${name} ${version}`);
  return `The machine: ${latest.processors} × ${latest.model}, ${latest.memoryGb} GB, Node ${latest.node}; ${versions.join(', ')}.`;
}

function limits(verdicts: readonly Verdict[]): string {
  const missed = verdicts.filter(({ met }) => !met).length;
  const absent = unmeasured(verdicts);
  const found = [
    ...(missed > 0 ? [`${missed} of ${verdicts.length} are missed`] : []),
    ...(absent.length > 0 ? [`${absent.length} are not measured`] : []),
  ];
  return [
    '## Limits',
    `What the figures below are judged by: ${found.length === 0 ? 'all are met' : found.join(', ')}. Each section says when it was taken, from which commit (with a +: changed since), and how busy the machine was: load averages of a minute and of five, our own work included.`,
    tableOf(
      ['judged', 'limit', 'measured', 'met?'],
      [
        ...verdicts.map((one) => cellsOf(one).map((cell) => (cell === 'missed' ? '**missed**' : cell))),
        ...absent.map((what) => [what, '', '', '**not measured**']),
      ],
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
    `At rest: one execution after the other, one message an invocation. Under load: \`batchSize: 10\` and more work than the agents' processes get done. The sums leave out the API, the logs (ours and Lambda's own, an assumed ${PRICES.platformLogBytesPerInvocation} B an invocation), what the agents themselves do, and the supervisor: its time ([$0.1 a month where nothing is due, $27 where something always is](OPERATIONS.md#what-it-costs)), and its looks at steps that take or wait longer than half a minute (below); the rivals' figures leave out their functions' invocations and time, retries and replays. Prices of ${PRICES.asOf}: \`bench/parts/prices.json\`.`,
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

function speed({ single, load, core, onAws, machine }: SpeedReport, profile?: ProfileReport): string {
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
    'The limits speak of batches of ten, the best load. With the default of one message an invocation every step pays for an invocation of its own.',
    `The decision core alone: ${core.decisionsPerSecond.toLocaleString('en')} decisions/s, ${(core.nsEach / 1_000).toFixed(1)} µs each, ${core.decisionsPerExecution} an execution of five steps.`,
    `On AWS the calls take longer than here. What follows one after the other from the end of a step's work to the begin of the next one's: ${onAws.hops.join('; ')}. Together ${onAws.msPerStep} ms, of which the hop through the queue is published (bitesizedserverless.com, 2022, p50) and the calls' times are assumed.`,
    ...(profile === undefined ? [] : [whereItGoes(profile)]),
  ].join('\n\n');
}

function whereItGoes({ parts, msPerStep, steps, machine }: ProfileReport): string {
  return [
    '### Where the processor time of a function goes',
    `\`npm run bench:profile\`. ${taken(machine)} One agent of the chain, batches of ten, sampled over ${steps.toLocaleString('en')} of its steps: ${msPerStep.toFixed(2)} ms a step, some of it the sampling's own. What Node does for a call counts as the call's.`,
    tableOf(
      ['part', 'CPU ms a step', 'share'],
      parts.map((one) => [one.part, one.msPerStep.toFixed(3), `${Math.round(one.share * 100)} %`]),
    ),
    BELOW_ONE,
  ].join('\n\n');
}

const beside = ({ peers, peersTaken }: SpeedReport): string[] =>
  peers === undefined || peersTaken === undefined
    ? []
    : [besidePage(peers, peersTaken, { chart, tableOf, taken })];

function scale({ series, machine }: ScaleReport): string {
  return [
    '## Growth',
    `\`npm run bench:scale\`. On ${machine.processors} processors and ${machine.memoryGb} GB, Node ${machine.node}. The exponent is that of value ~ size^exponent, of more than three sizes without the smallest: 0 is constant, 1 grows alike. Dollars here are those of the wire's units alone, without processor time. A plan is at most 256 KB, so a chain of these steps ends at 924.`,
    ...series.map(({ what, unit, points, exponent, taken: at }) =>
      [
        `**${what}**: exponent ${exponent.toFixed(2)} (${when(at)}, load average ${at.load.join(' and ')})`,
        tableOf(
          ['size', ...points.map(({ size }) => size.toLocaleString('en'))],
          [[unit, ...points.map(({ value }) => Number(value.toPrecision(3)).toLocaleString('en'))]],
        ),
      ].join('\n\n'),
    ),
  ].join('\n\n');
}

function recover({ cases, outage, machine }: RecoverReport): string {
  const bars = cases.map(({ fault, leaseMs, detectMs }) => ({
    label: `${fault}, lease ${leaseMs / 1_000} s`,
    value: detectMs.p99 / 1_000,
  }));
  return [
    '## Recovery',
    `\`npm run bench:recover\`, 50 minutes; \`-- --rounds 1\` takes eight. On ${machine.processors} processors and ${machine.memoryGb} GB, Node ${machine.node}. All processes of an agent are struck at once in the middle of their work, 26 executions in each of the rounds: those of one round share their sweeps, so p99 says little more than the worst round. A supervisor is sweeping, as in a system that has anything to do. In a quiet system one execution at a time starts when nobody sweeps, anywhere between two ticks, in six deployments side by side, each idle before each start; its supervisor is called ([decision 25](decisions/0025-a-supervisor-that-is-called.md)), and the limit is the lease and 10 s. Other limits are the lease (a lost message: the pickup time) and 6 s; that of supervisors that are killed as well is our own, a tick more: the next pair starts with it, and the rounds are spread over the minute between two ticks.`,
    chart('recovery', barChart('seconds until noticed, p99', bars), 'Time until a fault is noticed'),
    tableOf(
      [
        'fault',
        'lease s',
        'n',
        'noticed p50 s',
        'p99 s',
        'limit s',
        'recovered p50 s',
        'p99 s',
        'taken',
        'load average',
      ],
      cases.map((one) => [
        one.fault,
        one.leaseMs / 1_000,
        one.n,
        seconds(one.detectMs.p50),
        seconds(one.detectMs.p99),
        seconds(one.limitMs),
        seconds(one.recoverMs.p50),
        seconds(one.recoverMs.p99),
        when(one.taken),
        loadOf(one),
      ]),
    ),
    'After a SIGKILL all 26 processes start anew, on two processors, before any step is tried again: of six that are killed at once all have recovered after some 5 s (`-- --only SIGKILL/3 --rounds 1 --n 6`).',
    ...(outage === undefined
      ? []
      : [
          `**After an outage.** ${outage.executions.toLocaleString('en')} executions of one step of 0.1 s were under way, for eight processes, when the table was killed; it came back after ${seconds(outage.outageMs)} s. All had ended ${seconds(outage.drainedMs)} s later. Without an outage the same takes ${seconds(outage.calmMs)} s (${when(outage.taken)}, load average ${loadOf(outage)}).`,
        ]),
  ].join('\n\n');
}

function main(): void {
  const costs = resultOf('cost') as CostReport | undefined;
  const speeds = resultOf('speed') as { readonly speed: SpeedReport } | undefined;
  const scales = resultOf('scale') as { readonly scale: ScaleReport } | undefined;
  const profiled = resultOf('profile') as { readonly profile: ProfileReport } | undefined;
  const recoveries = resultOf('recover') as { readonly recover: RecoverReport } | undefined;
  const sections = [
    '# Benchmarks',
    [
      'What a million steps cost, how fast they are, how both grow, and how long a fault goes unnoticed: figures that anyone can',
      'take again. This page is made of `bench/results` by `npm run bench:report`; each command below prints what it measures, with',
      '`--json` as one line at the end, and leaves it there with `--save`.',
    ].join('\n'),
    onWhat(
      [costs?.machine, speeds?.speed.machine, scales?.scale.machine, recoveries?.recover.machine].filter(
        (one) => one !== undefined,
      ),
    ),
    limits([
      ...(costs === undefined ? [] : costVerdicts(costs)),
      ...(speeds === undefined ? [] : speedVerdicts(speeds.speed)),
      ...(scales === undefined ? [] : scaleVerdicts(scales.scale)),
      ...(recoveries === undefined ? [] : recoverVerdicts(recoveries.recover)),
    ]),
    ...(costs === undefined ? [] : [cost(costs)]),
    ...(speeds === undefined ? [] : [speed(speeds.speed, profiled?.profile), ...beside(speeds.speed)]),
    ...(scales === undefined ? [] : [scale(scales.scale)]),
    ...(recoveries === undefined ? [] : [recover(recoveries.recover)]),
    FINDINGS,
    NOT_MEASURED,
  ];
  writeFileSync(join(ROOT, 'docs', 'BENCHMARKS.md'), `${sections.join('\n\n')}\n`);
}

new Command('bench:report')
  .description('Writes docs/BENCHMARKS.md and its charts from what the benchmarks kept in bench/results.')
  .action(main)
  .parse();
