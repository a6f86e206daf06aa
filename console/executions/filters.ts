/**
 * The filters of the list of executions, as the address has them.
 *
 * Owns: their names, and what the API is asked for them. Does not own: which go together (the API says so).
 */

import { STATUSES } from '../../lib/api/answers.ts';
import type { ListOptions } from '../../lib/api/call-options.ts';
import { instantOf } from '../../lib/view/text.ts';

/** The filters as texts, as the address has them. */
export interface Filters {
  readonly status?: string;
  readonly workflow?: string;
  readonly atRisk?: string;
  readonly code?: string;
  readonly key?: string;
  readonly plan?: string;
  /** 'name:value'. */
  readonly tag?: string;
  /**
   * '24h': so long ago; '09:00': the latest, on this machine's clock; a time as
   * '2026-01-02T03:04', or epoch ms.
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

/** Offered; any other may be typed. */
export const SINCE_OPTIONS: readonly string[] = ['15m', '1h', '6h', '24h', '7d', '30d', '09:00'];

/** The API's options for these filters. The API itself refuses an unknown status or instant. */
export function askedFor({ status, atRisk, since, until, ...others }: Filters, now: number): ListOptions {
  return {
    ...others,
    ...(status === undefined ? {} : { status: status as NonNullable<ListOptions['status']> }),
    ...(atRisk === undefined ? {} : { atRisk: true }),
    ...(since === undefined ? {} : { since: instantOf(since, now) }),
    ...(until === undefined ? {} : { until: instantOf(until, now) }),
  };
}
