/**
 * Reads the log lines of an execution for the page: on this machine from files, for a deployment from
 * CloudWatch Logs with the operator's credentials.
 *
 * Owns: which lines a page gets, and how many. Does not own: the reading (`../logs/`), checking the request
 * and that the execution exists (`listener.ts`). No request names a file, a log group or a query: they follow
 * from the execution that the API returned.
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import type { Calls } from '../aws/calls.ts';
import { CliError, CLOCK, messageOf } from '../io.ts';
import { type Insights, insightsOf } from '../logs/insights.ts';
import {
  type Level,
  linesOf,
  lineParts,
  LEVELS,
  type LogLine,
  type LogSource,
} from '../../lib/view/log-line.ts';
import { LocalFiles } from '../logs/local-files.ts';
import type { Refusal } from './request-checks.ts';

export interface LogsWanted {
  readonly children: boolean;
  readonly level: Level;
  /** The key of the page's reading, to continue after its last line. */
  readonly follow?: string;
}

interface Found {
  readonly lines: readonly LogLine[];
  /** Whether there were more lines than are read at once. */
  readonly isCut: boolean;
  /** The bytes scanned by the query; AWS charges for these. */
  readonly scannedBytes?: number;
  /** Whether these lines follow those that this reading already had. */
  readonly isMore?: true;
}

export type ReadLogs = (view: ExecutionView, wanted: LogsWanted) => Promise<Found>;

/** The most lines for a page; the command prints more. */
const MOST_SHOWN = 1_000;
const MAX_CHARS = 4_000;

/** @param folder the folder with a log file for each function */
export function localLogs(folder: string): ReadLogs {
  const readings = new Readings<LocalFiles>();
  return async ({ executionId }, { follow, ...wanted }) => {
    const { source, ...known } = readings.of(
      follow === undefined ? undefined : JSON.stringify([executionId, wanted, follow]),
      () => new LocalFiles(folder, linesOf({ executionId, ...wanted })),
    );
    return { lines: await source.next(), isCut: false, ...known };
  };
}

/** @param calls called when first needed, because reading executions needs no permission for logs */
export function awsLogs(calls: () => Calls, stack: string): ReadLogs {
  const readings = new Readings<Insights>();
  return async (view, { follow, ...wanted }) => {
    const { source, ...known } = readings.of(
      follow === undefined ? undefined : JSON.stringify([view.executionId, wanted, follow]),
      () => insightsOf({ calls: calls(), clock: CLOCK, stack }, view, wanted),
    );
    const lines = await source.next();
    return { lines, isCut: source.isCut, scannedBytes: source.scannedBytes, ...known };
  };
}

/** The most readings in memory. Beyond it the least recently used is dropped, and starts over. */
const MOST_READINGS = 30;

/** The pages' readings, each with its position. */
class Readings<Source extends LogSource> {
  readonly #kept = new Map<string, Source>();

  of(key: string | undefined, make: () => Source): { readonly source: Source; readonly isMore?: true } {
    if (key === undefined) return { source: make() };
    const known = this.#kept.get(key);
    const source = known ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, source);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_READINGS) break;
      this.#kept.delete(oldest);
    }
    return known === undefined ? { source } : { source, isMore: true };
  }
}

const A_READING = /^[\w-]{1,64}$/;

/** Parses the query. @returns undefined if it has any other parameter */
export function logsWanted(query: string): LogsWanted | undefined {
  const asked = new URLSearchParams(query);
  const level = LEVELS.find((one) => one === (asked.get('level') ?? 'trace'));
  const follow = asked.get('follow');
  if (level === undefined || (follow !== null && !A_READING.test(follow))) return undefined;
  return { level, children: asked.get('children') === 'true', ...(follow === null ? {} : { follow }) };
}

/** The latest lines as JSON, or the reason why there are none. */
export async function logsText(
  read: ReadLogs,
  view: ExecutionView,
  wanted: LogsWanted,
  signal: AbortSignal,
): Promise<string | Refusal> {
  try {
    const late = new Promise<'late'>((over) => {
      if (signal.aborted) over('late');
      else signal.addEventListener('abort', () => over('late'));
    });
    const found = await Promise.race([read(view, wanted), late]);
    if (found === 'late') return LATE;
    const { lines, isCut, scannedBytes, isMore } = found;
    return JSON.stringify({
      lines: lines.slice(-MOST_SHOWN).map(shown),
      isCut: isCut || lines.length > MOST_SHOWN,
      ...(scannedBytes === undefined ? {} : { scannedBytes }),
      ...(isMore === undefined ? {} : { isMore }),
    });
  } catch (error) {
    const code = error instanceof CliError ? error.code : 'no-logs';
    return { status: 502, code, message: messageOf(error) };
  }
}

const LATE: Refusal = {
  status: 504,
  code: 'no-answer',
  message: 'the query for log lines took too long: npx steadfast logs waits longer',
};

function shown(line: LogLine): object {
  const { rest, ...parts } = lineParts(line);
  return {
    at: line.at,
    level: line.level,
    executionId: line.executionId,
    ...parts,
    rest: rest.slice(0, MAX_CHARS),
  };
}
