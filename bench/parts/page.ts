/**
 * docs/BENCHMARKS.md and its charts, from the stored results of the benchmarks.
 *
 * Owns: the page. Does not own: any figure on it, the files (`../report.ts`). If a result is missing, its
 * section is left out, and the page says that its limits were not measured.
 */

import type { CostReport, OneHost } from '../cost.ts';
import type { RecoverReport } from '../recover.ts';
import type { ScaleReport } from '../scale.ts';
import type { SpeedReport } from '../speed.ts';
import { besidePage } from './beside-page.ts';
import { METRICS as NAMES } from '../../lib/aws/names.ts';
import { billOfOneHost, METRICS, MONTHS, monthlyBills, ONE_HOST } from './bill.ts';
import { barChart } from './chart.ts';
import { cellsOf, type Verdict } from './limits.ts';
import type { Machine, Taken } from './machine.ts';
import { FINDINGS, NOT_MEASURED, oneHostUnderLoad, SINCE, whatTheBillIsMadeOf } from './page-text.ts';
import { BILLED, PRICES, withoutEnds, withProvisionedTable } from './prices.ts';
import { resultOf } from './results.ts';
import { costVerdicts, recoverVerdicts, scaleVerdicts, speedVerdicts, unmeasured } from './verdicts.ts';

export interface BenchmarksPage {
  readonly text: string;
  /** SVG by name. */
  readonly charts: ReadonlyMap<string, string>;
}

