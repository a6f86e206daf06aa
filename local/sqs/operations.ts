/**
 * Implements the SQS JSON protocol: one function per operation, with AWS's error codes for bad requests. Does
 * not own: HTTP (the gateway), queue behaviour (queue.ts).
 *
 * Invariants
 * - I1 a bad entry fails alone; a whole batch fails only for AWS's reasons (empty, too many, ids, size).
 */
import { isRecord, type Json } from '../template/json.ts';
import { type AttributeValue, md5OfAttributes, type ReceivedMessage } from './message.ts';
import type { HandleResult, Queue } from './queue.ts';
import type { QueueDirectory } from './queue-directory.ts';
import { queueAttributes } from './queue-attributes.ts';
import {
  distinctEntries,
  type Fields,
  optionalSeconds,
  requiredText,
  SqsError,
  wholeNumber,
} from './request-checks.ts';

/** The parts that an operation uses. */
export interface SqsContext {
  readonly queues: QueueDirectory;
  /** Address of the gateway, for queue URLs. */
  readonly gatewayUrl: string;
  readonly accountId: string;
  /** The caller: the SenderId of sent messages. */
  readonly senderId: string;
  /** `X-Amzn-Trace-Id` of the request. */
  readonly traceHeader: string | undefined;
  /** Ends a long poll when its caller disconnects. */
  readonly signal: AbortSignal | undefined;
}

type Operation = (fields: Fields, context: SqsContext) => Json | Promise<Json>;

const MAX_DELAY_S = 900;
const MAX_VISIBILITY_S = 43_200;
const MAX_WAIT_S = 20;
const MAX_BATCH = 10;
/** XML 1.0 characters, as SQS demands; control characters and lone surrogates are refused. */
// oxlint-disable-next-line no-control-regex -- the control characters are what it looks for
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/;

/** Runs one operation. @throws SqsError with AWS's code and status */
export async function runSqsOperation(name: string, body: unknown, context: SqsContext): Promise<Json> {
  const operation = OPERATIONS[name];
  if (operation === undefined) {
    const supported = Object.keys(OPERATIONS).join(', ');
    throw new SqsError(
      'UnsupportedOperation',
      `${name} is not emulated by the local cloud; supported: ${supported}`,
    );
  }
  if (!isRecord(body)) throw new SqsError('InvalidParameterValue', 'The request body must be a JSON object.');
  return await operation(body, context);
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  SendMessage: (fields, context) => send(queueOf(fields, context), fields, context),
  SendMessageBatch: (fields, context) => {
    const queue = queueOf(fields, context);
    const entries = distinctEntries(fields, MAX_BATCH);
    const totalBytes = entries.reduce((sum, entry) => sum + sizeOf(entry.fields), 0);
    if (totalBytes > queue.settings.maxMessageBytes) {
      const limit = queue.settings.maxMessageBytes;
      throw new SqsError(
        'BatchRequestTooLong',
        `Batch requests cannot be longer than ${limit} bytes. You have sent ${totalBytes} bytes.`,
        'AWS.SimpleQueueService.BatchRequestTooLong',
      );
    }
    return eachEntry(entries, (entry) => send(queue, entry, context));
  },
  ReceiveMessage: async (fields, context) => {
    const queue = queueOf(fields, context);
    const max = wholeNumber(fields, 'MaxNumberOfMessages', 1, MAX_BATCH) ?? 1;
    const received = await queue.receive({
      max,
      visibilityTimeoutMs: optionalSeconds(fields, 'VisibilityTimeout', MAX_VISIBILITY_S),
      waitMs: optionalSeconds(fields, 'WaitTimeSeconds', MAX_WAIT_S),
      ...(context.signal === undefined ? {} : { signal: context.signal }),
    });
    if (received.length === 0) return {};
    return { Messages: received.map((each) => describe(each, fields)) };
  },
  DeleteMessage: (fields, context) => {
    settle(queueOf(fields, context).delete(requiredText(fields, 'ReceiptHandle')));
    return {};
  },
  DeleteMessageBatch: (fields, context) => {
    const queue = queueOf(fields, context);
    return eachEntry(distinctEntries(fields, MAX_BATCH), (entry) => {
      settle(queue.delete(requiredText(entry, 'ReceiptHandle')));
      return {};
    });
  },
  ChangeMessageVisibility: (fields, context) => changeVisibility(queueOf(fields, context), fields),
  ChangeMessageVisibilityBatch: (fields, context) => {
    const queue = queueOf(fields, context);
    return eachEntry(distinctEntries(fields, MAX_BATCH), (entry) => changeVisibility(queue, entry));
  },
  GetQueueUrl: (fields, context) => {
    const name = requiredText(fields, 'QueueName');
    if (context.queues.byName(name) === undefined) throw noSuchQueue();
    return { QueueUrl: urlOf(name, context) };
  },
  GetQueueAttributes: (fields, context) => ({
    Attributes: queueAttributes(queueOf(fields, context), fields),
  }),
  ListQueues: (fields, context) => {
    const prefix = typeof fields['QueueNamePrefix'] === 'string' ? fields['QueueNamePrefix'] : '';
    const names = context.queues.all().map((queue) => queue.settings.queueName);
    return { QueueUrls: names.filter((name) => name.startsWith(prefix)).map((name) => urlOf(name, context)) };
  },
  PurgeQueue: (fields, context) => {
    queueOf(fields, context).purge();
    return {};
  },
};

