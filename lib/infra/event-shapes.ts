/**
 * The fields and keys of each source's events, and triggers compiled by them.
 *
 * Owns: the fields, from AWS's documentation; a trigger's name and its record. Does not own: how a mapping is
 * compiled (`event-mapping.ts`), how events reach their queue (`triggers.ts`).
 */

import {
  isSending,
  type SendingOptions,
  type TriggerOptions,
  type WebhookTrigger,
} from '../author/triggers/trigger-declaration.ts';
import type { FoundWorkflow } from './discovery.ts';
import { type Compiled, compileKey, compileMapping, type EventShape } from './event-mapping.ts';

export interface SourceKind {
  /**
   * 'event': the message's text is the event. 'message', 'webhook': the starter builds the event from the
   * message.
   */
  readonly from: 'event' | 'message' | 'webhook';
  /** The end of the trigger's default name. */
  readonly suffix: string;
  readonly shape: EventShape;
  /** The body of a message that a trigger sends, unless it has a mapping. */
  readonly message: string;
  /** Paths whose values are the same in each delivery of one event, and together differ between events. */
  readonly key: readonly string[];
}

/** The fields around every event of EventBridge. */
const envelope = (detail: EventShape): EventShape => ({
  version: {},
  id: {},
  'detail-type': {},
  source: {},
  account: {},
  time: {},
  region: {},
  resources: true,
  detail,
});

/**
 * S3 announces an object at least once, each time with another event id; the sequencer belongs to the write.
 *    https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
 */
export const OBJECT_CREATED: SourceKind = {
  from: 'event',
  suffix: 'object-created',
  message: '$.detail',
  shape: envelope({
    version: {},
    'event-version': {},
    bucket: { name: {} },
    object: { key: {}, size: {}, etag: {}, 'version-id': {}, sequencer: {} },
    'request-id': {},
    requester: {},
    'source-ip-address': {},
    reason: {},
  }),
  key: ['$.detail.bucket.name', '$.detail.object.key', '$.detail.object.sequencer'],
};

export const EVENT: SourceKind = {
  from: 'event',
  suffix: 'event',
  message: '$.detail',
  shape: envelope(true),
  key: ['$.id'],
};

/** The event that `onSchedule` makes a schedule send. */
export const SCHEDULE: SourceKind = {
  from: 'event',
  suffix: 'schedule',
  message: '$',
  shape: { time: {}, schedule: {} },
  key: ['$.time'],
};

/** The event that the starter builds from a message. */
export const MESSAGE: SourceKind = {
  from: 'message',
  suffix: 'queue',
  message: '$.body',
  shape: { messageId: {}, body: true, attributes: true },
  key: ['$.messageId'],
};

/** A signed request. Its key is a hash of the body, because a repeated request is signed with a new time. */
export const WEBHOOK: SourceKind = {
  from: 'webhook',
  suffix: 'webhook',
  message: '$.body',
  shape: { body: true, hash: {}, token: {} },
  key: ['$.hash'],
};

/** The trigger as the starter reads it; a `Trigger` of the core. */
export interface CompiledTrigger {
  readonly name: string;
  readonly workflow: string;
  readonly from: SourceKind['from'];
  readonly input: Compiled;
  readonly key: readonly Compiled[];
  readonly body?: 'form';
  readonly answers?: { readonly step: string; readonly token: Compiled };
  readonly send?: {
    readonly message: string;
    readonly key: readonly Compiled[];
    readonly startedBy?: string;
    readonly startWith?: Compiled;
  };
}

/** Options that only a webhook's trigger has. */
export type WebhookParts = Pick<WebhookTrigger['options'], 'body' | 'answers' | 'token'>;

/** The name of a webhook, the last part of its address. */
export const webhookName = ({ workflow, options }: WebhookTrigger): string =>
  nameOf(WEBHOOK, workflow, options);
const nameOf = (
  { suffix }: SourceKind,
  workflow: string,
  options: { readonly name?: string | undefined },
): string => options.name ?? `${workflow}-${isSending(options) ? options.send : suffix}`.slice(0, 48);

const NAME = /^[a-z][a-z0-9-]{0,47}$/;

/** @throws Error about the name, or an invalid part of a mapping */
export function compiledTrigger(
  kind: SourceKind,
  workflow: string,
  options: (Pick<TriggerOptions, 'name' | 'input' | 'idempotencyKey'> | SendingOptions) & WebhookParts,
): CompiledTrigger {
  const { idempotencyKey = kind.key, body, answers, token = '$.token' } = options;
  const name = nameOf(kind, workflow, options);
  if (!NAME.test(name)) {
    throw new Error(
      `a trigger is named '${name}'; allowed: a-z, 0-9 and dashes, beginning with a letter, up to 48`,
    );
  }
  const place = `trigger '${name}'`;
  return {
    name,
    workflow,
    from: kind.from,
    input: isSending(options)
      ? compileMapping(options.message ?? kind.message, kind.shape, `${place}: message`)
      : compileMapping(options.input, kind.shape, `${place}: input`),
    key: compileKey(idempotencyKey, kind.shape, `${place}: idempotencyKey`),
    ...(body === 'form' ? { body } : {}),
    ...(answers === undefined
      ? {}
      : { answers: { step: answers, token: compileMapping(token, kind.shape, `${place}: token`) } }),
    ...(isSending(options) ? { send: compiledSend(kind, options, place) } : {}),
  };
}

/** @throws Error if the key is the same for every event, or has parts that no call can give */
function compiledSend(
  kind: SourceKind,
  { send: message, key, startedBy, startWith }: SendingOptions,
  place: string,
): NonNullable<CompiledTrigger['send']> {
  const parts = [key].flat();
  if (parts.length > 1 && startedBy === undefined)
    throw new Error(
      `${place}: key has ${parts.length} parts, as only the key of a trigger has: name it (startedBy), or join them ({ $concat: […] })`,
    );
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.length > 0 || parts.length === 0) compileKey(texts, kind.shape, `${place}: key`);
  return {
    message,
    key: parts.map((part) => compileMapping(part, kind.shape, `${place}: key`)),
    ...(startedBy === undefined ? {} : { startedBy }),
    ...(startWith === undefined
      ? {}
      : { startWith: compileMapping(startWith, kind.shape, `${place}: startWith`) }),
  };
}

/** Problems with the message of a trigger that sends to this workflow. */
export const unknownMessage = (
  { send }: SendingOptions,
  { name, messages = [] }: Pick<FoundWorkflow, 'name' | 'messages'>,
): readonly string[] =>
  messages.includes(send)
    ? []
    : [
        `it sends '${send}', and workflow '${name}' takes no such message; ${messages.length === 0 ? 'it takes no message' : `there are: ${messages.join(', ')}`}`,
      ];
