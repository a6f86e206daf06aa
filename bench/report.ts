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
import type { Machine, Taken } from './parts/machine.ts';
import { BILLED, DOLLAR_HEADS, PRICES } from './parts/prices.ts';
import { resultOf } from './parts/results.ts';
import { costVerdicts, recoverVerdicts, scaleVerdicts, speedVerdicts } from './parts/verdicts.ts';
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
const taken = ({ at, processors, memoryGb, load, node }: Machine): string =>
  `Taken ${at.slice(0, 10)} on ${processors} processors and ${memoryGb} GB, Node ${node}, load average ${load.join(' and ')}.`;
const loadOf = (one: { readonly taken: Taken }): string => one.taken.load.join(' and ');

function onWhat(machines: readonly Machine[]): string {
  const [latest] = [...machines].sort((one, other) => other.at.localeCompare(one.at));
  if (latest === undefined) return '';
  const versions = Object.entries(latest.versions).map(([name, version]) => `${name} ${version}`);
  return `The machine: ${latest.processors} × ${latest.model}, ${latest.memoryGb} GB, Node ${latest.node}; ${versions.join(', ')}.`;
}

function limits(verdicts: readonly Verdict[]): string {
  const missed = verdicts.filter(({ met }) => !met).length;
  return [
    '## Limits',
    `What the figures below are judged by: ${missed === 0 ? 'all are met' : `${missed} of ${verdicts.length} are missed`}. Each section says when it was taken, and how busy the machine was: load averages of a minute and of five, our own work included.`,
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
    `At rest: one execution after the other, one message an invocation. Under load: \`batchSize: 10\` and more work than the agents' processes get done. The sums leave out the API, the logs (ours and Lambda's own, an assumed ${PRICES.platformLogBytesPerInvocation} B an invocation), what the agents themselves do, and the supervisor, which costs the same for one step as for millions: [$0.2 a month where nothing is due, $27 where something always is](OPERATIONS.md#what-it-costs); the rivals' figures leave out their functions' invocations and time, retries and replays. Prices of ${PRICES.asOf}: \`bench/parts/prices.json\`.`,
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
    `\`npm run bench:scale\`. ${taken(machine)} The exponent is that of value ~ size^exponent: 0 is constant, 1 grows alike. Dollars here are those of the wire's units alone, without processor time. A plan is at most 256 KB, so a chain of these steps ends at 924.`,
    ...series.map(({ what, unit, points, exponent, taken: at }) =>
      [
        `**${what}**: exponent ${exponent.toFixed(2)} (load average ${at.load.join(' and ')})`,
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
    `\`npm run bench:recover\`, three quarters of an hour; \`-- --rounds 1\` takes six minutes. ${taken(machine)} All processes of an agent are struck at once in the middle of their work, 26 executions in each of the rounds: those of one round share their sweeps, so p99 says little more than the worst round. A supervisor is sweeping, as in a system that has anything to do; after an idle minute the first fault waits for the next tick, up to 60 s more ([decision 4](decisions/0004-the-supervisor-stays-until-the-next-tick.md)). Limits are the lease (a lost message: the pickup time) and 6 s; that of supervisors that are killed as well is our own, a tick more: the next pair starts with it.`,
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
        loadOf(one),
      ]),
    ),
    'After a SIGKILL all 26 processes start anew, on two processors, before any step is tried again: of six that are killed at once all have recovered after some 5 s (`-- --only SIGKILL/3 --rounds 1 --n 6`).',
    ...(outage === undefined
      ? []
      : [
          `**After an outage.** ${outage.executions.toLocaleString('en')} executions of one step of 0.1 s were under way, for eight processes, when the table was killed; it came back after ${seconds(outage.outageMs)} s. All had ended ${seconds(outage.drainedMs)} s later. Without an outage the same takes ${seconds(outage.calmMs)} s (load average ${loadOf(outage)}).`,
        ]),
  ].join('\n\n');
}

