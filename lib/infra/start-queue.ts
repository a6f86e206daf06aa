/**
 * One trigger: a queue, a function that starts an execution for each message, and a dead-letter queue for
 * messages that cannot start one.
 *
 * Owns: the queues' settings, the function's permissions, the alarms. Does not own: the senders to the queue
 * (`triggers.ts`), the mapping of a message (`event-mapping.ts`).
 *
 * Events wait in the queue, for up to 14 days. None is lost while the function is throttled or broken, or the
 * table is down. If the stack's data is kept, both queues also stay, with their messages, when a deployment
 * removes or renames the trigger.
 */

import { Alarm, ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type Code, type Function, RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { type IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { grantUse } from './encryption.ts';
import { addFunction, type SharedSettings } from './function.ts';
import { grantSending } from './grants.ts';
import { addQueues, allowRule, deadLettersOf } from './queue-rules.ts';

const TIMEOUT = Duration.seconds(30);
/** Six times the function's timeout, as AWS recommends. */
const VISIBILITY = Duration.minutes(3);
/**
 * Enough for about an hour without the table. A message that can never start is set aside at once and does
 * not count.
 */
const MAX_RECEIVES = 20;
const LATE = Duration.minutes(15);
const FIVE_MINUTES = Duration.minutes(5);

export interface StartQueueProps extends SharedSettings {
  readonly triggerName: string;
  readonly workflowName: string;
  readonly code: Code;
  readonly encryptionKey?: IKey;
  /** The most messages that are processed at the same time, in tens; 2 to 1000. */
  readonly maxConcurrency: number;
  /** Whether both queues are deleted with the stack; their messages exist nowhere else. */
  readonly removalPolicy: RemovalPolicy;
}

/** A queue whose messages start executions of one workflow, with dead letters and alarms. */
export class StartQueue extends Construct {
  readonly triggerName: string;
  readonly workflowName: string;
  readonly maxConcurrency: number;
  /** The queue whose messages start executions. `grantSend` lets others send to it. */
  readonly queue: Queue;
  /** The queue of messages that started no execution, each with the reason in its attributes. */
  readonly deadLetterQueue: Queue;
  readonly function: Function;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: StartQueueProps) {
    super(scope, id);
    const { triggerName, workflowName, maxConcurrency, removalPolicy, encryptionKey, ...shared } = props;
    this.triggerName = triggerName;
    this.workflowName = workflowName;
    this.maxConcurrency = maxConcurrency;
    const receives = { visibilityTimeout: VISIBILITY, maxReceiveCount: MAX_RECEIVES };
    const queues = addQueues(this, { encryptionKey, removalPolicy, ...receives });
    this.queue = queues.queue;
    this.deadLetterQueue = queues.deadLetterQueue;
    this.function = addFunction(this, {
      ...shared,
      description: `Steadfast trigger ${triggerName}: starts ${workflowName}`,
      timeout: TIMEOUT,
      environment: { ...shared.environment, [ENV.deadLetters]: this.deadLetterQueue.queueUrl },
      // It sends the first message of a chain that may return here, as when an execution's end starts
      // another.
      recursiveLoop: RecursiveLoop.ALLOW,
    });
    this.function.addEventSourceMapping('Messages', {
      eventSourceArn: this.queue.queueArn,
      batchSize: 10,
      reportBatchItemFailures: true,
      maxConcurrency,
    });
    allow(this.function, this.queue, 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes');
    allow(this.function, this.deadLetterQueue, 'sqs:SendMessage');
    this.alarms = this.makeAlarms();
  }

  /**
   * Lets a grantee send to the queue, and use your own key if there is one. A grantee that is not a role of
   * this account (a service, another account, a role there) is allowed by the queue's own policy, and by the
   * key's unless it is imported.
   * @throws Error for a service without a condition, which would accept that service's users of any account
   */
  grantSend(grantee: IGrantable): Grant {
    const grant = grantSending(grantee, this.queue);
    const { encryptionMasterKey: key } = this.queue;
    if (key !== undefined) grantUse(key, grantee);
    return grant;
  }

  /** Lets a rule of EventBridge deliver to the queue, and undeliverable events to the dead-letter queue. */
  allowRule(ruleArn: string): void {
    allowRule(ruleArn, [this.queue, this.deadLetterQueue]);
  }

  private makeAlarms(): Alarm[] {
    return [
      deadLettersOf(
        this,
        this.deadLetterQueue,
        `Trigger '${this.triggerName}' got messages that cannot start an execution. Each message has the reason in its attributes; fix the cause, then redrive the messages to the queue.`,
      ),
      new Alarm(this, 'Late', {
        metric: this.queue.metricApproximateAgeOfOldestMessage({
          period: FIVE_MINUTES,
          statistic: Stats.MAXIMUM,
        }),
        threshold: LATE.toSeconds(),
        alarmDescription: `Trigger '${this.triggerName}' has not been able to start executions for 15 minutes: its function fails or is throttled.`,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      }),
    ];
  }
}

export const allow = (grantee: IGrantable, queue: IQueue, ...actions: string[]): Grant =>
  Grant.addToPrincipal({ grantee, actions, resourceArns: [queue.queueArn] });
