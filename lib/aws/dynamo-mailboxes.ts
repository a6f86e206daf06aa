/**
 * Mailboxes on DynamoDB: the partition of an execution has a mailbox for each of its lives, and an item for
 * each message.
 *
 * Owns: the items, their keys, how long each is kept. Does not own: the condition of a write
 * (`dynamo-put.ts`), what is written together with a taken message (`dynamo-store.ts`).
 *
 * An entry is an array of five values, so that a thousand entries stay far below the largest item. A message
 * has the write id of its mailbox, so that a write whose answer was lost is recognised. A taken message
 * expires by itself; all else stays as long as its execution, until the audit or an erasure removes it.
 */

import { type DynamoDBClient, GetItemCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Mailboxes, WriteResult } from '../core/ports.ts';
import {
  type ExecutionMessage,
  KEPT_TAKEN_MS,
  type Mailbox,
  type MailboxEntry,
  type SentMessage,
  type TakenMessage,
} from '../core/records/mailbox.ts';
import type { FoundMail } from '../core/supervision/audit.ts';
import { refuse } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { isExecutionId } from '../core/values/names.ts';
import { shardOf, wakeShardKey } from './dynamo-indexes.ts';
import { FORM, type Item, jsonIn, number, refuseOtherForm, text } from './dynamo-items.ts';
import { conditional, type Put, putAll } from './dynamo-put.ts';
import { TABLE } from './names.ts';

/** The prefix of a partition of mailboxes. */
export const MAILBOX_PREFIX = 'mailbox#';
const BOX_PREFIX = 'box#';
const MESSAGE_PREFIX = 'message#';

export function mailboxPartition(executionId: string): string {
  if (!isExecutionId(executionId)) throw refuse('bad-key', 'that is not the id of an execution');
  return `${MAILBOX_PREFIX}${executionId}`;
}

const keyOf = (executionId: string, sk: string): Item => ({
  [TABLE.pk]: { S: mailboxPartition(executionId) },
  [TABLE.sk]: { S: sk },
});

export const mailboxKey = (executionId: string, life: string): Item =>
  keyOf(executionId, `${BOX_PREFIX}${life}`);

const messageKey = (executionId: string, life: string, id: string): Item =>
  keyOf(executionId, `${MESSAGE_PREFIX}${life}#${id}`);

/** True if the item, or its key in an index, is a mailbox or a message. */
export const isOfMailbox = (item: Item): boolean => text(item, TABLE.pk).startsWith(MAILBOX_PREFIX);

/** The execution of a mailbox or a message. */
export const executionOfMailbox = (item: Item): string => text(item, TABLE.pk).slice(MAILBOX_PREFIX.length);

/** The life that a mailbox or a message belongs to. */
export const lifeOfMailbox = (item: Item): string => text(item, TABLE.sk).split('#')[1] ?? '';

type Row = readonly [order: number, name: string, id: string, at: number, bytes: number];
const rowOf = ({ order, name, id, at, bytes }: MailboxEntry): Row => [order, name, id, at, bytes];
const entryOf = ([order, name, id, at, bytes]: Row): MailboxEntry => ({ order, name, id, at, bytes });

interface Kept {
  readonly accepted: number;
  readonly entries: readonly Row[];
}

function mailboxItem(mailbox: Mailbox, wakeShards: number): Item {
  const { executionId, life, version, writeId, accepted, entries, wakeAt } = mailbox;
  const kept: Kept = { accepted, entries: entries.map(rowOf) };
  return {
    ...mailboxKey(executionId, life),
    ...(wakeAt === undefined
      ? {}
      : {
          [TABLE.wakeIndex.pk]: { S: wakeShardKey(shardOf(executionId, wakeShards)) },
          [TABLE.wakeIndex.sk]: { N: String(wakeAt) },
        }),
    ...FORM,
    version: { N: String(version) },
    writeId: { S: writeId },
    json: { S: JSON.stringify(kept) },
  };
}