/** Adds a chart to the page. @returns the text that shows it there */
type Chart = (name: string, svg: string, alt: string) => string;

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map((_, at) => (at === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n');
const money = (usd: number): string => usd.toFixed(2);
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
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
  const missed = verdicts.filter(({ met }) => !met);
  const absent = unmeasured(verdicts);
  const rows = [
    ...missed.map((one) => cellsOf(one).slice(0, -1)),
    ...absent.map((what) => [what, '', '**not measured**']),
  ];
  return [
    '## Limits',
    `The benchmarks judge ${verdicts.length} of their figures: ${missed.length === 0 ? 'all are met' : `missed: ${missed.length}`}${absent.length === 0 ? '' : `, ${absent.length} are not measured`}. A + behind a commit: changed since.`,
    ...(rows.length === 0 ? [] : [tableOf(['judged', 'limit', 'measured'], rows)]),
  ].join('\n\n');
}

function cost({ cases, oneHost: hosted, situations, machine }: CostReport, chart: Chart): string {
  const name = (kind: string, mode: string): string =>
    `${kind}, ${mode === 'atRest' ? 'at rest' : 'under load'}`;
  const small = cases.filter(({ payloadBytes }) => payloadBytes === 100);
  const sizes = [...new Set(cases.map(({ payloadBytes }) => payloadBytes))];
  const rows = small.map((one) => {
    const alike = cases.filter(({ kind, mode }) => kind === one.kind && mode === one.mode);
    const sums = sizes.map((size) => alike.find(({ payloadBytes }) => payloadBytes === size));
    return [
      name(one.kind, one.mode),
      ...sums.map((sized) => (sized === undefined ? '' : money(sized.usdPerMillionSteps))),
      money(one.apiGateway),
      money(one.logs),
      money(one.peers.stepFunctionsStandard),
      money(one.peers.lambdaDurable),
    ];
  });
  const [shown] = cases;
  const bars = small.map((one) => ({
    label: `${one.kind}, 100 B, ${one.mode === 'atRest' ? 'at rest' : 'under load'}`,
    value: one.usdPerMillionSteps,
  }));
  const peers =
    shown === undefined
      ? []
      : [
          { label: 'Lambda durable functions', value: shown.peers.lambdaDurable },
          { label: 'Step Functions Standard', value: shown.peers.stepFunctionsStandard },
        ];
  return [
    '## Cost',
    `\`npm run bench:cost\`, which also prints the parts of each sum. ${taken(machine)} At rest: one execution after the other, one message an invocation. Under load: \`batchSize: 10\` and more work than the agents' processes get done. Prices of ${PRICES.asOf}: \`bench/parts/prices.json\`.`,
    chart(
      'cost',
      barChart('$ per million steps, payload 100 B', [...bars, ...peers]),
      'Cost of a million steps',
    ),
    tableOf(
      [
        '$ per million steps',
        ...sizes.map((size) => `${size} B`),
        '+ API',
        '+ logs',
        'Step Functions',
        'durable functions',
      ],
      rows,
    ),
    'The last four are of 100 B.',
    ...(hosted === undefined ? [] : [oneHost(hosted)]),
    ...(situations === undefined
      ? []
      : [
          'Beside steps:',
          tableOf(
            ['what', '$'],
            situations.list.map(({ what, usd }) => [what, usd < 0.1 ? usd.toPrecision(2) : money(usd)]),
          ),
        ]),
  ].join('\n\n');
}

/** Agents that share one function. */
function oneHost({ machine, cases }: OneHost): string {
  const rows = cases.map((one) => [
    `${one.kind}, ${one.payloadBytes} B, ${one.mode === 'atRest' ? 'at rest' : 'under load'}`,
    ...BILLED.map((what) => money(one.parts[what])),
    money(one.usdPerMillionSteps),
    money(withoutEnds(one.units, one.steps / one.executions)),
    money(withProvisionedTable(one.units, one.steps / one.executions)),
  ]);
  const untouched = cases
    .filter(({ kind }) => kind === 'chain5')
    .map(({ parts }) => money(parts.writeUnits + parts.readUnits + parts.events));
  return [
    `With all agents in one host (\`hosting: 'shared'\`), which carries an execution on from step to step, \`-- --one-host\`. ${taken(machine)}`,
    tableOf(
      ['one host', ...HEADS_OF_ONE_HOST, 'sum', 'ends not announced', 'table provisioned, 70 % used'],
      rows,
    ),
    oneHostUnderLoad(span(untouched)),
  ].join('\n\n');
}

const HEADS_OF_ONE_HOST = ['writes', 'reads', 'SQS', 'Lambda calls', 'Lambda time', 'events'];

function bill({ cases, oneHost: hosted }: CostReport): string {
  const [counted, shared] = [cases, hosted?.cases ?? []].map((some) =>
    some.find(({ kind, mode }) => kind === 'chain5' && mode === 'atRest'),
  );
  if (counted === undefined) return '';
  const bills = [
    ...monthlyBills(counted.units),
    ...(shared === undefined ? [] : [billOfOneHost(shared.units)]),
  ];
  const lines = Object.keys(bills[0]?.lines ?? {});
  const others = {
    standard: 'Step Functions Standard',
    express: 'Step Functions Express',
    durable: 'durable functions',
  };
  return [
    '## The whole bill',
    `\`npm run bench:bill\`: a month at defaults with four agents, in chains of five at rest, 100 B a step: settings × counts × prices of ${PRICES.asOf}. The other services' sums leave out the functions that do the work; Express keeps no execution beyond five minutes. Metrics are those that a month without faults writes, ${METRICS.busy} of ${Object.keys(NAMES).length}; any other costs up to $0.30, by the hours in which its fault occurs.`,
    tableOf(
      ['$ a month', ...MONTHS.map(([what]) => what), ...(shared === undefined ? [] : [ONE_HOST])],
      [
        ...lines.map((name) => [name, ...bills.map((one) => money(one.lines[name] ?? 0))]),
        ['**in all**', ...bills.map(({ total }) => `**${money(total)}**`)],
        ...(['standard', 'express', 'durable'] as const).map((name) => [
          others[name],
          ...bills.map(({ rivals }) => money(rivals[name])),
        ]),
      ],
    ),
    ...bills.filter((_, at) => MONTHS[at]?.[0] === '10 M steps').map(whatTheBillIsMadeOf),
  ].join('\n\n');
}

function speed({ single, load, core, onAws, machine }: SpeedReport): string {
  return [
    '## Speed',
    `\`npm run bench:speed\`. ${taken(machine)} A chain of five steps whose agents do nothing, on the local cloud: functions, DynamoDB, queues and the client share the processors.`,
    `One execution after the other (n = ${single.executions}): **p50 ${single.p50Ms} ms, p99 ${single.p99Ms} ms** for all five steps.`,
    tableOf(
      [
        'in flight',
        'messages an invocation',
        'steps/s',
        'CPU s per 1,000 steps, functions',
        'whole process tree',
        'AWS calls a step',
        'MB, all processes',
      ],
      load.map((one) => [
        one.inFlight,
        `≤ ${one.batchSize}${one.transport === undefined ? '' : ", `transport: 'sdk'`"}`,
        one.stepsPerSecond,
        one.cpuLambda.toFixed(2),
        one.cpuTree.toFixed(2),
        one.callsPerStep.toFixed(2),
        one.memoryMb,
      ]),
    ),
    `The decision core alone: ${core.decisionsPerSecond.toLocaleString('en')} decisions/s, ${(core.nsEach / 1_000).toFixed(1)} µs each, ${core.decisionsPerExecution} an execution of five steps. \`npm run bench:profile\` shows where the processor time of a function goes.`,
    SINCE,
    `On AWS some ${onAws.msPerStep} ms lie between the end of a step's work and the begin of the next one's: a write, a message (published p50), a read, a write (assumed); in a host, without the message, ${3 * PRICES.latencyMs.dynamodb}.`,
  ].join('\n\n');
}

const beside = ({ peers, peersTaken }: SpeedReport, chart: Chart): string[] =>
  peers === undefined || peersTaken === undefined
    ? []
    : [besidePage(peers, peersTaken, { chart, tableOf, taken })];

function scale({ series, machine }: ScaleReport): string {
  return [
    '## Growth',
    `\`npm run bench:scale\`. Taken ${span(series.map(({ taken: at }) => when(at)))} on ${machine.processors} processors and ${machine.memoryGb} GB, Node ${machine.node}. Exponent: of value ~ size^exponent, so 0 is constant, 1 grows alike. A plan is at most 256 KB, so a chain of these steps ends at 924.`,
    tableOf(
      ['what', 'unit', 'from', 'to', 'exponent'],
      series.map(({ what, unit, points, exponent }) => [
        what,
        unit,
        pointText(points[0]),
        pointText(points.at(-1)),
        exponent.toFixed(2),
      ]),
    ),
  ].join('\n\n');
}

/** The range of several values, or the value that all have. */
function span(values: readonly string[]): string {
  const [first = '', ...rest] = [...new Set(values)].sort((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
  const last = rest.at(-1);
  return last === undefined ? first : `${first} to ${last}`;
}

const pointText = (point?: { readonly size: number; readonly value: number }): string =>
  point === undefined
    ? ''
    : `${point.size.toLocaleString('en')}: ${Number(point.value.toPrecision(3)).toLocaleString('en')}`;

/** Executions in progress when a fault strikes. */
const ATTEMPTS_A_ROUND = 26;

function recover({ cases, outage, machine }: RecoverReport, chart: Chart): string {
  const bars = cases.map(({ fault, leaseMs, detectMs }) => ({
    label: `${fault}, lease ${leaseMs / 1_000} s`,
    value: detectMs.p99 / 1_000,
  }));
  return [
    '## Recovery',
    `\`npm run bench:recover\`, 50 minutes; \`-- --rounds 1\` takes eight. On ${machine.processors} processors and ${machine.memoryGb} GB, Node ${machine.node}. All processes of an agent are struck at once in the middle of their work, ${ATTEMPTS_A_ROUND} executions in each of the rounds (n = ${span(cases.map(({ n }) => String(n)))}; load average of a minute ${span(cases.map((one) => String(one.taken.load[0])))}). A supervisor is sweeping, except in a quiet system. Limits are the lease (a lost message: the pickup time) and 6 s, in a quiet system 10 s; a tick more where supervisors are killed as well.`,
    chart('recovery', barChart('seconds until noticed, p99', bars), 'Time until a fault is noticed'),
    tableOf(
      ['fault', 'lease s', 'noticed p50 s', 'p99 s', 'limit s', 'recovered p50 s', 'p99 s'],
      cases.map((one) => [
        one.fault,
        one.leaseMs / 1_000,
        seconds(one.detectMs.p50),
        seconds(one.detectMs.p99),
        seconds(one.limitMs),
        seconds(one.recoverMs.p50),
        seconds(one.recoverMs.p99),
      ]),
    ),
    `After a SIGKILL all ${ATTEMPTS_A_ROUND} processes start anew, on two processors, before any step is tried again: that is most of the time to recover.`,
    ...(outage === undefined
      ? []
      : [
          `**After an outage.** ${outage.executions.toLocaleString('en')} executions of one step of 0.1 s were under way, for eight processes, when the table was killed; it came back after ${seconds(outage.outageMs)} s. All had ended ${seconds(outage.drainedMs)} s later. Without an outage the same takes ${seconds(outage.calmMs)} s (${when(outage.taken)}, load average ${loadOf(outage)}).`,
        ]),
  ].join('\n\n');
}

/** Builds the page from the stored results. */
export function benchmarksPage(): BenchmarksPage {
  const charts = new Map<string, string>();
  const chart: Chart = (name, svg, alt) => {
    charts.set(name, svg);
    return `![${alt}](benchmarks/${name}.svg)`;
  };
  const costs = resultOf('cost') as CostReport | undefined;
  const speeds = resultOf('speed') as { readonly speed: SpeedReport } | undefined;
  const scales = resultOf('scale') as { readonly scale: ScaleReport } | undefined;
  const recoveries = resultOf('recover') as { readonly recover: RecoverReport } | undefined;
  const sections = [
    '# Benchmarks',
    [
      'This page is made of `bench/results` by `npm run bench:report`. Each command below prints what it measures, and leaves it there',
      'with `--save`.',
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
    ...(costs === undefined ? [] : [cost(costs, chart), bill(costs)]),
    ...(speeds === undefined ? [] : [speed(speeds.speed), ...beside(speeds.speed, chart)]),
    ...(scales === undefined ? [] : [scale(scales.scale)]),
    ...(recoveries === undefined ? [] : [recover(recoveries.recover, chart)]),
    FINDINGS,
    NOT_MEASURED,
  ];
  return { text: `${sections.join('\n\n')}\n`, charts };
}
