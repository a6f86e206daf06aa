/** The types of messages, their receipt handles, and the MD5s that the SDK checks. Pure. */
import { createHash } from 'node:crypto';

/** A message attribute in the JSON protocol (binary values in base64). */
export interface AttributeValue {
  readonly DataType: string;
  readonly StringValue?: string;
  readonly BinaryValue?: string;
}

/** A message in a queue. Only Queue changes the mutable fields. */
export interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly md5OfBody: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** The group for fair turns (fair-line.ts). */
  readonly group?: string;
  readonly senderId: string;
  readonly traceHeader: string | undefined;
  readonly sentAt: number;
  /** Set when the message was moved here by a redrive. */
  readonly sourceArn: string | undefined;
  state: 'visible' | 'delayed' | 'inFlight';
  /** When it becomes visible, or became visible. */
  visibleAt: number;
  receiveCount: number;
  firstReceivedAt: number | undefined;
}

/** A message as a receiver gets it. */
export interface ReceivedMessage {
  readonly message: StoredMessage;
  readonly receiptHandle: string;
  readonly receiveCount: number;
}

/** A sender's request. */
export interface SendRequest {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  readonly group?: string | undefined;
  readonly delayMs?: number | undefined;
  readonly senderId?: string;
  readonly traceHeader?: string | undefined;
}

/** A receiver's request. */
export interface ReceiveRequest {
  readonly max: number;
  readonly visibilityTimeoutMs?: number | undefined;
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/** Makes the handle of one receive of a message. The handle of an older receive no longer deletes. */
export function receiptHandleOf(messageId: string, receiveCount: number): string {
  return Buffer.from(`${messageId}#${receiveCount}`).toString('base64url');
}

/** Reads a receipt handle; undefined if it is not one of ours. */
export function readReceiptHandle(handle: string): { messageId: string; receiveCount: number } | undefined {
  const match = /^([0-9a-f-]{36})#(\d+)$/.exec(Buffer.from(handle, 'base64url').toString());
  return match === null ? undefined : { messageId: match[1] ?? '', receiveCount: Number(match[2]) };
}

export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** SQS's digest of message attributes: names sorted, every part preceded by its length. */
export function md5OfAttributes(attributes: Readonly<Record<string, AttributeValue>>): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash('md5');
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const value = attributes[name];
    if (value === undefined) continue;
    part(Buffer.from(name));
    part(Buffer.from(value.DataType));
    const isBinary = value.BinaryValue !== undefined;
    hash.update(Buffer.from([isBinary ? 2 : 1]));
    part(isBinary ? Buffer.from(value.BinaryValue ?? '', 'base64') : Buffer.from(value.StringValue ?? ''));
  }
  return hash.digest('hex');
}
