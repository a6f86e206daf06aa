/**
 * Shared by queues that an EventBridge rule delivers to: their settings, the rule's right to send, and the
 * alarm about dead letters.
 */

import { Alarm, ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type IQueue, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { onceInUse } from './removal.ts';

/** The longest that SQS keeps a message. */
const RETENTION = Duration.days(14);

export const encryptedBy = (key: IKey | undefined): Pick<QueueProps, 'encryption' | 'encryptionMasterKey'> =>
  key === undefined
    ? { encryption: QueueEncryption.SQS_MANAGED }
    : { encryption: QueueEncryption.KMS, encryptionMasterKey: key };

export interface QueuePairProps {
  readonly encryptionKey?: IKey | undefined;
  readonly removalPolicy: RemovalPolicy;
  readonly visibilityTimeout: Duration;
  readonly maxReceiveCount: number;
}

export interface QueuePair {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
}

/** Adds a queue with a dead-letter queue of its own; both stay where the stack's data stays. */
export function addQueues(scope: Construct, props: QueuePairProps): QueuePair {
  const { encryptionKey, removalPolicy, visibilityTimeout, maxReceiveCount } = props;
  const shared = {
    enforceSSL: true,
    retentionPeriod: RETENTION,
    removalPolicy: onceInUse(removalPolicy),
    ...encryptedBy(encryptionKey),
  };
  const deadLetterQueue = new Queue(scope, 'DeadLetterQueue', shared);
  const queue = new Queue(scope, 'Queue', {
    ...shared,
    visibilityTimeout,
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount },
  });
  return { queue, deadLetterQueue };
}

/** Lets a rule of EventBridge send to these queues. */
export function allowRule(ruleArn: string, queues: readonly IQueue[]): void {
  for (const queue of queues) {
    queue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': ruleArn } },
      }),
    );
  }
}

/** Has the rule deliver to the queue. */
export function deliversTo(rule: Rule, queue: IQueue, deadLetterQueue: IQueue): void {
  rule.addTarget({
    bind: () => ({
      arn: queue.queueArn,
      deadLetterConfig: { arn: deadLetterQueue.queueArn },
      targetResource: queue,
    }),
  });
  allowRule(rule.ruleArn, [queue, deadLetterQueue]);
}

/** The alarm about dead letters: a single one raises it. */
export const deadLettersOf = (scope: Construct, queue: IQueue, alarmDescription: string): Alarm =>
  new Alarm(scope, 'DeadLetters', {
    metric: queue.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: Stats.MAXIMUM,
    }),
    threshold: 1,
    alarmDescription,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
