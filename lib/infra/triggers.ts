/**
 * The triggers, which start executions without the API: objects in S3, events, schedules, messages.
 *
 * Owns: how each source reaches its queue, and every refusal about a trigger. Does not own: the reader of the
 * queue (`start-queue.ts`), the fields of the events (`event-shapes.ts`).
 */

import { type EventPattern, type IEventBus, Rule } from 'aws-cdk-lib/aws-events';
import { type IGrantable, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import { CfnBucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { CfnSchedule, CfnScheduleGroup, type ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Names, type RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { SharedSettings } from './function.ts';
import { scheduleProblem } from '../author/triggers/schedule-check.ts';
import {
  isSending,
  type KeyFilter,
  type SendingOptions,
  type TriggerOptions,
  type WebhookTrigger,
} from '../author/triggers/trigger-declaration.ts';
import type { KeysOf } from '../core/values/options.ts';
import type { FoundWorkflow } from './discovery.ts';
import { allowEvents, grantUse } from './encryption.ts';
import type { WorkflowReference } from './event-mapping.ts';
import {
  type CompiledTrigger,
  compiledTrigger,
  EVENT,
  MESSAGE,
  OBJECT_CREATED,
  SCHEDULE,
  type SourceKind,
  unknownMessage,
  WEBHOOK,
  type WebhookParts,
} from './event-shapes.ts';
import { checkOptions } from './known-options.ts';
import { deliversTo } from './queue-rules.ts';
import { allow, StartQueue } from './start-queue.ts';
import { inputProblems } from './trigger-check.ts';

/**
 * The parts of a bucket that are read. The class declares optional members differently from `IBucket`
 * (exactOptionalPropertyTypes).
 */
export type BucketReference = Pick<IBucket, 'node' | 'bucketName' | 'enableEventBridgeNotification'>;

/** The options of every trigger that starts executions: its name, the input, which events are the same. */
export type TriggerProps<Input = unknown> = TriggerOptions<Input>;

/** Selects objects of a bucket, and maps each to an input. */
export interface ObjectTriggerProps<Input = unknown> extends TriggerOptions<Input>, KeyFilter {}

/** Selects events, and maps each to an input. */
export interface EventTriggerProps<Input = unknown> extends TriggerOptions<Input> {
  /**
   * The bus of the events.
   * @default - the account's default bus
   */
  readonly eventBus?: IEventBus;
}

/** A trigger that sends messages to executions instead of starting them. */
export type Sending<Props = object> = SendingOptions & Omit<Props, keyof TriggerOptions>;

/** The options of a queue's trigger. Without `input`, the input is the message's text, parsed as JSON. */
export type QueueTriggerProps<Input = unknown> = Partial<TriggerProps<Input>>;

const BOTH = { name: true, idempotencyKey: true, maxConcurrency: true } as const;
const TRIGGER = { ...BOTH, input: true } as const satisfies KeysOf<TriggerProps>;
const SENDING = {
  ...BOTH,
  send: true,
  key: true,
  startedBy: true,
  startWith: true,
  message: true,
} as const satisfies KeysOf<Sending>;
/** Options of the source only, by the method that adds the trigger. */
const SOURCE = {
  message: {},
  schedule: {},
  object: { prefix: true, suffix: true } as const satisfies KeysOf<KeyFilter>,
  event: { eventBus: true } as const satisfies KeysOf<Pick<EventTriggerProps, 'eventBus'>>,
};

/** @throws Error with the option that was probably meant */
function checkTrigger(on: keyof typeof SOURCE, workflow: WorkflowReference, props: unknown): void {
  const keys = on !== 'schedule' && isSending(props) ? SENDING : TRIGGER;
  checkOptions(`a trigger of ${nameOf(workflow)}`, props, { ...SOURCE[on], ...keys });
}

export interface TriggersProps extends SharedSettings {
  readonly workflows: readonly FoundWorkflow[];
  /** The code of the starter, with this file beside it. */
  readonly code: (triggerName: string, file: string) => Code;
  /** The maximum concurrency of a trigger that does not set one. */
  readonly maxConcurrency: number;
  readonly encryptionKey?: IKey;
  /** Whether the queues are deleted with the stack. */
  readonly removalPolicy: RemovalPolicy;
  /** Lets a starter decide, and send to the agents of its workflow. */
  readonly grantStart: (trigger: StartQueue, agents: readonly string[]) => void;
}

/** The props that the deployment itself fills in. */
export type Starters = Pick<TriggersProps, 'workflows' | 'code' | 'grantStart' | 'maxConcurrency'>;

/** The triggers, which start executions without the API: objects, events, schedules, messages. */
export class Triggers extends Construct {
  readonly all: ReadonlyMap<string, StartQueue>;
  readonly #all = new Map<string, StartQueue>();
  readonly #props: TriggersProps;

  constructor(scope: Construct, id: string, props: TriggersProps) {
    super(scope, id);
    this.#props = props;
    this.all = this.#all;
  }

  /** @throws Error whose message names the triggers that exist */
  named(name: string): StartQueue {
    const trigger = this.#all.get(name);
    if (trigger !== undefined) return trigger;
    const there = [...this.#all.keys()].join(', ') || 'none';
    throw new Error(`no trigger is named '${name}'; there are ${there}`);
  }

  /** Starts an execution for each message of a queue of its own. */
  onMessage<Input>(
    workflow: WorkflowReference<Input>,
    props: QueueTriggerProps<NoInfer<Input>> | Sending,
  ): StartQueue {
    checkTrigger('message', workflow, props);
    if (isSending(props)) return this.#add(MESSAGE, workflow, props);
    const input = props.input ?? '$.body';
    return this.#add(MESSAGE, workflow, { ...props, input });
  }

  /** Starts an execution for each object that is written to a bucket. */
  onObjectCreated<Input>(
    bucket: BucketReference,
    workflow: WorkflowReference<Input>,
    props: ObjectTriggerProps<NoInfer<Input>> | Sending<ObjectTriggerProps>,
  ): StartQueue {
    checkTrigger('object', workflow, props);
    const trigger = this.#add(OBJECT_CREATED, workflow, props);
    announceObjects(bucket, trigger);
    const key = keyPattern(props);
    const object = key === undefined ? {} : { object: { key: [key] } };
    this.#connect(trigger, {
      source: ['aws.s3'],
      detailType: ['Object Created'],
      detail: { bucket: { name: [bucket.bucketName] }, ...object },
    });
    return trigger;
  }

  /** Starts an execution for each event that a pattern fits. */
  onEvent<Input>(
    pattern: EventPattern,
    workflow: WorkflowReference<Input>,
    props: EventTriggerProps<NoInfer<Input>> | Sending<EventTriggerProps>,
  ): StartQueue {
    checkTrigger('event', workflow, props);
    const trigger = this.#add(EVENT, workflow, props);
    this.#connect(trigger, pattern, props.eventBus);
    return trigger;
  }

  /** Starts an execution at each time of a schedule. */
  onSchedule<Input>(
    schedule: ScheduleExpression,
    workflow: WorkflowReference<Input>,
    props: TriggerProps<NoInfer<Input>>,
  ): StartQueue {
    refuseSchedule(schedule);
    checkTrigger('schedule', workflow, props);
    const trigger = this.#add(SCHEDULE, workflow, props);
    const stack = Stack.of(this);
    const role = new Role(trigger, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
      }),
    });
    for (const queue of [trigger.queue, trigger.deadLetterQueue]) allow(role, queue, 'sqs:SendMessage');
    this.#allowKey(role);
    makeSchedule(trigger, schedule, role, this.#schedules());
    return trigger;
  }

  /**
   * Starts an execution for each signed request; `webhooks.ts` adds the route. The options were checked at
   * the declaration.
   */
  onWebhook(workflow: string, options: WebhookTrigger['options']): StartQueue {
    if (isSending(options)) return this.#add(WEBHOOK, workflow, options);
    return this.#add(WEBHOOK, workflow, { ...options, input: options.input ?? options.output });
  }

  #add<Input>(
    kind: SourceKind,
    workflow: WorkflowReference<Input>,
    props: (TriggerProps<Input> | Sending) & WebhookParts,
  ): StartQueue {
    const { workflows, grantStart, code, maxConcurrency, ...shared } = this.#props;
    const found = workflows.find(({ name }) => name === nameOf(workflow));
    if (found === undefined) {
      const names = workflows.map(({ name }) => name).join(', ');
      throw new Error(
        `a trigger starts '${nameOf(workflow)}', which is not a workflow of this deployment; there are ${names}`,
      );
    }
    const mappings = isSending(props)
      ? { key: props.key, message: props.message, startWith: props.startWith }
      : { input: props.input };
    for (const [field, mapping] of Object.entries(mappings))
      if (mapping !== undefined) refuseTokens(mapping, `a trigger of '${found.name}': ${field}`);
    const compiled = compiledTrigger(kind, found.name, props as TriggerOptions & WebhookParts);
    const triggerName = this.#checkedName(compiled);
    const target = { ...found, own: typeof workflow === 'string' ? undefined : workflow.input };
    const problems = isSending(props)
      ? [...unknownMessage(props, found), ...misfitInput(props.startWith, compiled.send?.startWith, target)]
      : // With `answers` it is an output, which the callback's schema checks at run time.
        misfitInput(props.answers === undefined ? props.input : undefined, compiled.input, target);
    if (problems.length > 0) throw new Error(`trigger '${triggerName}': ${problems.join('; ')}`);
    const trigger = new StartQueue(this, triggerName, {
      ...shared,
      triggerName,
      workflowName: found.name,
      code: code(triggerName, JSON.stringify(compiled)),
      maxConcurrency: props.maxConcurrency ?? maxConcurrency,
    });
    this.#all.set(triggerName, trigger);
    // An answer may end the execution, and then steps of its parents follow.
    const others = props.answers === undefined ? [] : workflows.filter((one) => isParent(one, found));
    grantStart(trigger, [...new Set([found, ...others].flatMap(({ agents }) => agents))]);
    return trigger;
  }

  /** One group for all schedules of the deployment, because a schedule itself takes no tags. */
  #schedules(): CfnScheduleGroup {
    const id = 'Schedules';
    const made = this.node.tryFindChild(id);
    if (made !== undefined) return made as CfnScheduleGroup;
    const group = new CfnScheduleGroup(this, id, {
      name: Names.uniqueResourceName(this, { maxLength: 64, separator: '-' }),
    });
    return group;
  }

  #checkedName({ name }: CompiledTrigger): string {
    if (!this.#all.has(name)) return name;
    throw new Error(`two triggers are named '${name}'; give one of them another name: { name: '…' }`);
  }

  #connect(trigger: StartQueue, eventPattern: EventPattern, eventBus?: IEventBus): void {
    const rule = new Rule(trigger, 'Rule', {
      description: `Starts executions: trigger ${trigger.triggerName}`,
      eventPattern,
      ...(eventBus === undefined ? {} : { eventBus }),
    });
    deliversTo(rule, trigger.queue, trigger.deadLetterQueue);
    const { encryptionKey } = this.#props;
    if (encryptionKey !== undefined) allowEvents(encryptionKey, this);
  }

  #allowKey(grantee: IGrantable): void {
    const { encryptionKey } = this.#props;
    if (encryptionKey !== undefined) grantUse(encryptionKey, grantee);
  }
}

