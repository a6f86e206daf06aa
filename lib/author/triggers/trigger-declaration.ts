/**
 * The triggers of a workflow, declared beside it (`triggers.ts`) as data:
 *
 *     export const nightly = onSchedule(report, { schedule: 'cron(0 2 * * ? *)', input: { day: '$.time' } });
 *
 * Owns: the form and the types of a mapping from an event to the input, and the five declarations, which are
 * JSON. Does not own: how a mapping is compiled (`scheduler/trigger.ts`); which bucket or bus a name stands
 * for, and all other refusals (the infrastructure).
 */

import { refuse } from '../../core/values/errors.ts';
import { JSON_LIMITS, jsonProblem, keptOf } from '../../core/values/json.ts';
import { type Keys, type KeysOf, optionProblem } from '../../core/values/options.ts';
import type { SignedBy } from '../../core/values/signed-by.ts';

/** A path into the event: `$.detail.object.key`, `$.items[0]`, `$['odd name']`; `$` is the whole event. */
export type EventPath = `$${string}`;

/** Joins texts and the values of paths into one text. */
export interface Concat {
  readonly $concat: readonly (string | number)[];
}

/** A value that is used as it is, even a text that looks like a path. */
export interface Literal<Value = unknown> {
  readonly $literal: Value;
}

/**
 * A mapping from the event to a `Value`, a part of the workflow's input: a path, a constant, or a structure
 * of both.
 */
export type InputMapping<Value = unknown> =
  | EventPath
  | Concat
  | Literal<Value>
  | (Value extends object ? { readonly [Key in keyof Value]: InputMapping<Value[Key]> } : Value);

/** The fields of a workflow that a trigger needs. */
export interface Startable<Input> {
  readonly name: string;
  readonly input: {
    readonly '~standard': { readonly types?: { readonly output: Input } | undefined };
  };
}

/** The options of every trigger that starts executions: its name, the input, which events are the same. */
export interface TriggerOptions<Input = unknown> {
  /**
   * The trigger's name. Executions that it starts have it as their tag `trigger`. If you change it, you get
   * another trigger with another queue (OPERATIONS.md: how to rename one).
   * @default - the workflow's name and the kind of the source
   */
  readonly name?: string;
  /** The parts of the event that become the input. If the event lacks a path, its field is left out. */
  readonly input: InputMapping<Input>;
  /**
   * Paths whose values distinguish one event from another.
   * @default - the values that the source repeats in each delivery of the same event
   */
  readonly idempotencyKey?: string | readonly string[];
  /**
   * How many batches of ten messages are processed at the same time, 2 to 1000.
   * @default - 10, or the deployment's `agentConcurrency` if that is less
   */
  readonly maxConcurrency?: number;
}

/** The options of a trigger that sends messages to executions instead of starting them. */
export interface SendingOptions extends Omit<TriggerOptions, 'input' | 'name'> {
  /**
   * The trigger's name. If you change it, you get another trigger with another queue (OPERATIONS.md: how to
   * rename one).
   * @default - the workflow's name and that of the message
   */
  readonly name?: string;
  /** The name of the message, as in the workflow's `receive`. */
  readonly send: string;
  /** Identifies the execution: paths whose values are the `idempotencyKey` of its start. */
  readonly key: EventPath | Concat | readonly (EventPath | Concat)[];
  /**
   * The trigger that starts the executions; its `idempotencyKey` must have the same values.
   * @default - calls start them, with this key
   */
  readonly startedBy?: string;
  /**
   * The parts of the event that become the input of a new execution, if none has the key; it starts with the
   * message.
   * @default - none is started: the event is delivered again until there is an execution
   */
  readonly startWith?: InputMapping;
  /**
   * The parts of the event that become the body of the message.
   * @default - the event's `$.detail`, or the `$.body` of a message or a request
   */
  readonly message?: InputMapping;
}

/** Selects objects of a bucket by their keys. */
export interface KeyFilter {
  /**
   * The beginning of their keys: 'orders/'.
   * @default - all objects
   */
  readonly prefix?: string;
  /**
   * The end of their keys: '.csv'.
   * @default - all objects
   */
  readonly suffix?: string;
}

/** The bucket of `onObjectCreated`. */
export interface ObjectSource {
  /** A name for the bucket, which the stack resolves: `new Steadfast(…, { buckets: { uploads } })`. */
  readonly bucket: string;
}

/** The events of `onEvent`: a pattern, and the bus. */
export interface EventSource {
  /**
   * The pattern of the events, in JSON with EventBridge's filters: `{ detail: { total: [{ numeric: ['>', 100]
   * }] } }`.
   */
  readonly pattern: {
    readonly source?: readonly string[];
    readonly detailType?: readonly string[];
    readonly detail?: Readonly<Record<string, unknown>>;
    readonly resources?: readonly string[];
    readonly account?: readonly string[];
    readonly region?: readonly string[];
  };
  /**
   * A name for the bus, which the stack resolves: `new Steadfast(…, { eventBuses: { shop } })`.
   * @default - the account's default bus
   */
  readonly bus?: string;
}