function mailboxOf(item: Item): Mailbox {
  const { accepted, entries } = jsonIn(item) as Kept;
  const wakeAt = item[TABLE.wakeIndex.sk] === undefined ? undefined : number(item, TABLE.wakeIndex.sk);
  return {
    executionId: executionOfMailbox(item),
    life: lifeOfMailbox(item),
    version: number(item, 'version'),
    writeId: text(item, 'writeId'),
    entries: entries.map(entryOf),
    accepted,
    ...defined({ wakeAt }),
  };
}

function messageItem(message: ExecutionMessage, { version, writeId }: Mailbox): Item {
  const { executionId, life, id, ...kept } = message;
  const { taken } = kept;
  return {
    ...messageKey(executionId, life, id),
    ...(taken === undefined
      ? {}
      : {
          takenAt: { N: String(taken.at) },
          [TABLE.ttl]: { N: String(Math.ceil((taken.at + KEPT_TAKEN_MS) / 1_000)) },
        }),
    ...FORM,
    version: { N: String(version) },
    writeId: { S: writeId },
    json: { S: JSON.stringify(kept) },
  };
}

const messageOf = (
  item: Item,
  key: Pick<ExecutionMessage, 'executionId' | 'life' | 'id'>,
): ExecutionMessage => ({
  ...key,
  ...(jsonIn(item) as Omit<ExecutionMessage, 'executionId' | 'life' | 'id'>),
});

/**
 * A mailbox or a message, as an audit or an erasure finds it, without a body.
 * @throws SteadfastError `table-form`
 */
export function mailIn(item: Item): FoundMail {
  refuseOtherForm(item);
  const [kind, life = '', ...id] = text(item, TABLE.sk).split('#');
  return {
    kind: 'mail',
    executionId: executionOfMailbox(item),
    life,
    ...(`${kind}#` === MESSAGE_PREFIX ? { message: id.join('#') } : {}),
    version: number(item, 'version'),
    writeId: text(item, 'writeId'),
  };
}

export const mailKey = ({ executionId, life, message }: FoundMail): Item =>
  message === undefined ? mailboxKey(executionId, life) : messageKey(executionId, life, message);

/** The put of a mailbox. Its key contains the life, so the condition is on the version alone. */
const mailboxPut = (table: string, mailbox: Mailbox, wakeShards: number): Put =>
  conditional(table, mailboxItem(mailbox, wakeShards), { version: mailbox.version });

/** Writes that accept a message. */
export const sentPuts = (table: string, { mailbox, message }: SentMessage, wakeShards: number): Put[] => [
  mailboxPut(table, mailbox, wakeShards),
  conditional(table, messageItem(message, mailbox), { version: 1 }),
];

/** Writes beside the step that takes a message: the mailbox without it, and the message as taken. */
export const takenPuts = (table: string, { mailbox, message }: TakenMessage, wakeShards: number): Put[] => [
  mailboxPut(table, mailbox, wakeShards),
  {
    TableName: table,
    Item: messageItem(message, mailbox),
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(takenAt)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  },
];

/** @param pause between tries of a transaction that conflicted with another */
export function dynamoMailboxes(
  client: DynamoDBClient,
  { table, wakeShards }: { readonly table: string; readonly wakeShards: number },
  pause: (ms: number) => Promise<void>,
): Mailboxes {
  const read = async (key: Item): Promise<Item | undefined> => {
    const { Item: item } = await client.send(
      new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }),
    );
    return item;
  };
  const write = async (puts: readonly Put[]): Promise<WriteResult> =>
    (await putAll(client, puts, pause)).kind;
  return {
    readMailbox: async (executionId, life) => {
      const item = await read(mailboxKey(executionId, life));
      return item && mailboxOf(item);
    },
    readMessage: async (executionId, life, id) => {
      const item = await read(messageKey(executionId, life, id));
      return item && messageOf(item, { executionId, life, id });
    },
    accept: async (mailbox, message) => {
      try {
        return await write(sentPuts(table, { mailbox, message }, wakeShards));
      } catch (error) {
        // Other processes are writing the mailbox now. The sender tries again, or reports the conflict.
        if (error instanceof TransactionCanceledException) return 'conflict';
        throw error;
      }
    },
    writeMailbox: (mailbox) => write([mailboxPut(table, mailbox, wakeShards)]),
  };
}
