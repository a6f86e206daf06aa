/**
 * Sets a message aside at once; otherwise its queue would retry it for an hour first.
 *
 * Owns: keeping the message as it arrived and adding the reason. Does not own: which message is set aside.
 *
 * The text and the attributes stay unchanged, so that the message can be moved back to its queue.
 */

import { type MessageAttributeValue, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** SQS's limit for the attributes of a message; the reason takes two. */
const MOST_ATTRIBUTES = 10;
const LONGEST_REASON = 500;
export const REASON = { code: 'steadfast.refused', message: 'steadfast.reason' } as const;

/** An attribute as a record of Lambda's SQS event has it. */
export interface ReceivedAttribute {
  readonly stringValue?: string | undefined;
  readonly binaryValue?: string | undefined;
  readonly dataType: string;
}

export interface Refused {
  readonly body: string;
  readonly attributes: Readonly<Record<string, ReceivedAttribute>>;
  readonly code: string;
  readonly message: string;
}

export type DeadLetters = (refused: Refused) => Promise<void>;

export const deadLetters =
  (client: SQSClient, queueUrl: string): DeadLetters =>
  async ({ body, attributes, code, message }) => {
    const reasons: readonly string[] = Object.values(REASON);
    const own = Object.entries(attributes).filter(([name]) => !reasons.includes(name));
    const texts: [string, MessageAttributeValue][] = [
      [REASON.code, { DataType: 'String', StringValue: code }],
      [REASON.message, { DataType: 'String', StringValue: printable(message) }],
    ];
    const all = [...own.map(([name, value]) => [name, sent(value)] as const), ...texts];
    const MessageAttributes = Object.fromEntries(all.slice(0, MOST_ATTRIBUTES));
    await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body, MessageAttributes }));
  };

function sent({ dataType, stringValue, binaryValue }: ReceivedAttribute): MessageAttributeValue {
  if (binaryValue === undefined) return { DataType: dataType, StringValue: stringValue };
  return { DataType: dataType, BinaryValue: Buffer.from(binaryValue, 'base64') };
}

/** SQS takes neither control characters nor an empty value. */
const printable = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '?').slice(0, LONGEST_REASON) || 'no reason';
