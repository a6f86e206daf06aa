/**
 * Decides, by the level in the template, which lines of a function are logged. Pure. Does not own: Lambda's
 * own lines (platform-line.ts), which have another level.
 *
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 */

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/**
 * Whether a line is written. JSON without a level is INFO, and so are lines in the embedded metric format.
 * Other text has the level that Node's runtime gives to the stream.
 * @param least the lowest level that is written; without it all lines are
 */
export function isWritten(least: string | undefined, stream: 'stdout' | 'stderr', line: string): boolean {
  if (least === undefined) return true;
  const level = levelIn(line) ?? (stream === 'stderr' ? 'ERROR' : 'INFO');
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least.toUpperCase());
}

/** The level in a line of JSON; INFO if it has no valid one. */
function levelIn(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level } = JSON.parse(line) as { readonly level?: unknown };
    const said = String(level).toUpperCase();
    // Powertools writes CRITICAL for FATAL.
    if (said === 'CRITICAL') return 'FATAL';
    return LEVELS.includes(said) ? said : 'INFO';
  } catch {
    return undefined;
  }
}