/** Whether the first may run the second as a child: then its agents include the second's. */
const isParent = (one: FoundWorkflow, other: FoundWorkflow): boolean =>
  other.agents.every((agent) => one.agents.includes(agent));

function makeSchedule(
  trigger: StartQueue,
  schedule: ScheduleExpression,
  role: Role,
  group: CfnScheduleGroup,
): CfnSchedule {
  const timeZone = schedule.timeZone?.timezoneName;
  return new CfnSchedule(trigger, 'Schedule', {
    description: `Starts executions: trigger ${trigger.triggerName}`,
    groupName: group.ref,
    scheduleExpression: schedule.expressionString,
    ...(timeZone === undefined ? {} : { scheduleExpressionTimezone: timeZone }),
    flexibleTimeWindow: { mode: 'OFF' },
    target: {
      arn: trigger.queue.queueArn,
      roleArn: role.roleArn,
      // The planned time, not that of the delivery, so it is the same in each delivery.
      input: JSON.stringify({
        time: '<aws.scheduler.scheduled-time>',
        schedule: '<aws.scheduler.schedule-arn>',
      }),
      deadLetterConfig: { arn: trigger.deadLetterQueue.queueArn },
    },
  });
}

const misfitInput = (
  mapping: unknown,
  expr: unknown,
  { name, input: shape, own: schema }: FoundWorkflow & { readonly own?: unknown },
): readonly string[] =>
  mapping === undefined ? [] : inputProblems({ mapping, given: expr }, name, { schema, shape });

