/**
 * The Lambda function that sends events to the addresses that starts gave: queue → execution → request.
 *
 * Owns: one batch and its answer, and when an event comes again: after the tries of a day SQS sets it aside,
 * where an alarm counts it. Does not own: one try (`post.ts`), which events come here
 * (`infra/notifications.ts`).
 *
 * The address is read from the execution, by its life: no event has it, and an event of another deployment on
 * the same bus, or of an execution that was erased, finds none. At least once: SQS delivers again what was
 * not deleted, under the same id.
 */

import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { givenBack, metering, once } from '../aws/invocation.ts';
import { ENV } from '../aws/names.ts';
import { fromEnvironment, portsOf, telemetryOf } from '../aws/ports.ts';
import { CLIENT } from '../aws/transport.ts';
import { refuse, sayable } from '../core/values/errors.ts';
import type { SecretPlace } from '../core/values/signed-by.ts';
import type { Reach } from '../ready/addresses.ts';
import { secretValue } from '../ready/secret.ts';
import { isHere } from '../remote/target.ts';
import { post, type Posted, type PostResult } from './post.ts';
import { eventText, idOf, type SentEvent, signingKey } from './signed-event.ts';
import { gapMs, TRIES_OF_A_DAY } from './tries.ts';

const SECRET_WITHIN_MS = 5_000;
/** A receiver that did not answer keeps the function waiting at most once in this time. */
const AWAY_MS = 60_000;
const MOST_AWAY = 1_000;

/** Synthesis writes it into the function's environment. */
export interface NotificationSettings {
  readonly secret: SecretPlace;
  readonly allowsPrivate: boolean;
}

/** An event of EventBridge, as a rule puts it into a queue. */
interface BusEvent {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The Lambda function of all notifications of a deployment. */
export function notificationsHandler(): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const telemetry = telemetryOf({ role: 'notifications' });
  const { logger } = telemetry;
  const ready = once(() => ({
    store: portsOf(telemetry).store,
    queue: new SQSClient(CLIENT),
    settings: JSON.parse(fromEnvironment(ENV.notifications)) as NotificationSettings,
    queueUrl: fromEnvironment(ENV.notificationQueue),
  }));

  const postUnlessAway = sparing();
  /** @returns the pause that the receiver wants, or that nothing is left to do */
  const sent = async (record: SQSRecord): Promise<number | 'handled'> => {
    const { store, settings } = ready();
    const event = eventIn(record.body);
    const { executionId, notify } = event.detail;
    const execution = await store.readExecution(String(executionId));
    if (execution?.callbackUrl === undefined || execution.life !== notify) return 'handled';
    const id = idOf(event);
    const about = { executionId: execution.id, id, to: new URL(execution.callbackUrl).origin };
    const key = signingKey(await secretValue(settings.secret, AbortSignal.timeout(SECRET_WITHIN_MS)));
    if (typeof key === 'string') throw refuse('bad-secret', `the secret ${settings.secret.env} ${key}`);
    const { callbackUrl: url } = execution;
    const reach = reachOf(new URL(url), settings);
    const posted = { url, id, text: eventText(event), key, now: Date.now(), reach };
    const { outcome, detail, wishMs = 0 } = await postUnlessAway(about.to, posted);
    if (outcome === 'taken') return 'handled';
    if (outcome === 'refused' || isLastTry(record))
      logger.error('notification-given-up', { ...about, detail });
    else logger.warn('notification-not-taken', { ...about, detail });
    return outcome === 'refused' ? 'handled' : wishMs;
  };

  /** If the delay cannot be set, the queue's own applies. */
  const delayed = async ({ receiptHandle, attributes }: SQSRecord, wishMs: number): Promise<void> => {
    const { queue, queueUrl: QueueUrl } = ready();
    const VisibilityTimeout = Math.ceil(gapMs(Number(attributes.ApproximateReceiveCount), wishMs) / 1_000);
    await queue
      .send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout }))
      .catch((error: unknown) => logger.warn('notification-not-delayed', { detail: sayable(error) }));
  };

  const handled = async (record: SQSRecord): Promise<'handled' | 'give-back'> => {
    const result = await sent(record).catch((error: unknown) => {
      const about = { messageId: record.messageId, detail: sayable(error) };
      if (isLastTry(record)) logger.error('notification-given-up', about);
      else logger.warn('notification-failed', about);
      return 0;
    });
    if (result === 'handled') return result;
    await delayed(record, result);
    return 'give-back';
  };

  return (event, context) =>
    metering(telemetry, context, async () =>
      givenBack(event.Records, await Promise.all(event.Records.map(handled))),
    );
}

/** True if SQS sets the message aside after this try. */
const isLastTry = ({ attributes }: SQSRecord): boolean =>
  Number(attributes.ApproximateReceiveCount) >= TRIES_OF_A_DAY;

/** Only a local cloud may call receivers on its machine, because both are its user's. */
function reachOf(url: URL, { allowsPrivate }: NotificationSettings): Reach {
  const aws = process.env['AWS_ENDPOINT_URL'];
  if (aws !== undefined && isHere(new URL(aws)) && isHere(url)) return 'here';
  return allowsPrivate ? 'private' : 'public';
}

function eventIn(body: string): SentEvent {
  const { source, 'detail-type': detailType, detail } = JSON.parse(body) as BusEvent;
  return { source, detailType, at: Number(detail['at'] ?? detail['endedAt']), detail };
}

/** Posts, but leaves a silent receiver alone for a while: it would take the time of all others. */
function sparing(): (to: string, posted: Posted) => Promise<PostResult> {
  const away = new Map<string, number>();
  return async (to, posted) => {
    if ((away.get(to) ?? 0) > Date.now()) return { outcome: 'unanswered', detail: 'away' };
    const result = await post(posted);
    away.delete(to);
    if (away.size >= MOST_AWAY) away.clear();
    if (result.outcome === 'unanswered') away.set(to, Date.now() + AWAY_MS);
    return result;
  };
}
