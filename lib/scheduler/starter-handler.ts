/**
 * The Lambda function of a trigger: ports → scheduler → SQS batch, each message a start.
 *
 * Owns: one batch and its answer, and where a refused message goes. Does not own: which refusals are
 * permanent (`starter.ts`), the mapping (`trigger.ts`).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '@aws-lambda-powertools/logger';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type DeadLetters, deadLetters } from '../aws/dead-letters.ts';
import { givenBack, metering, once } from '../aws/invocation.ts';
import { ENV, TRIGGER_FILE } from '../aws/names.ts';
import { startingPortsOf, fromEnvironment, telemetryOf } from '../aws/ports.ts';
import { CLIENT } from '../aws/transport.ts';
import { parseTrigger, type Trigger } from './trigger.ts';
import type { Workflow } from '../core/plan/workflow.ts';
import { sayable } from '../core/values/errors.ts';
import { IDS } from './ids.ts';
import { createScheduler, type Scheduler } from './start.ts';
import { startFrom } from './starter.ts';

interface Starting {
  readonly scheduler: Scheduler;
  readonly trigger: Trigger;
  readonly setAside: DeadLetters;
}

/** The Lambda function of a trigger: an SQS batch, each message a start. */
export function starterHandler(
  workflows: readonly Workflow[],
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const telemetry = telemetryOf({ role: 'starter' });
  const ready = once((): Starting => {
    const trigger = parseTrigger(
      readFileSync(join(fromEnvironment('LAMBDA_TASK_ROOT'), TRIGGER_FILE), 'utf8'),
    );
    // Always uses the SDK: this is rare, and attributes may be bytes.
    const setAside = deadLetters(new SQSClient(CLIENT), fromEnvironment(ENV.deadLetters));
    return { trigger, setAside, scheduler: createScheduler(startingPortsOf(telemetry), workflows, IDS) };
  });
  const work = async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const results = await Promise.all(
      Records.map((record) => startRecord(ready(), record, telemetry.logger)),
    );
    return givenBack(Records, results);
  };
  return (event, context) => metering(telemetry, context, () => work(event));
}

async function startRecord(
  { scheduler, trigger, setAside }: Starting,
  record: SQSRecord,
  logger: Logger,
): Promise<'handled' | 'give-back'> {
  const { messageId, body, messageAttributes } = record;
  const texts = Object.entries(messageAttributes).map(([name, value]) => [name, value.stringValue ?? '']);
  const attributes = Object.fromEntries(texts) as Record<string, string>;
  const about = { trigger: trigger.name, messageId };
  try {
    const outcome = await startFrom(scheduler, trigger, { id: messageId, body, attributes });
    if (outcome.kind === 'refused') {
      const { code, message } = outcome;
      await setAside({ body, attributes: messageAttributes, code, message });
      logger.warn('start-refused', { ...about, code, error: message });
    }
    return 'handled';
  } catch (error) {
    logger.warn('start-given-back', { ...about, error: sayable(error) });
    return 'give-back';
  }
}