/**
 * Refuses a schedule that CloudFormation would refuse after minutes. Values that only the deployment knows,
 * and a single time, are not checked.
 */
function refuseSchedule({ expressionString: schedule, timeZone }: ScheduleExpression): void {
  const name = timeZone?.timezoneName;
  if (Token.isUnresolved(schedule) || Token.isUnresolved(name) || schedule.startsWith('at(')) return;
  const problem = scheduleProblem({ schedule, ...(name === undefined ? {} : { timeZone: name }) });
  if (problem !== undefined) throw new Error(problem);
}

function refuseTokens(mapping: unknown, place: string): void {
  if (Token.isUnresolved(mapping)) {
    throw new Error(
      `${place}: a value that is known only after the deployment cannot be in a mapping; give it to a step instead`,
    );
  }
  // Other values are not JSON, and are refused elsewhere.
  const isWalked = Array.isArray(mapping) || Object(mapping).constructor === Object;
  if (!isWalked) return;
  for (const [name, value] of Object.entries(mapping as object)) refuseTokens(value, `${place}.${name}`);
}

const nameOf = (workflow: WorkflowReference): string =>
  typeof workflow === 'string' ? workflow : workflow.name;

/** The pattern for a key. In a pattern a list means 'or', so prefix and suffix become one wildcard. */
function keyPattern({ prefix, suffix }: KeyFilter): object | undefined {
  if (prefix === undefined) return suffix === undefined ? undefined : { suffix };
  if (suffix === undefined) return { prefix };
  const literal = (text: string): string => text.replace(/[\\*]/g, '\\$&');
  return { wildcard: `${literal(prefix)}*${literal(suffix)}` };
}

/**
 * Makes a bucket send events to EventBridge, in the template itself: CDK's own way is a function whose role
 * may change the notifications of every bucket.
 */
function announceObjects(bucket: BucketReference, trigger: StartQueue): void {
  const own = bucket.node.defaultChild;
  if (!(own instanceof CfnBucket)) {
    Validations.of(trigger).addWarning(
      'steadfast:importedBucket',
      `${trigger.triggerName}: this app does not define the bucket; its owner must turn on its EventBridge notifications`,
    );
    return;
  }
  const managed = (): boolean => bucket.node.tryFindChild('Notifications') !== undefined;
  if (managed()) {
    bucket.enableEventBridgeNotification();
    return;
  }
  own.addPropertyOverride('NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled', true);
  trigger.node.addValidation({
    validate: () =>
      managed()
        ? [
            `${bucket.node.path}: CDK manages the notifications of this bucket since the trigger '${trigger.triggerName}' was made, and would turn off those to EventBridge; give the bucket eventBridgeEnabled: true`,
          ]
        : [],
  });
}