function send(queue: Queue, fields: Fields, context: SqsContext): Record<string, Json> {
  const body = requiredText(fields, 'MessageBody');
  const limit = queue.settings.maxMessageBytes;
  if (body === '')
    throw new SqsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  if (FORBIDDEN.test(body)) {
    throw new SqsError(
      'InvalidMessageContents',
      'Invalid characters found. Valid unicode characters are those of XML.',
    );
  }
  if (sizeOf(fields) > limit) {
    const message = `One or more parameters are invalid. Reason: Message must be shorter than ${limit} bytes.`;
    throw new SqsError('InvalidParameterValue', message);
  }
  const attributes = attributesOf(fields);
  const system = isRecord(fields['MessageSystemAttributes']) ? fields['MessageSystemAttributes'] : {};
  const trace = isRecord(system['AWSTraceHeader'])
    ? system['AWSTraceHeader']['StringValue']
    : context.traceHeader;
  const message = queue.send({
    body,
    attributes,
    group: groupOf(fields),
    delayMs: optionalSeconds(fields, 'DelaySeconds', MAX_DELAY_S),
    senderId: context.senderId,
    traceHeader: typeof trace === 'string' ? trace : undefined,
  });
  const attributesMd5 = md5OfAttributes(attributes);
  return {
    MessageId: message.messageId,
    MD5OfMessageBody: message.md5OfBody,
    ...(attributesMd5 === undefined ? {} : { MD5OfMessageAttributes: attributesMd5 }),
  };
}

