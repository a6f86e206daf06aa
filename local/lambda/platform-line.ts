/**
 * Makes the line that Lambda writes to a function's log when an event was not answered. Does not own: the
 * functions' lines (function-logs.ts).
 *
 * Lambda's line about an answered event is left out, because it only shows the price.
 */
import type { InvocationResult } from './function-process.ts';

/**
 * The line about the death of a process, in the JSON format with the words of the text format.
 * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report
 * @returns undefined for an event that was answered, even by an error, or that no process got
 */
export function platformLine(result: InvocationResult, requestId: string, at: Date): string | undefined {
  if (result.ok || (result.kind !== 'exit' && result.kind !== 'timeout')) return undefined;
  const { errorType, errorMessage } = result.error;
  const status = result.kind === 'timeout' ? 'timeout' : 'error';
  const record = { requestId, status, errorType, errorMessage };
  return JSON.stringify({ time: at.toISOString(), type: 'platform.report', record });
}