/** The times of `onSchedule`: a rate or a cron expression of EventBridge, and its time zone. */
export interface ScheduleSource {
  /** `rate(1 hour)`, or `cron(0 2 * * ? *)` with AWS's six fields. */
  readonly schedule: string;
  /**
   * A name from the IANA database: 'Europe/Berlin'.
   * @default 'Etc/UTC'
   */
  readonly timeZone?: string;
}

/** How a webhook checks and reads requests. */
export interface WebhookSource {
  /** How the sender signs: `hmacSha256({ … })`. Any other request is refused. */
  readonly verify: SignedBy;
  /**
   * The form of a body: JSON, or a form, whose fields are texts (a list if a field occurs several times).
   * @default 'json'
   */
  readonly body?: 'json' | 'form';
}

/** Names the callback that a webhook answers, and the answer. */
export interface AnswerOptions {
  /** The callback step of this workflow. */
  readonly answers: string;
  /** The parts of the request that become the step's output. */
  readonly output: InputMapping;
  /**
   * The place of the callback's token.
   * @default '$.token', the last part of the URL
   */
  readonly token?: EventPath;
}

/** The options of a webhook: an input to start with, a message to send, or the callback that it answers. */
export type WebhookOptions<Input = unknown> = WebhookSource &
  (
    | TriggerOptions<Input>
    | SendingOptions
    | (Pick<TriggerOptions, 'name' | 'maxConcurrency'> & AnswerOptions)
  );

interface Declared<On extends string, Source> {
  readonly kind: 'steadfast:trigger';
  readonly workflow: string;
  readonly on: On;
  readonly options: Source;
}
/** The result of `onObjectCreated`. */
export type ObjectTrigger = Declared<'object', ObjectSource & KeyFilter & (TriggerOptions | SendingOptions)>;
/** The result of `onEvent`. */
export type EventTrigger = Declared<'event', EventSource & (TriggerOptions | SendingOptions)>;
/** The result of `onSchedule`. */
export type ScheduleTrigger = Declared<'schedule', ScheduleSource & TriggerOptions>;
/** The result of `onMessage`. */
export type MessageTrigger = Declared<'message', Partial<TriggerOptions> | SendingOptions>;

/** The result of `onWebhook`. */
export type WebhookTrigger = Declared<
  'webhook',
  WebhookSource & Partial<AnswerOptions> & (Partial<TriggerOptions> | SendingOptions)
>;

/**
 * What `triggers.ts` exports: the result of `onObjectCreated`, `onEvent`, `onSchedule`, `onMessage` or
 * `onWebhook`.
 */
export type DeclaredTrigger =
  | ObjectTrigger
  | EventTrigger
  | ScheduleTrigger
  | MessageTrigger
  | WebhookTrigger;

const ANY = {
  name: true,
  input: true,
  idempotencyKey: true,
  maxConcurrency: true,
} as const satisfies KeysOf<TriggerOptions>;
const { input: _, ...BOTH } = ANY;
const SENDING = {
  ...BOTH,
  send: true,
  key: true,
  startedBy: true,
  startWith: true,
  message: true,
} as const satisfies KeysOf<SendingOptions>;
/** Options of the source only, by kind of trigger. */
const SOURCE_OPTIONS = {
  object: { bucket: true, prefix: true, suffix: true } as const satisfies KeysOf<ObjectSource & KeyFilter>,
  event: { pattern: true, bus: true } as const satisfies KeysOf<EventSource>,
  schedule: { schedule: true, timeZone: true } as const satisfies KeysOf<ScheduleSource>,
  message: {},
  webhook: { verify: true, body: true, answers: true, output: true, token: true } as const satisfies KeysOf<
    WebhookSource & AnswerOptions
  >,
};

/**
 * The options that a trigger may have. A schedule cannot send messages, because its events belong to no
 * execution.
 */
const optionsOf = (on: DeclaredTrigger['on'], options: unknown): Keys => ({
  ...SOURCE_OPTIONS[on],
  ...(on !== 'schedule' && isSending(options) ? SENDING : ANY),
});

/** True if a trigger with these options sends messages. */
export const isSending = (options: unknown): options is SendingOptions => 'send' in Object(options);

/** @throws SteadfastError `bad-trigger` */
function declared<On extends DeclaredTrigger['on'], Options>(
  on: On,
  workflow: Startable<never>,
  options: Options,
): Declared<On, Options> {
  const stranger = optionProblem(options, optionsOf(on, options));
  if (stranger !== undefined) throw refuse('bad-trigger', `a trigger of '${workflow.name}': ${stranger}`);
  const kept = keptOf(options, JSON_LIMITS, (item) => item === undefined) as Options;
  const problem = jsonProblem(kept, { ...JSON_LIMITS, anyText: true });
  if (problem !== undefined) throw refuse('bad-trigger', `a trigger of '${workflow.name}': ${problem}`);
  return { kind: 'steadfast:trigger', workflow: workflow.name, on, options: kept };
}

