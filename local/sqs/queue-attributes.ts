/** GetQueueAttributes: the settings and depths of a queue in SQS's spelling. Pure. */
import type { Queue } from './queue.ts';
import { type Fields, SqsError } from './request-checks.ts';

/** The requested attributes; none without a request, as on AWS. */
export function queueAttributes(queue: Queue, fields: Fields): Record<string, string> {
  const wanted = Array.isArray(fields['AttributeNames']) ? fields['AttributeNames'] : [];
  const { settings } = queue;
  const counts = queue.counts();
  const all: Record<string, string> = {
    QueueArn: settings.arn,
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(counts.delayed),
    VisibilityTimeout: seconds(settings.visibilityTimeoutMs),
    DelaySeconds: seconds(settings.delayMs),
    MessageRetentionPeriod: seconds(settings.retentionMs),
    ReceiveMessageWaitTimeSeconds: seconds(settings.receiveWaitMs),
    MaximumMessageSize: String(settings.maxMessageBytes),
    SqsManagedSseEnabled: 'false',
  };
  if (queue.redrive !== undefined) {
    all['RedrivePolicy'] = JSON.stringify({
      deadLetterTargetArn: queue.redrive.target.settings.arn,
      maxReceiveCount: queue.redrive.maxReceiveCount,
    });
  }
  const known = new Set([...Object.keys(all), ...QUIET, 'All']);
  for (const name of wanted) {
    if (typeof name !== 'string' || !known.has(name)) {
      throw new SqsError('InvalidAttributeName', `Unknown Attribute ${String(name)}.`);
    }
  }
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => wanted.includes('All') || wanted.includes(name)),
  );
}

/** Attributes of AWS that have no value here. */
const QUIET = [
  'Policy',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'RedrivePolicy',
  'RedriveAllowPolicy',
  'KmsMasterKeyId',
];

function seconds(ms: number): string {
  return String(Math.round(ms / 1000));
}
