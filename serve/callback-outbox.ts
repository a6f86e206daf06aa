/**
 * Sends the news of an execution to the address that its start gave. An event is stored in the file first and
 * sent by a loop of its own, so that no end waits for a receiver.
 *
 * Owns: which events wait, and when each is tried. Does not own: one try (`lib/callbacks/post.ts`), which
 * events there are (`lib/core/decisions/news.ts`). At least once, as `event-outbox.ts`; here each receiver is
 * one of many: one that is away delays its own events alone.
 */

import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import { gapMs, GIVEN_UP_AFTER_MS, post, type PostResult } from '../lib/callbacks/post.ts';
import { eventText, idOf } from '../lib/callbacks/signed-event.ts';
import type { Clock } from '../lib/core/ports.ts';
import type { Execution } from '../lib/core/records/state.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { Listener } from './announcer.ts';
import { TABLE_NAME } from './sqlite/client.ts';

const PARTITION = 'serve#callbacks';
/** Requests at the same time, one to each receiver. */
const AT_ONCE = 16;
const FIRST_GAP_MS = 1_000;

export interface CallbackParts {
  readonly client: DynamoDBClient;
  readonly clock: Clock;
  readonly logger: Pick<Telemetry['logger'], 'warn' | 'error'>;
  readonly execution: (id: string) => Promise<Execution | undefined>;
  readonly key: Buffer;
  readonly allowsPrivate: boolean;
  /** The machine's time in epoch ms, by which a receiver judges the age of a signature. */
  readonly wall: () => number;
}

interface Waiting {
  /** The receiver, without path and query, which may be secret. */
  readonly to: string;
  readonly tries: number;
  readonly nextAt: number;
}

export class CallbackOutbox {
  readonly #parts: CallbackParts;
  readonly #waiting = new Map<string, Waiting>();
  /** Receivers to which a request is under way. */
  readonly #busy = new Set<string>();
  #news = new AbortController();

  constructor(parts: CallbackParts) {
    this.#parts = parts;
  }

  /** Rejects if the file does not store the event: then it is announced again. */
  readonly listener: Listener = async (event) => {
    const { executionId, callback } = event.detail;
    const url = await this.#urlOf(String(executionId), callback);
    if (callback === undefined || url === undefined) return;
    // An event that is announced again has the same key.
    const key = `${String(event.at).padStart(15, '0')}#${idOf(event)}`;
    const to = new URL(url).origin;
    const texts = { text: eventText(event), of: String(executionId), life: String(callback), to };
    const Item = Object.fromEntries(Object.entries(texts).map(([name, S]) => [name, { S }]));
    const at = { N: String(this.#parts.clock.now()) };
    await this.#parts.client.send(
      new PutItemCommand({ TableName: TABLE_NAME, Item: { ...keyOf(key), ...Item, at } }),
    );
    this.#waiting.set(key, { to, tries: 0, nextAt: 0 });
    this.#news.abort();
  };

  async run(stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts;
    const under = new Set<Promise<void>>();
    let isRead = false;
    while (!stopping.aborted) {
      this.#news = new AbortController();
      const again = AbortSignal.any([stopping, this.#news.signal]);
      if (!isRead)
        isRead = await this.#readAll().then(
          () => true,
          (error: unknown) => {
            logger.warn('callbacks-not-read', { detail: sayable(error) });
            return false;
          },
        );
      for (const [key, { to, nextAt }] of this.#waiting) {
        if (nextAt > clock.now() || this.#busy.has(to) || this.#busy.size >= AT_ONCE) continue;
        this.#busy.add(to);
        const one = this.#try(key, to, stopping).finally(() => {
          this.#busy.delete(to);
          under.delete(one);
          this.#news.abort();
        });
        under.add(one);
      }
      const free = [...this.#waiting.values()].filter(({ to }) => !this.#busy.has(to));
      const next = Math.min(...free.map(({ nextAt }) => nextAt), clock.now() + gapMs(20));
      await clock.sleep(isRead ? Math.max(0, next - clock.now()) : FIRST_GAP_MS, again);
    }
    await Promise.all(under);
  }

  async #urlOf(id: string, life: unknown): Promise<string | undefined> {
    const execution = life === undefined ? undefined : await this.#parts.execution(id);
    return execution?.life === life ? execution?.callbackUrl : undefined;
  }

  async #readAll(): Promise<void> {
    let from: QueryCommandOutput['LastEvaluatedKey'];
    do {
      const answer: QueryCommandOutput = await this.#parts.client.send(
        new QueryCommand({
          TableName: TABLE_NAME,
          KeyConditionExpression: `${TABLE.pk} = :pk`,
          ExpressionAttributeValues: { ':pk': { S: PARTITION } },
          ConsistentRead: true,
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
      );
      for (const item of answer.Items ?? []) {
        const key = item[TABLE.sk]?.S ?? '';
        if (!this.#waiting.has(key)) this.#waiting.set(key, { to: item['to']?.S ?? '', tries: 0, nextAt: 0 });
      }
      from = answer.LastEvaluatedKey;
    } while (from !== undefined);
  }

  /** Never rejects. */
  async #try(key: string, to: string, stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts;
    try {
      const result = await this.#sent(key, stopping);
      if (stopping.aborted && result?.outcome === 'later') return;
      if (result === undefined || result.outcome === 'taken') return await this.#remove(key);
      const id = key.split('#')[1] ?? '';
      if (result.outcome === 'refused' || result.isOld) {
        logger.error('callback-given-up', { id, to, detail: result.detail });
        return await this.#remove(key);
      }
      const tries = (this.#waiting.get(key)?.tries ?? 0) + 1;
      if (tries === 1) logger.warn('callback-not-taken', { id, to, detail: result.detail });
      this.#waiting.set(key, { to, tries, nextAt: clock.now() + gapMs(tries) });
    } catch (error) {
      logger.warn('callback-failed', { to, detail: sayable(error) });
      this.#waiting.set(key, { to, tries: 1, nextAt: clock.now() + FIRST_GAP_MS });
    }
  }

  /** @returns nothing if nobody wants the event any more */
  async #sent(key: string, stopping: AbortSignal): Promise<(PostResult & { isOld: boolean }) | undefined> {
    const { client, clock, key: secret, allowsPrivate, wall } = this.#parts;
    const get = { TableName: TABLE_NAME, Key: keyOf(key), ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(get));
    const url = await this.#urlOf(Item?.['of']?.S ?? '', Item?.['life']?.S);
    if (Item === undefined || url === undefined) return undefined;
    const [text, id] = [Item['text']?.S ?? '', key.split('#')[1] ?? ''];
    const result = await post({ url, id, text, key: secret, now: wall(), allowsPrivate }, stopping);
    return { ...result, isOld: clock.now() - Number(Item['at']?.N) > GIVEN_UP_AFTER_MS };
  }

  /** An event that the file does not remove is sent again later. */
  async #remove(key: string): Promise<void> {
    await this.#parts.client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: keyOf(key) }));
    this.#waiting.delete(key);
  }
}

const keyOf = (key: string) => ({ [TABLE.pk]: { S: PARTITION }, [TABLE.sk]: { S: key } });
