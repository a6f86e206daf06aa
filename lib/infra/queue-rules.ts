/**
 * What queues have in common that a rule of EventBridge delivers to: its right to send, and the alarm about
 * what is set aside.
 */

import { Alarm, ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Lets a rule of EventBridge deliver, and set aside what it cannot deliver. */
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

/** One dead letter is alarming. */
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