const BELOW_ONE = `What the table above counts and this one does not is the kernel's share, and the scheduler that starts each execution. To come below 1.0 s
per 1,000 steps something would have to go:

- The calls are near their floor, 0.1 ms each for four a step (the SDK alone takes 0.3 to 0.45). A claim that trusted its message
  instead of reading first would save one of them and what it takes to decode the answer, some 0.2 ms; what it reads is what keeps a step of
  a canceled execution from being performed.
- Records are items with an attribute for each field, which conditions and people can read. As one opaque attribute they
  would take perhaps half as long to code, 0.1 ms.
- A start that went from the API into a queue without a function would save the scheduler's share, 0.2 to 0.3 ms for five steps
  each, and with it the answer: what was wrong with the input, or which execution has that key.`;

const FINDINGS = `## What follows from it

- **Small payloads are cheap, large ones are not.** A step's writes are two units as long as its item stays below 1 KB; each started
  KB of an output is one more. A large input is written once, beside the execution's record. A list whose items bring 1 KB each
  costs as much as with Lambda durable functions; at 16 KB they cost less than ours in every shape, and Step Functions Standard
  costs as much as ours in one (mixed20 at rest). Keep large things elsewhere and hand on where they are.
- **Length hardly costs.** A step of a long chain is claimed on its own record and its predecessors', not on all of them, and a list is
  cut into executions of up to 25 items. What does grow with a chain is what a claim reads besides, the execution's record (1 unit to
  3), and what shrinks is each step's share of start and end.
- **Batches pay.** The default of one message an invocation costs $1.20 of SQS and $0.24 of invocations for a million steps;
  \`agentSettings: { batchSize: 10 }\` a fifth of that under load; at rest messages come one by one. It is not the default because a
  process that dies then takes ten attempts with it, and code that computes without a pause keeps ten leases from being renewed.
- **Logs are not free.** At rest a line of figures and Lambda's own two lines for every invocation cost more than its GB-seconds.

## What was slow, and was made fast

Found by sampling (\`npm run bench:profile\`) and by counting calls, in the order of what it brought. Figures are those of the time, on a
busier machine than now; the commits that have them say so.

| what | before | after |
| --- | ---: | ---: |
| the SDK's machinery for the calls of a healthy step: now plain signed requests ([decision 15](decisions/0015-plain-calls.md)) | 6.0 CPU ms a step, agents | 2.9 |
| Node's HTTP client beneath them: now connections of our own ([decision 18](decisions/0018-http-of-our-own.md)) | 2.55 CPU s per 1,000 steps, functions | 2.03 |
| records copied and deleted from on their way to items; the last SDK call of an execution | 1.80 CPU s per 1,000 steps, agents | 1.58 |
| a claim read the whole execution: now the records that it stands on ([decision 17](decisions/0017-large-inputs-apart-long-executions-in-part.md)) | 39 read units a step, chain of 900 | 3 |
| sends left one by one: those of a batch now wait for each other, up to 20 ms | 10 SQS requests for ten | 1 or 2 |
| ends of a long list were written and read again with each of them ([decision 20](decisions/0020-ends-of-a-long-list.md)) | 3.49 $ per million items, list of 10,000 | 2.49 |
| what waited in a long queue passed for lost ([decision 21](decisions/0021-a-full-queue.md)) | 100,000 due at once: no end after 650 s | 413 s |`;

const NOT_MEASURED = `## What is not measured

- Nothing ran on AWS. Units are counted on the wire of the local cloud, whose DynamoDB reports consumed capacity by AWS's rules;
  durations of Lambda are a model (assumed latency of each call, plus processor time measured here and stretched to the share
  of a processor that 384 MB have). Cold starts, throttling, retries and faults of AWS are not in any figure, nor is the wait of
  up to 20 ms in which a batch's sends are gathered.
- The poller between queue and function is not on the wire: one receive and one delete for each batch are added, and its empty
  receives are counted by the month.
- The hop through a queue is modelled by its median alone, and times of DynamoDB's calls are assumed.
- A list of 100 items with 16 KB each, which no request may hold; a chain of more than 924 steps, which no plan may.
- What one fault alone does right after an idle minute (see Recovery), and faults while thousands of executions are overdue.
- Prices of other engines are arithmetic on list prices.
- Data transfer, KMS, backups, alarms, the dashboard and storage of what has ended are in [OPERATIONS.md](OPERATIONS.md#what-it-costs).`;

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

main();
