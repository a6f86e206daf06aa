/**
 * Owns: the line that Lambda itself writes to a function's log when an event has not been answered.
 * Owns not: what functions write (function-logs.ts).
 *
 * What Lambda writes of an answered event has only its price, and is left out.
 */
import type { InvocationResult } from './function-process.ts';

/**
 * A death of a process in the form of a function that logs JSON, with the words of its text form.
 * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report
 * @returns undefined for an event that was answered, also by an error, or that no process has got
 */
export function platformLine(result: InvocationResult, requestId: string, at: Date): string | undefined {
  if (result.ok || (result.kind !== 'exit' && result.kind !== 'timeout')) return undefined;
  const { errorType, errorMessage } = result.error;
  const status = result.kind === 'timeout' ? 'timeout' : 'error';
  const record = { requestId, status, errorType, errorMessage };
  return JSON.stringify({ time: at.toISOString(), type: 'platform.report', record });
}
