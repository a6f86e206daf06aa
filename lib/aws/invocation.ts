/**
 * One invocation of a Lambda function: what every role's handler does around its own work.
 *
 * Owns: that ports are made once per process, while the function initialises; the context of its log lines,
 * and its metrics; the answer to a batch. Does not own: what a role does with the event (`agent/handler.ts`,
 * `api/handler.ts`, `supervisor/handler.ts`).
 */

import type { Context, SQSBatchResponse, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import { en } from 'zod/locales';
import { clock } from './clock.ts';
import type { Telemetry } from './ports.ts';

// zod/mini says only "Invalid input" until it is given words; 3 KB of them say what
// was wrong and what is allowed.
z.config(en());

/**
 * One invocation: its lines carry its context, and its metrics are written when it ends, also with an error.
 * @param correlationId of its lines, but for those about an execution
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
 * In a Lambda function at once, while initialisation is free; elsewhere (a test
 * imports the file), and where others have made what is needed, when first used.
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

/** The messages that must come again, by their ids; the others are done. */
export const givenBack = (records: readonly SQSRecord[], results: readonly string[]): SQSBatchResponse => {
  const failed = records.filter((_, at) => results[at] === 'give-back');
  return { batchItemFailures: failed.map((record) => ({ itemIdentifier: record.messageId })) };
};