/**
 * A valid group: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
const GROUP = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

function groupOf({ MessageGroupId: group }: Fields): string | undefined {
  if (group === undefined) return undefined;
  if (typeof group === 'string' && GROUP.test(group)) return group;
  throw new SqsError(
    'InvalidParameterValue',
    'MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.',
  );
}

function describe({ message, receiptHandle, receiveCount }: ReceivedMessage, fields: Fields): Json {
  const wanted = [fields['MessageSystemAttributeNames'], fields['AttributeNames']].flat();
  const wantedNames = [fields['MessageAttributeNames']].flat().filter((name) => typeof name === 'string');
  const system: Record<string, string> = {
    SenderId: message.senderId,
    SentTimestamp: String(message.sentAt),
    ...(message.group === undefined ? {} : { MessageGroupId: message.group }),
    ApproximateReceiveCount: String(receiveCount),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
    ...(message.traceHeader === undefined ? {} : { AWSTraceHeader: message.traceHeader }),
    ...(message.sourceArn === undefined ? {} : { DeadLetterQueueSourceArn: message.sourceArn }),
  };
  const systemEntries = Object.entries(system).filter(
    ([name]) => wanted.includes('All') || wanted.includes(name),
  );
  const attributes = Object.fromEntries(
    Object.entries(message.attributes).filter(([name]) =>
      wantedNames.some((pattern) => isWanted(name, pattern)),
    ),
  );
  const attributesMd5 = md5OfAttributes(attributes);
  return {
    MessageId: message.messageId,
    ReceiptHandle: receiptHandle,
    Body: message.body,
    MD5OfBody: message.md5OfBody,
    ...(systemEntries.length === 0 ? {} : { Attributes: Object.fromEntries(systemEntries) }),
    ...(attributesMd5 === undefined
      ? {}
      : { MessageAttributes: attributes as unknown as Json, MD5OfMessageAttributes: attributesMd5 }),
  };
}

function isWanted(name: string, pattern: string): boolean {
  if (pattern === 'All' || pattern === '.*') return true;
  return pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -2)) : name === pattern;
}

function changeVisibility(queue: Queue, fields: Fields): Json {
  const visibilityTimeoutMs = optionalSeconds(fields, 'VisibilityTimeout', MAX_VISIBILITY_S);
  if (visibilityTimeoutMs === undefined) {
    throw new SqsError('MissingParameter', 'The request must contain the parameter VisibilityTimeout.');
  }
  settle(queue.changeVisibility(requiredText(fields, 'ReceiptHandle'), visibilityTimeoutMs));
  return {};
}

function settle(result: HandleResult): void {
  if (result === 'invalid')
    throw new SqsError('ReceiptHandleIsInvalid', 'The input receipt handle is invalid.');
  if (result === 'notInFlight') {
    const message =
      'Value for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not in flight.';
    throw new SqsError('MessageNotInflight', message, 'AWS.SimpleQueueService.MessageNotInflight');
  }
}

function eachEntry(
  entries: readonly { readonly id: string; readonly fields: Fields }[],
  run: (fields: Fields) => Json,
): Json {
  const successful: Json[] = [];
  const failed: Json[] = [];
  for (const { id, fields } of entries) {
    try {
      const result = run(fields);
      successful.push({ Id: id, ...(isRecord(result) ? result : {}) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      failed.push({ Id: id, SenderFault: true, Code: error.code, Message: error.message });
    }
  }
  return { Successful: successful, ...(failed.length === 0 ? {} : { Failed: failed }) };
}

function attributesOf(fields: Fields): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  const given = isRecord(fields['MessageAttributes']) ? fields['MessageAttributes'] : {};
  for (const [name, value] of Object.entries(given)) {
    const type = isRecord(value) ? value['DataType'] : undefined;
    if (!isRecord(value) || typeof type !== 'string' || !/^(String|Number|Binary)(\.|$)/.test(type)) {
      const message = `The message attribute '${name}' has an invalid message attribute type.`;
      throw new SqsError('InvalidParameterValue', message);
    }
    attributes[name] = {
      DataType: type,
      ...(typeof value['StringValue'] === 'string' ? { StringValue: value['StringValue'] } : {}),
      ...(typeof value['BinaryValue'] === 'string' ? { BinaryValue: value['BinaryValue'] } : {}),
    };
  }
  return attributes;
}

function sizeOf(fields: Fields): number {
  const body = typeof fields['MessageBody'] === 'string' ? Buffer.byteLength(fields['MessageBody']) : 0;
  const given = isRecord(fields['MessageAttributes']) ? fields['MessageAttributes'] : {};
  let bytes = body;
  for (const [name, value] of Object.entries(given)) {
    bytes += Buffer.byteLength(name);
    if (!isRecord(value)) continue;
    for (const part of Object.values(value)) bytes += typeof part === 'string' ? Buffer.byteLength(part) : 0;
  }
  return bytes;
}

function queueOf(fields: Fields, context: SqsContext): Queue {
  const queue = context.queues.byUrl(requiredText(fields, 'QueueUrl'));
  if (queue === undefined) throw noSuchQueue();
  return queue;
}

function urlOf(queueName: string, context: SqsContext): string {
  return `${context.gatewayUrl}/${context.accountId}/${queueName}`;
}

function noSuchQueue(): SqsError {
  const message = 'The specified queue does not exist.';
  return new SqsError('QueueDoesNotExist', message, 'AWS.SimpleQueueService.NonExistentQueue');
}
