/**
 * The limits, and the verdict on each benchmark's figures. Pure.
 *
 * Owns: which figure each limit covers, and which figures are required. Does not own: measuring. A missing
 * figure gets no verdict if only a part is measured, and is reported as missing on the page (`unmeasured`).
 */

import type { CostReport } from '../cost.ts';
import type { RecoverReport } from '../recover.ts';
import type { ScaleReport } from '../scale.ts';
import type { SpeedReport } from '../speed.ts';
import { atLeast, atMost, spread, type Verdict } from './limits.ts';

const stepVerdicts = (cases: CostReport['cases'], where: string): Verdict[] =>
  cases.flatMap(({ kind, payloadBytes, mode, limit, usdPerMillionSteps }) =>
    limit === undefined
      ? []
      : [
          atMost(
            `${kind}, ${payloadBytes} B, ${mode === 'atRest' ? 'at rest' : 'under load'}${where}, without API and logs`,
            '$ per million steps',
            limit,
            usdPerMillionSteps,
          ),
        ],
  );

export function costVerdicts({
  cases,
  oneHost,
  situations,
}: Pick<CostReport, 'cases' | 'oneHost' | 'situations'>): Verdict[] {
  const verdicts = [...stepVerdicts(cases, ''), ...stepVerdicts(oneHost?.cases ?? [], ', one host')];
  const idle = situations?.idle;
  if (idle === undefined) return verdicts;
  return [
    ...verdicts,
    atMost('an idle system: queries a minute', 'a shard', 1, idle.queries / idle.shards),
    atMost('an idle system: other calls of DynamoDB', 'a minute', 0, idle.others),
  ];
}

export function speedVerdicts({ single, load }: Pick<SpeedReport, 'single' | 'load'>): Verdict[] {
  const batched = load.filter(({ batchSize, transport }) => batchSize > 1 && transport === undefined);
  const leastOf = (of: 'cpuLambda' | 'cpuTree'): number => Math.min(...batched.map((one) => one[of]));
  return [
    atMost('five steps, one execution at a time, p50', 'ms', 60, single.p50Ms),
    ...(batched.length === 0
      ? []
      : [
          atMost('processor time of the functions, best load', 's per 1,000 steps', 2, leastOf('cpuLambda')),
          atMost('processor time of all processes, best load', 's per 1,000 steps', 4, leastOf('cpuTree')),
          atLeast(
            'throughput, best load',
            'steps/s',
            300,
            Math.max(...load.map((one) => one.stepsPerSecond)),
          ),
        ]),
  ];
}

/** The names of the series that limits cover. */
export const SERIES = {
  chain: 'a step of a chain',
  map: 'an item of a list',
  due: 'so many overdue at once, until all have been sent and have ended',
  open: 'a tick with so many open executions, none due',
} as const;

export function scaleVerdicts({ series }: Pick<ScaleReport, 'series'>): Verdict[] {
  const pointsOf = (what: string, from: number): readonly number[] =>
    (series.find((one) => one.what === what)?.points ?? [])
      .filter(({ size }) => size >= from)
      .map(({ value }) => value);
  const sizesOf = (what: string): readonly number[] =>
    (series.find((one) => one.what === what)?.points ?? []).map(({ size }) => size);
  const drained = series
    .find(({ what }) => what === SERIES.due)
    ?.points.find(({ size }) => size === 10_000)?.value;
  const largest = (what: string): string => Math.max(...sizesOf(what)).toLocaleString('en');
  const constant = (what: string, from: number, limit: number): Verdict[] =>
    pointsOf(what, from).length < 2
      ? []
      : [
          atMost(
            `${what}, from ${from.toLocaleString('en')} to ${largest(what)}`,
            'times the cheapest',
            limit,
            spread(pointsOf(what, from)),
          ),
        ];
  return [
    ...constant(SERIES.chain, 10, 1.1),
    ...constant(SERIES.map, 100, 1.1),
    ...constant(SERIES.open, 1_000, 1.2),
    ...(drained === undefined ? [] : [atMost('10,000 overdue at once, all ended', 's', 60, drained)]),
  ];
}

export const recoverVerdicts = ({ cases }: Pick<RecoverReport, 'cases'>): Verdict[] =>
  cases.map(({ fault, leaseMs, limitMs, detectMs, n }) =>
    atMost(
      `${fault}, lease ${leaseMs / 1_000} s: noticed, p99 of ${n}`,
      's',
      limitMs / 1_000,
      detectMs.p99 / 1_000,
    ),
  );

/** The benchmarks that have a verdict as a whole. */
const JUDGED: readonly string[] = [
  'chain5, 100 B, at rest, without API and logs',
  'chain5, 100 B, under load, without API and logs',
  'chain5, 1024 B, under load, without API and logs',
  'mixed20, 100 B, under load, without API and logs',
  'chain5, 100 B, at rest, one host, without API and logs',
  'chain5, 100 B, under load, one host, without API and logs',
  'an idle system: queries a minute',
  'an idle system: other calls of DynamoDB',
  'five steps, one execution at a time, p50',
  'processor time of the functions, best load',
  'processor time of all processes, best load',
  'throughput, best load',
  'a step of a chain, from 10 to 900',
  'an item of a list, from 100 to 10,000',
  'a tick with so many open executions, none due, from 1,000 to 1,000,000',
  '10,000 overdue at once, all ended',
  ...['SIGKILL, lease 3 s', 'freeze, lease 3 s', 'SIGKILL, lease 6 s', 'freeze, lease 6 s'].map(noticed),
  ...['SIGKILL, lease 12 s', 'freeze, lease 12 s', 'lost message, lease 3 s'].map(noticed),
  noticed('SIGKILL, supervisors too, lease 3 s'),
  noticed('quiet system, SIGKILL, lease 3 s'),
];

function noticed(fault: string): string {
  return `${fault}: noticed, p99 of 208`;
}

/** The limits without a figure. */
export const unmeasured = (verdicts: readonly Verdict[]): readonly string[] =>
  JUDGED.filter((name) => !verdicts.some(({ what }) => what === name));
