/**
 * One invocation of a Lambda function: what every role's handler does around its own work.
 *
 * Owns: making ports once per process while the function initialises, the context of an invocation's log
 * lines, writing its metrics, the answer to a batch. Does not own: a role's work on the event
 * (`agent/handler.ts`, `api/handler.ts`, `supervisor/handler.ts`).
 */

import type { Context, SQSBatchResponse, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import { en } from 'zod/locales';
import { clock } from './clock.ts';
import type { Telemetry } from './ports.ts';

// zod/mini says only "Invalid input" until it is given a language; its 3 KB say what was wrong and what is
// allowed.
z.config(en());

/**
 * Runs one invocation: its log lines carry its context, and its metrics are written when it ends, even if it
 * throws.
 * @param correlationId of its lines, except those about an execution
 */
export async function metering<Result>(
  { logger, meter }: Telemetry,
  context: Context,
  invocation: () => Promise<Result>,
  correlationId?: string,
): Promise<Result> {
  clock.resume();
  logger.addContext(context);
  logger.refreshSampleRateCalculation();
  if (correlationId !== undefined) logger.setCorrelationId(correlationId);
  try {
    return await invocation();
  } finally {
    meter.flush();
  }
}

/**
 * Makes the value at once in a Lambda function, where initialisation is free, if it is needed; otherwise on
 * first use (a test only imports the file).
 */
export function once<Value>(make: () => Value, isNeeded = true): () => Value {
  let made: { readonly value: Value } | undefined;
  const get = (): Value => {
    made ??= { value: make() };
    return made.value;
  };
  if (isNeeded && process.env['AWS_LAMBDA_FUNCTION_NAME'] !== undefined) get();
  return get;
}

/** Gives back the messages that must come again; the others are done. */
export const givenBack = (records: readonly SQSRecord[], results: readonly string[]): SQSBatchResponse => {
  const failed = records.filter((_, at) => results[at] === 'give-back');
  return { batchItemFailures: failed.map((record) => ({ itemIdentifier: record.messageId })) };
};
