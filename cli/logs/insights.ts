/**
 * Reads a deployment's log lines from CloudWatch Logs Insights, with one sorted query for up to 50 log
 * groups.
 *
 * Owns: the query, its time range, and returning each line once. Does not own: the calls (`../aws/calls.ts`),
 * finding the log groups (`../aws/tagged.ts`).
 *
 * FilterLogEvents is free, but reads only one group at a time, page by page.
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import type { Answer, Calls } from '../aws/calls.ts';
import { taggedWith } from '../aws/tagged.ts';
import { CliError, type Clock, EXIT } from '../io.ts';
import {
  inOrder,
  levelsFrom,
  type LogLine,
  type LogSource,
  type Wanted,
  wantedLine,
} from '../../lib/view/log-line.ts';

/** The limits of one query, both from StartQuery. */
const MOST_GROUPS = 50;
export const MOST_LINES = 10_000;
/** The time between two checks whether a query is done. */
const ASK_EVERY_MS = 1_000;
/**
 * How late a line may arrive. Each query begins this long before the end of the last one, and lines that were
 * already read are left out.
 */
const LATE_MS = 120_000;
/** The only ids that are put into a query. */
const ID = /^[a-z0-9.-]{1,1200}$/;

export interface InsightsOptions {
  readonly calls: Calls;
  readonly clock: Clock;
  readonly stack: string;
  readonly wanted: Wanted;
  /** Epoch ms, before the execution's first line. */
  readonly from: number;
  /** Epoch ms; absent for now. */
  readonly to?: number;
}

/** How far the functions' clocks may be behind the table's. */
const BEFORE_START_MS = 60_000;
/** How long an attempt can run after the end of its execution. */
const AFTER_END_MS = 15 * 60_000;

/** Reads the lines of one execution, in the time range in which it can have any. */
export const insightsOf = (
  where: Pick<InsightsOptions, 'calls' | 'clock' | 'stack'>,
  { executionId, startedAt, endedAt }: ExecutionView,
  wanted: Omit<Wanted, 'executionId'>,
): Insights =>
  new Insights({
    ...where,
    wanted: { executionId, ...wanted },
    from: Math.max(startedAt - BEFORE_START_MS, wanted.since ?? 0),
    ...(endedAt === undefined ? {} : { to: endedAt + AFTER_END_MS }),
  });

export class Insights implements LogSource {
  readonly #options: InsightsOptions;
  readonly #seen = new Set<string>();
  #from: number;
  #groups: readonly string[] | undefined;
  /** The bytes scanned by the queries; AWS charges for these. */
  scannedBytes = 0;
  /** Whether a query had more lines than it may return. */
  isCut = false;

  constructor(options: InsightsOptions) {
    this.#options = options;
    this.#from = options.from;
    if (!ID.test(options.wanted.executionId))
      throw new CliError('bad-id', `'${options.wanted.executionId}' is not the id of an execution`);
  }

  /** @throws CliError `no-stack`, `no-logs`, `query-failed`, and as `Calls` does */
  async next(): Promise<readonly LogLine[]> {
    this.#groups ??= await this.#logGroups();
    const now = this.#options.clock.now();
    const to = Math.min(now, this.#options.to ?? now);
    const lines: LogLine[] = [];
    for (let at = 0; at < this.#groups.length; at += MOST_GROUPS)
      lines.push(...(await this.#query(this.#groups.slice(at, at + MOST_GROUPS), to)));
    this.#from = Math.max(this.#from, to - LATE_MS);
    return inOrder(lines);
  }

  async #logGroups(): Promise<string[]> {
    const { calls, stack } = this.#options;
    const tagged = await taggedWith(calls, stack);
    const names = tagged.flatMap(({ arn, part }) => {
      const [, name] = /:log-group:([^:]+)/.exec(arn) ?? [];
      return part === 'logs' && name !== undefined ? [name] : [];
    });
    if (names.length > 0) return names.sort();
    throw new CliError(
      'no-logs',
      `stack '${stack}' has no log group with its tag, in this account and region: name the stack of a Steadfast`,
      EXIT.failed,
    );
  }

  async #query(logGroupNames: readonly string[], to: number): Promise<LogLine[]> {
    const { calls, clock, wanted } = this.#options;
    const { queryId } = await calls.json('logs', 'StartQuery', {
      logGroupNames,
      // The range is in seconds, and includes both ends.
      startTime: Math.floor(this.#from / 1_000),
      endTime: Math.ceil(to / 1_000),
      queryString: queryFor(wanted),
    });
    for (;;) {
      const answer = await calls.json('logs', 'GetQueryResults', { queryId });
      const { status } = answer;
      if (status === 'Complete') return this.#linesIn(answer);
      if (status !== 'Running' && status !== 'Scheduled')
        throw new CliError(
          'query-failed',
          `the query of CloudWatch Logs ended as '${String(status)}'; narrow it with --since`,
          EXIT.failed,
        );
      await clock.sleep(ASK_EVERY_MS);
    }
  }

  #linesIn({ results, statistics }: Answer): LogLine[] {
    const rows = (results ?? []) as readonly (readonly Record<'field' | 'value', string>[])[];
    this.scannedBytes += Number((Object(statistics) as Answer)['bytesScanned'] ?? 0);
    this.isCut ||= rows.length >= MOST_LINES;
    return rows.flatMap((row) => {
      const fields = Object.fromEntries(row.map(({ field, value }) => [field, value]));
      const { '@ptr': pointer = '', '@message': message = '', '@log': log = '' } = fields;
      if (this.#seen.has(pointer)) return [];
      this.#seen.add(pointer);
      // Removes the account from 'account:group'.
      const line = wantedLine(message, log.replace(/^\d+:/, ''), this.#options.wanted);
      return line === undefined ? [] : [line];
    });
  }
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html */
function queryFor({ executionId: id, children, level }: Wanted): string {
  const below = children ? ` or correlation_id like /^${id.replaceAll('.', '\\.')}\\./` : '';
  const levels = levelsFrom(level).map((one) => `'${one}'`);
  const ofLevel = level === 'trace' ? '' : ` | filter level in [${levels.join(', ')}]`;
  return `fields @timestamp, @message, @log | filter correlation_id = '${id}'${below}${ofLevel} | sort @timestamp asc | limit ${MOST_LINES}`;
}