/**
 * Starts an execution for each object that is written to a bucket. Each time an object is written again,
 * another execution starts.
 * @example
 * export const uploads = onObjectCreated(order, {
 *   bucket: 'uploads',
 *   prefix: 'orders/',
 *   input: { orderId: '$.detail.object.key' },
 * });
 * @throws SteadfastError `bad-trigger`
 */
export const onObjectCreated = <Input>(
  workflow: Startable<Input>,
  options: ObjectSource & KeyFilter & (TriggerOptions<NoInfer<Input>> | SendingOptions),
): ObjectTrigger => declared('object', workflow as Startable<never>, options as ObjectTrigger['options']);

/**
 * Starts an execution for each event of a bus that fits a pattern, or sends the event to an execution
 * (`send`).
 * @example
 * export const placed = onEvent(order, {
 *   pattern: { source: ['shop'], detailType: ['order-placed'] },
 *   input: { orderId: '$.detail.orderId' },
 *   idempotencyKey: '$.detail.orderId',
 * });
 * export const paid = onEvent(order, {
 *   pattern: { source: ['bank'], detailType: ['paid'] },
 *   send: 'paid',
 *   key: '$.detail.orderId',
 *   startedBy: 'order-event',
 * });
 * @throws SteadfastError `bad-trigger`
 */
export const onEvent = <Input>(
  workflow: Startable<Input>,
  options: EventSource & (TriggerOptions<NoInfer<Input>> | SendingOptions),
): EventTrigger => declared('event', workflow as Startable<never>, options as EventTrigger['options']);

/**
 * Starts an execution at each time of a schedule. The event has `$.time`, the planned time.
 * @example
 * export const nightly = onSchedule(report, {
 *   schedule: 'cron(0 2 * * ? *)',
 *   timeZone: 'Europe/Berlin',
 *   input: { day: '$.time' },
 * });
 * @throws SteadfastError `bad-trigger`
 */
export const onSchedule = <Input>(
  workflow: Startable<Input>,
  options: ScheduleSource & TriggerOptions<NoInfer<Input>>,
): ScheduleTrigger =>
  declared('schedule', workflow as Startable<never>, options as ScheduleTrigger['options']);

/**
 * Starts an execution for each message of the trigger's own queue; the stack lets others send to it:
 * `steadfast.trigger(name).grantSend(shop)`. Without `input`, the input is the message's text, parsed as
 * JSON.
 * @example export const orders = onMessage(order, { input: { orderId: '$.orderId' } });
 * @throws SteadfastError `bad-trigger`
 */
export const onMessage = <Input>(
  workflow: Startable<Input>,
  options: Partial<TriggerOptions<NoInfer<Input>>> | SendingOptions = {},
): MessageTrigger => declared('message', workflow as Startable<never>, options as MessageTrigger['options']);

/**
 * Starts an execution for each signed request of a third party to `POST /webhooks/<name>`, in the sender's
 * own form. With `send` it sends a message to an execution, with `answers` it answers a callback. The event
 * has `$.body`, `$.hash` (of the body) and `$.token` (the part of the URL after the name).
 * @example
 * export const paid = onWebhook(order, {
 *   name: 'payments',
 *   verify: hmacSha256({ header: 'shop-signature', secret: secret('SHOP_WEBHOOKS') }),
 *   input: { orderId: '$.body.data.order' },
 *   idempotencyKey: '$.body.id',
 * });
 * @throws SteadfastError `bad-trigger`
 */
export function onWebhook<Input>(
  workflow: Startable<Input>,
  options: WebhookOptions<NoInfer<Input>>,
): WebhookTrigger {
  const made = declared('webhook', workflow as Startable<never>, options as WebhookTrigger['options']);
  const problem = webhookProblem(made.options, (workflow as { callbacks?: object }).callbacks);
  if (problem === undefined) return made;
  throw refuse('bad-trigger', `a trigger of '${workflow.name}': ${problem}`);
}

function webhookProblem(options: WebhookTrigger['options'], callbacks: object = {}): string | undefined {
  const { verify, body, answers, output, token, idempotencyKey } = options;
  const input = isSending(options) ? undefined : options.input;
  if (verify?.signed === undefined) return 'verify must say how the sender signs: hmacSha256({ … })';
  if (body !== undefined && !['json', 'form'].includes(body))
    return `body is '${String(body)}'; allowed: 'json', 'form'`;
  if (isSending(options))
    return [answers, output, token].some((one) => one !== undefined)
      ? 'it has send to send a message, or answers, output and token to answer a callback'
      : undefined;
  const other = answers === undefined ? [output, token] : [input, idempotencyKey];
  if (other.some((one) => one !== undefined))
    return 'it has input and idempotencyKey to start an execution, or answers, output and token to answer a callback';
  if (answers === undefined) return input === undefined ? 'input is missing' : undefined;
  if (output === undefined) return 'output is missing: what the callback is answered with';
  if (Object.hasOwn(callbacks, answers)) return undefined;
  const there = Object.keys(callbacks).join(', ') || 'none';
  return `it answers '${answers}', and the workflow has no such callback; there are ${there}`;
}
