/**
 * The filters of the list of executions.
 *
 * Owns: their names in the address, and converting them to options of the API. Does not own: which filters
 * can be combined (the API says so).
 */

import { STATUSES } from '../../lib/api/answers.ts';
import type { ListOptions } from '../../lib/api/call-options.ts';
import { instantOf } from '../../lib/view/text.ts';

/** The filters as texts in the address. */
export interface Filters {
  readonly status?: string;
  readonly workflow?: string;
  readonly atRisk?: string;
  readonly code?: string;
  readonly key?: string;
  readonly plan?: string;
  /** A name and a value: 'name:value'. */
  readonly tag?: string;
  /**
   * The earliest time: '24h' ago; '09:00', the latest such time by this machine's clock; '2026-01-02T03:04';
   * or epoch ms.
   */
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
  'tag',
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

/** Suggested times; any other may be typed. */
export const SINCE_OPTIONS: readonly string[] = ['15m', '1h', '6h', '24h', '7d', '30d', '09:00'];

/** The API's options for these filters. The API refuses an unknown status or instant. */
export function askedFor({ status, atRisk, since, until, ...others }: Filters, now: number): ListOptions {
  return {
    ...others,
    ...(status === undefined ? {} : { status: status as NonNullable<ListOptions['status']> }),
    ...(atRisk === undefined ? {} : { atRisk: true }),
    ...(since === undefined ? {} : { since: instantOf(since, now) }),
    ...(until === undefined ? {} : { until: instantOf(until, now) }),
  };
}
