/**
 * The log lines of one execution, for the page: locally from files, of a deployment from CloudWatch Logs with the operator's own
 * credentials.
 *
 * Owns: which lines a page gets, and how many. Does not own: reading them (`../logs/`), that the execution exists, and that the page may
 * ask (`listener.ts`). Nothing of a request names a file, a log group or a query: they follow from the execution that the API has shown.
 */

import type { ExecutionView } from '../../api/answers.ts';
import type { Calls } from '../aws/calls.ts';
import { CliError, CLOCK, messageOf } from '../io.ts';
import { insightsOf } from '../logs/insights.ts';
import { type Level, lineParts, LEVELS, type LogLine, type LogSource } from '../logs/line.ts';
import { LocalFiles } from '../logs/local-files.ts';
import type { Refusal } from './request-checks.ts';

export interface LogsWanted {
  readonly children: boolean;
  readonly level: Level;
}

interface Found {
  readonly lines: readonly LogLine[];
  /** There were more than are read at once. */
  readonly isCut: boolean;
  /** What the query has read, which is what is paid for. */
  readonly scannedBytes?: number;
}

export type ReadLogs = (view: ExecutionView, wanted: LogsWanted) => Promise<Found>;

/** More are not drawn; the command prints them. */
const MOST_SHOWN = 1_000;
const MAX_CHARS = 4_000;

/** @param folder with a file for each function */
export const localLogs =
  (folder: string): ReadLogs =>
  async ({ executionId }, wanted) => ({
    lines: await new LocalFiles(folder, { executionId, ...wanted }).next(),
    isCut: false,
  });

/** @param calls made when they are first needed: whoever only looks at executions need not be allowed them */
export const awsLogs =
  (calls: () => Calls, stack: string): ReadLogs =>
  async (view, wanted) => {
    const source = insightsOf({ calls: calls(), clock: CLOCK, stack }, view, wanted);
    const lines = await (source satisfies LogSource).next();
    return { lines, isCut: source.isCut, scannedBytes: source.scannedBytes };
  };

/** @returns nothing where the query says something else */
export function logsWanted(query: string): LogsWanted | undefined {
  const asked = new URLSearchParams(query);
  const level = LEVELS.find((one) => one === (asked.get('level') ?? 'trace'));
  return level && { level, children: asked.get('children') === 'true' };
}

/** The latest lines as JSON, or why there are none. */
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
    const { lines, isCut, scannedBytes } = found;
    return JSON.stringify({
      lines: lines.slice(-MOST_SHOWN).map(shown),
      isCut: isCut || lines.length > MOST_SHOWN,
      ...(scannedBytes === undefined ? {} : { scannedBytes }),
    });
  } catch (error) {
    const code = error instanceof CliError ? error.code : 'no-logs';
    return { status: 502, code, message: messageOf(error) };
  }
}

const LATE: Refusal = {
  status: 504,
  code: 'no-answer',
  message: 'the log lines took too long to be found: npx steadfast logs waits for them',
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
