/**
 * The filters of the list of executions, as the address has them.
 *
 * Owns: their names, and what the API is asked for them. Does not own: which go together (the API says so).
 */

import { type ListOptions, STATUSES } from '../../lib/api/answers.ts';

/** As text, each as it is in the address. */
export interface Filters {
  readonly status?: string;
  readonly workflow?: string;
  readonly atRisk?: string;
  readonly code?: string;
  readonly key?: string;
  readonly plan?: string;
  /** '24h', or epoch ms. */
  readonly since?: string;
  readonly until?: string;
}

export const NAMES = [
  'status',
  'workflow',
  'atRisk',
  'code',
  'key',

  'plan',
  'since',
  'until',
] as const;

export const filtersIn = (query: ReadonlyMap<string, string>): Filters =>
  Object.fromEntries(NAMES.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));

export const STATUS_OPTIONS: readonly (readonly [string, string])[] = [
  ['', 'any status'],
  ['open', 'open: not ended'],
  ['bad', 'ended without success'],
  ...STATUSES.map((status) => [status, status] as const),
];

export const SINCE_OPTIONS: readonly (readonly [string, string])[] = [
  ['', 'any time'],
  ['15m', 'the last 15 minutes'],
  ['1h', 'the last hour'],
  ['6h', 'the last 6 hours'],
  ['24h', 'the last 24 hours'],
  ['7d', 'the last 7 days'],
  ['30d', 'the last 30 days'],
];

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** '24h' as the instant that long ago; else epoch ms. */
function instantOf(text: string, now: number): number {
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const ms = UNIT_MS[unit];
  return ms === undefined ? Number(text) : now - Number(count) * ms;
}

/** What the list is asked for; what is no status, or no instant, the API refuses in words. */
export function askedFor({ status, atRisk, since, until, ...others }: Filters, now: number): ListOptions {
  return {
    ...others,
    ...(status === undefined ? {} : { status: status as NonNullable<ListOptions['status']> }),
    ...(atRisk === undefined ? {} : { atRisk: true }),
    ...(since === undefined ? {} : { since: instantOf(since, now) }),
    ...(until === undefined ? {} : { until: instantOf(until, now) }),
  };
}
