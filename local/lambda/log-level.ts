/**
 * Owns: which lines of a function Lambda writes to its log, by the level that the template sets for it. Pure.
 * Owns not: Lambda's own lines (platform-line.ts), which have a level of their own.
 *
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 */

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/**
 * Whether a line is written. JSON without a level is INFO, and so are the lines of the embedded metric
 * format. Other text has the level that Node's runtime gives it for the stream.
 * @param least the lowest level that is written; without one nothing is left out
 */
export function isWritten(least: string | undefined, stream: 'stdout' | 'stderr', line: string): boolean {
  if (least === undefined) return true;
  const level = levelIn(line) ?? (stream === 'stderr' ? 'ERROR' : 'INFO');
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least.toUpperCase());
}

/** The level that a line says it has; INFO where JSON says none that there is. */
function levelIn(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level } = JSON.parse(line) as { readonly level?: unknown };
    const said = String(level).toUpperCase();
    // Powertools' word for it.
    if (said === 'CRITICAL') return 'FATAL';
    return LEVELS.includes(said) ? said : 'INFO';
  } catch {
    return undefined;
  }
}
