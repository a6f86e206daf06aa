/**
 * The events that wait in the file until their receivers take them.
 *
 * Owns: their records, in the order of each receiver. Does not own: when one is sent, and to which URL
 * (`outbox.ts`).
 */

import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import { eventText, idOf, type SentEvent } from '../lib/notifications/signed-event.ts';
import { TABLE_NAME } from './sqlite/client.ts';

const PARTITION = 'serve#notifications';

export interface StoredEvent {
  readonly key: string;
  /** When the event was stored here, in epoch ms. */
  readonly at: number;
}

/** The execution that an event is about. After an erasure its id may have another life. */
export interface About {
  readonly of: string;
  readonly life: string;
}

/** A receiver's name contains no '#', which ends it in a key, and '$' is the character after it. */
const firstKeyOf = (to: string): string => `${to}#`;
const afterAllOf = (to: string): string => `${to}$`;
const receiverIn = (key: string): string => key.slice(0, key.indexOf('#'));
export const idIn = (key: string): string => key.slice(key.lastIndexOf('#') + 1);

const keyOf = (key: string) => ({ [TABLE.pk]: { S: PARTITION }, [TABLE.sk]: { S: key } });

export class OutboxFile {
  readonly #client: DynamoDBClient;

  constructor(client: DynamoDBClient) {
    this.#client = client;
  }

  /** Stores an event. One that is announced again has the same key. @returns the key */
  async put(to: string, event: SentEvent, storedAt: number, about?: About): Promise<string> {
    const key = `${firstKeyOf(to)}${String(event.at).padStart(15, '0')}#${idOf(event)}`;
    const texts = { text: eventText(event), ...about };
    const Item = Object.fromEntries(Object.entries(texts).map(([name, S]) => [name, { S }]));
    const stored = { ...keyOf(key), ...Item, at: { N: String(storedAt) } };
    await this.#client.send(new PutItemCommand({ TableName: TABLE_NAME, Item: stored }));
    return key;
  }

  /** Finds who has events here, with one read for each. */
  async receivers(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let from = '#'; ; ) {
      const [first] = (await this.#query(from, '\u{10FFFF}', 1)).Items ?? [];
      if (first === undefined) return found;
      const to = receiverIn(keyIn(first));
      found.push(to);
      from = afterAllOf(to);
    }
  }

  /**
   * Reads the events of a receiver, the first first.
   * @param from the first key that may be among them @default the receiver's first
   * @returns also where to read on, if there are more
   */
  async page(
    to: string,
    most: number,
    from = firstKeyOf(to),
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly next: string | undefined }> {
    const { Items = [] } = await this.#query(from, afterAllOf(to), most + 1);
    const events = Items.map((item): StoredEvent => ({ key: keyIn(item), at: Number(item['at']?.N) }));
    return { events: events.slice(0, most), next: events[most]?.key };
  }

  /** @returns undefined if the event was removed; `about` if the execution has the address */
  async read(key: string): Promise<{ readonly text: string; readonly about?: About } | undefined> {
    const get = { TableName: TABLE_NAME, Key: keyOf(key), ConsistentRead: true };
    const { Item } = await this.#client.send(new GetItemCommand(get));
    if (Item === undefined) return undefined;
    const { text, of, life } = Object.fromEntries(
      Object.entries(Item).map(([name, { S = '' }]) => [name, S]),
    );
    return { text: text ?? '', ...(of && life ? { about: { of, life } } : {}) };
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: keyOf(key) }));
  }

  #query(from: string, to: string, most: number) {
    return this.#client.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        KeyConditionExpression: `${TABLE.pk} = :pk AND ${TABLE.sk} BETWEEN :from AND :to`,
        ExpressionAttributeValues: { ':pk': { S: PARTITION }, ':from': { S: from }, ':to': { S: to } },
        ConsistentRead: true,
        Limit: most,
      }),
    );
  }
}

const keyIn = (item: Record<string, AttributeValue>): string => item[TABLE.sk]?.S ?? '';
