/**
 * Sends notifications to the addresses that starts give: a rule on the bus, a queue, and a function.
 *
 * Owns: the parts, the function's permissions. Does not own: one event (`notifications/handler.ts`), which
 * events ask for it (`core/decisions/news.ts`).
 *
 * All exist only if `callbackUrls` names the secret. The function may read executions by their keys, that
 * secret and its queue, nothing else.
 */

import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { type IEventBus, Match, Rule } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Code, Function } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { ENV, EVENTS } from '../aws/names.ts';
import type { KeysOf } from '../core/values/options.ts';
import type { SecretPlace } from '../core/values/signed-by.ts';
import { TRIES_OF_A_DAY } from '../notifications/tries.ts';
import { allowEvents, grantUse } from './encryption.ts';
import { addFunction, type SharedSettings } from './function.ts';
import { grantSecret } from './grant-secret.ts';
import { checkOptions } from './known-options.ts';
import { addQueues, deadLettersOf, deliversTo } from './queue-rules.ts';
import { allow } from './start-queue.ts';
import type { StateTable } from './state-table.ts';

/** How notifications of executions are sent to the addresses that their starts give. */
export interface CallbackUrlOptions {
  /** The secret that signs them: `secret('SHOP_EVENTS', { parameter: '/shop/events' })`. */
  readonly secret: SecretPlace;
  /**
   * Whether an address may be in a private network. Never on the machine of the function, never link-local.
   * @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

const OPTIONS = { secret: true, allowPrivateAddresses: true } as const satisfies KeysOf<CallbackUrlOptions>;

export interface NotificationsProps extends SharedSettings {
  readonly options: CallbackUrlOptions;
  readonly code: (name: string) => Code;
  readonly encryptionKey?: IKey;
  readonly removalPolicy: RemovalPolicy;
}

/** The parts of a deployment that this one needs. */
interface Whole extends Construct {
  readonly stateTable: StateTable;
  readonly eventBus: IEventBus;
}

const TIMEOUT = Duration.seconds(30);
/** Six times the function's timeout, as AWS recommends. */
const VISIBILITY = Duration.minutes(3);
/** A receiver that does not answer keeps a function waiting for 15 s. */
const MAX_CONCURRENCY = 5;

/** The function that sends notifications, its queue and its rule. */
export class Notifications extends Construct {
  readonly queue: Queue;
  readonly function: Function;
  readonly alarm: Alarm;

  constructor(scope: Whole, id: string, { options, code, environment, ...props }: NotificationsProps) {
    super(scope, id);
    checkOptions('callbackUrls', options, OPTIONS);
    const { encryptionKey: key, removalPolicy, ...shared } = props;
    const receives = { visibilityTimeout: VISIBILITY, maxReceiveCount: TRIES_OF_A_DAY };
    const { queue, deadLetterQueue } = addQueues(this, { encryptionKey: key, removalPolicy, ...receives });
    this.queue = queue;
    const { env, parameter, secretsManager, field } = options.secret;
    const place = { env, parameter, secretsManager, field };
    const allowsPrivate = options.allowPrivateAddresses === true;
    this.function = addFunction(this, {
      ...shared,
      description:
        'Steadfast notifications: sends ends and questions of executions to the addresses of their starts',
      code: code('notifications'),
      timeout: TIMEOUT,
      environment: {
        ...environment,
        [ENV.notifications]: JSON.stringify({ secret: place, allowsPrivate }),
        [ENV.notificationQueue]: this.queue.queueUrl,
      },
    });
    this.function.addEventSourceMapping('Notifications', {
      eventSourceArn: this.queue.queueArn,
      batchSize: 10,
      reportBatchItemFailures: true,
      maxConcurrency: MAX_CONCURRENCY,
    });
    allow(
      this.function,
      this.queue,
      'sqs:ReceiveMessage',
      'sqs:DeleteMessage',
      'sqs:GetQueueAttributes',
      'sqs:ChangeMessageVisibility',
    );
    scope.stateTable.grantReadOne(this.function);
    grantSecret(this, this.function, { secret: options.secret, whose: 'callbackUrls' });
    if (key !== undefined) {
      grantUse(key, this.function);
      allowEvents(key, this);
    }
    this.connect(scope.eventBus, deadLetterQueue);
    this.alarm = deadLettersOf(
      this,
      deadLetterQueue,
      'Notifications of executions were given up after a day: their receivers did not take them, or none could be sent (notification-given-up in the log).',
    );
  }

  private connect(eventBus: IEventBus, deadLetterQueue: Queue): void {
    const rule = new Rule(this, 'Rule', {
      description: 'Steadfast notifications: the events that the start of an execution asked for',
      eventBus,
      eventPattern: {
        source: [EVENTS.end.source],
        detailType: [EVENTS.end.detailType, EVENTS.question.detailType],
        detail: { notify: Match.exists() },
      },
    });
    deliversTo(rule, this.queue, deadLetterQueue);
  }
}

/** The settings of the deployment that apply here. */
interface Settings {
  readonly callbackUrls?: CallbackUrlOptions;
  readonly encryptionKey?: IKey;
  readonly removalPolicy?: RemovalPolicy;
}

/** Adds the parts if the deployment names the secret. */
export function addNotifications(
  whole: Whole & { readonly monitoring?: { readonly add: (alarm: Alarm) => void } },
  { callbackUrls: options, encryptionKey, removalPolicy = RemovalPolicy.RETAIN }: Settings,
  shared: Omit<NotificationsProps, 'options' | 'encryptionKey' | 'removalPolicy'>,
): Notifications | undefined {
  if (options === undefined) return undefined;
  const notifications = new Notifications(whole, 'Notifications', {
    ...shared,
    ...defined({ encryptionKey }),
    options,
    removalPolicy,
  });
  whole.monitoring?.add(notifications.alarm);
  return notifications;
}
