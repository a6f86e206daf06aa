/**
 * A line that a function logged about an execution.
 *
 * Owns: which lines belong to an execution, and how a line is printed. Does not own: the sources of lines
 * (`local-files.ts`, `insights.ts`), writing them (`lib/aws/telemetry.ts`).
 */

import { printable } from './text.ts';

export interface LogLine {
  /** Epoch ms. */
  readonly at: number;
  /** The level in Powertools' words: 'INFO', 'WARN', … */
  readonly level: string;
  /** The file or the log group. */
  readonly source: string;
  readonly executionId: string;
  /** The whole line, as an object. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** Selects lines by execution and level. */
export interface Wanted {
  readonly executionId: string;
  /** True to include the executions of its steps, at any depth. */
  readonly children: boolean;
  readonly level: Level;
  /** Epoch ms; earlier lines are left out. */
  readonly since?: number;
}

/** The levels, from the least to the most urgent. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'critical'] as const;
export type Level = (typeof LEVELS)[number];

/** Returns this level and the more urgent ones, as they are written in lines. */
export const levelsFrom = (level: Level): readonly string[] =>
  LEVELS.slice(LEVELS.indexOf(level)).map((one) => one.toUpperCase());

/** A source of lines, in the order of time. */
export interface LogSource {
  /** Returns the lines that earlier calls have not returned. */
  next(): Promise<readonly LogLine[]>;
}

/** Parses a line; undefined if the text is no line of the execution. */
export function wantedLine(
  text: string,
  source: string,
  { executionId: id, children, level, since = 0 }: Wanted,
): LogLine | undefined {
  if (!text.includes(id)) return undefined;
  const entry = objectIn(text);
  const { correlation_id: executionId, timestamp, level: written = 'INFO' } = entry ?? {};
  if (entry === undefined || typeof executionId !== 'string') return undefined;
  if (executionId !== id && !(children && executionId.startsWith(`${id}.`))) return undefined;
  const at = Date.parse(String(timestamp));
  const ofLevel = String(written).toUpperCase();
  const known = LEVELS.some((one) => one.toUpperCase() === ofLevel);
  if (Number.isNaN(at) || at < since || (known && !levelsFrom(level).includes(ofLevel))) return undefined;
  return { at, level: ofLevel, source, executionId, entry };
}

/** Makes a reader for the lines of one execution. */
export const linesOf =
  (wanted: Wanted) =>
  (text: string, source: string): LogLine | undefined =>
    wantedLine(text, source, wanted);

/**
 * Parses a line in which Lambda reports how a process ended before it answered. It names no execution.
 * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report
 */
export function deathLine(text: string, source: string): LogLine | undefined {
  if (!text.includes('platform.report')) return undefined;
  const { type, time, record } = objectIn(text) ?? {};
  const { status, errorMessage } = Object(record) as Readonly<Record<string, unknown>>;
  const at = Date.parse(String(time));
  if (type !== 'platform.report' || (status !== 'error' && status !== 'timeout') || Number.isNaN(at))
    return undefined;
  return { at, level: 'ERROR', source, executionId: '', entry: { message: String(errorMessage ?? status) } };
}

/** Sorts the lines by time; lines of the same time keep their order. */
export const inOrder = (lines: readonly LogLine[]): readonly LogLine[] =>
  [...lines].sort((one, other) => one.at - other.at);

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Fields that the end of a line omits: they are the same in every line, or printed before the message. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  (
    'level message timestamp service cold_start sampling_rate xray_trace_id function_arn function_memory_size ' +
    'function_name function_request_id role agent executionId correlation_id step attempt mode'
  ).split(' '),
);

/** The parts of a line as texts; '' for a part that the line does not have. */
export interface LineParts {
  /** The agent, or the role. */
  readonly who: string;
  readonly step: string;
  readonly attempt: string;
  readonly message: string;
  /** All other fields, as 'key=value'. */
  readonly rest: string;
}

export function lineParts({ entry }: LogLine): LineParts {
  const { role, agent, step = '', attempt = '', message = '' } = entry;
  const rest = Object.entries(entry)
    .filter(([key]) => !ELSEWHERE.has(key))
    .map(([key, value]) => `${key}=${key === 'error' ? errorText(value) : JSON.stringify(value)}`);
  return {
    who: plain(agent ?? role ?? ''),
    step: plain(step),
    attempt: plain(attempt),
    message: plain(message),
    rest: rest.join(' '),
  };
}

/**
 * Prints a line, such as '2026-11-21 09:36:02.123Z  WARN   charge-card  charge #2  asked  parcel="p1"'.
 * @param id the id of the requested execution, which the line omits
 */
export function lineText(line: LogLine, id: string): string {
  const { at, level, executionId } = line;
  const { who, step, attempt, message, rest } = lineParts(line);
  const place = [executionId.slice(id.length), step, attempt === '' ? '' : `#${attempt}`].filter(
    (part) => part !== '',
  );
  const time = new Date(at).toISOString().replace('T', ' ');
  const parts = [time, level.padEnd(5), who, place.join(' '), message, rest];
  return `${printable(parts.filter((part) => part !== '').join('  '))}\n`;
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Prints the error in one line; `--json` has its stack. */
function errorText(value: unknown): string {
  const { name, message } = Object(value) as { name?: unknown; message?: unknown };
  return JSON.stringify(message === undefined ? value : `${plain(name)}: ${plain(message)}`);
}
