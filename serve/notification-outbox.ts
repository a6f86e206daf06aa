/**
 * Sends the events of an execution to the `callbackUrl` of its start. An event is stored in the file first
 * and sent by a separate loop, so that an execution can end without waiting for a receiver.
 *
 * Owns: which events wait, and when each is tried. Does not own: one request (`lib/notifications/post.ts`),
 * which events there are (`lib/core/decisions/news.ts`). At least once, as `event-outbox.ts`. There are many
 * receivers: an unresponsive one delays only its own events.
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
import { post, type Posted, type PostResult } from '../lib/notifications/post.ts';
import { eventText, idOf } from '../lib/notifications/signed-event.ts';
import { gapMs, GIVEN_UP_AFTER_MS } from '../lib/notifications/tries.ts';
import type { Clock } from '../lib/core/ports.ts';
import type { Execution } from '../lib/core/records/state.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { Listener } from './announcer.ts';
import { TABLE_NAME } from './sqlite/client.ts';

const PARTITION = 'serve#notifications';
/** Requests at the same time, one to each receiver. */
const AT_ONCE = 16;
/** The most concurrent requests to receivers that did not answer their latest request. */
const SILENT_AT_ONCE = 8;
const FIRST_GAP_MS = 1_000;
const LONGEST_SLEEP_MS = 3_600_000;
/**
 * An event must be tried for at least this long before it is given up: time with the server off does not
 * count.
 */
const TRIED_FOR_MS = 3_600_000;

export interface NotificationParts {
  readonly client: DynamoDBClient;
  readonly clock: Clock;
  readonly logger: Pick<Telemetry['logger'], 'warn' | 'error'>;
  readonly execution: (id: string) => Promise<Execution | undefined>;
  readonly key: Buffer;
  readonly reach: Posted['reach'];
  /** The machine's time in epoch ms. Receivers check the age of a signature against it. */
  readonly wall: () => number;
}

interface Waiting {
  /** When the event was stored here, in epoch ms. */
  readonly at: number;
  readonly tries: number;
  readonly nextAt: number;
  /** When this process first sent it without success. */
  readonly since?: number;
}

interface Receiver {
  /** Its events by key, in the order of the next tries: an event that was not accepted goes to the end. */
  readonly events: Map<string, Waiting>;
  /** The number of requests in a row without an answer; each is followed by a pause. */
  silent: number;
  restsUntil: number;
  /** When it first failed to accept an event, if it has accepted none since. */
  failingSince: number | undefined;
}

export class NotificationOutbox {
  readonly #parts: NotificationParts;
  /** Receivers by origin: path and query are left out, because they may be secret. */
  readonly #receivers = new Map<string, Receiver>();
  /** Origins with a request in progress. */
  readonly #busy = new Set<string>();
  #news = new AbortController();

  constructor(parts: NotificationParts) {
    this.#parts = parts;
  }

  /** Rejects if the file cannot store the event, so that it is announced again. */
  readonly listener: Listener = async (event) => {
    const { executionId, notify } = event.detail;
    const url = await this.#urlOf(String(executionId), notify);
    if (notify === undefined || url === undefined) return;
    // An event that is announced again has the same key.
    const key = `${String(event.at).padStart(15, '0')}#${idOf(event)}`;
    const to = new URL(url).origin;
    const texts = { text: eventText(event), of: String(executionId), life: String(notify), to };
    const Item = Object.fromEntries(Object.entries(texts).map(([name, S]) => [name, { S }]));
    const at = this.#parts.clock.now();
    const stored = { ...keyOf(key), ...Item, at: { N: String(at) } };
    await this.#parts.client.send(new PutItemCommand({ TableName: TABLE_NAME, Item: stored }));
    this.#waits(to, key, at);
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
            logger.warn('notifications-not-read', { detail: sayable(error) });
            return false;
          },
        );
      let nextAt = clock.now() + (isRead ? LONGEST_SLEEP_MS : FIRST_GAP_MS);
      for (const [to, receiver] of this.#receivers) {
        if (this.#busy.has(to)) continue;
        const next = nextOf(receiver, clock.now());
        if (next.at > clock.now()) nextAt = Math.min(nextAt, next.at);
        // The end of a request wakes the loop, so only a receiver with a free place sets the loop's wake
        // time.
        else if (this.#hasPlace(receiver)) {
          const one = this.#inTurn(to, next.key, stopping).finally(() => under.delete(one));
          under.add(one);
        }
      }
      await clock.sleep(Math.max(0, nextAt - clock.now()), again);
    }
    await Promise.all(under);
  }

  #waits(to: string, key: string, at: number): void {
    const receiver = this.#receivers.get(to) ?? {
      events: new Map<string, Waiting>(),
      silent: 0,
      restsUntil: 0,
      failingSince: undefined,
    };
    this.#receivers.set(to, receiver);
    if (!receiver.events.has(key)) receiver.events.set(key, { at, tries: 0, nextAt: 0 });
  }

  #hasPlace({ silent }: Receiver): boolean {
    const ofSilent = [...this.#busy].filter((to) => (this.#receivers.get(to)?.silent ?? 0) > 0).length;
    return this.#busy.size < AT_ONCE && (silent === 0 || ofSilent < SILENT_AT_ONCE);
  }

  /** Makes one request, and moves the receiver behind the others. */
  async #inTurn(to: string, key: string, stopping: AbortSignal): Promise<void> {
    const receiver = this.#receivers.get(to);
    if (receiver === undefined) return;
    this.#busy.add(to);
    this.#receivers.delete(to);
    this.#receivers.set(to, receiver);
    await this.#try({ to, key, receiver }, stopping);
    this.#busy.delete(to);
    if (receiver.events.size === 0) this.#receivers.delete(to);
    this.#news.abort();
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
        this.#waits(item['to']?.S ?? '', key, Number(item['at']?.N));
      }
      from = answer.LastEvaluatedKey;
    } while (from !== undefined);
  }

  /** Never rejects. */
  async #try(one: One, stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts;
    const { to, receiver } = one;
    try {
      const result = await this.#sent(one.key, stopping);
      if (result === undefined) return await this.#remove(one);
      const { outcome, detail, wishMs } = result;
      if (outcome === 'refused') return await this.#giveUp(one, detail);
      if (outcome !== 'taken' && stopping.aborted) return;
      receiver.silent = outcome === 'unanswered' ? receiver.silent + 1 : 0;
      if (outcome === 'unanswered') receiver.restsUntil = clock.now() + gapMs(receiver.silent);
      receiver.failingSince = outcome === 'taken' ? undefined : (receiver.failingSince ?? clock.now());
      if (outcome === 'taken') return await this.#remove(one);
      if (this.#again(one, wishMs) === 1)
        logger.warn('notification-not-taken', { id: idIn(one.key), to, detail });
      // Gives up all old events of an unresponsive receiver together, without a request for each.
      for (const key of outcome === 'unanswered' ? [...receiver.events.keys()] : [one.key])
        if (this.#isOver(receiver, key)) await this.#giveUp({ ...one, key }, detail);
    } catch (error) {
      logger.warn('notification-failed', { to, detail: sayable(error) });
      this.#again(one);
    }
  }

  /** Puts the event behind the others, for a later try. @returns how often it was tried */
  #again({ receiver: { events }, key }: One, wishMs?: number): number {
    const now = this.#parts.clock.now();
    const { at = now, tries: before = 0, since = now } = events.get(key) ?? {};
    const tries = before + 1;
    events.delete(key);
    events.set(key, { at, tries, since, nextAt: now + gapMs(tries, wishMs) });
    return tries;
  }

  #isOver({ events, failingSince }: Receiver, key: string): boolean {
    const now = this.#parts.clock.now();
    const { at = now, since = failingSince ?? now } = events.get(key) ?? {};
    return now - at >= GIVEN_UP_AFTER_MS && now - since >= TRIED_FOR_MS;
  }

  /** @returns undefined if the event is already removed, or its execution no longer has an address */
  async #sent(key: string, stopping: AbortSignal): Promise<PostResult | undefined> {
    const { client, key: secret, reach, wall } = this.#parts;
    const get = { TableName: TABLE_NAME, Key: keyOf(key), ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(get));
    const url = await this.#urlOf(Item?.['of']?.S ?? '', Item?.['life']?.S);
    if (Item === undefined || url === undefined) return undefined;
    const text = Item['text']?.S ?? '';
    return post({ url, id: idIn(key), text, key: secret, now: wall(), reach }, stopping);
  }

  async #giveUp(one: One, detail: string): Promise<void> {
    this.#parts.logger.error('notification-given-up', { id: idIn(one.key), to: one.to, detail });
    await this.#remove(one);
  }

  /** If the file cannot remove the event, it is sent again later. */
  async #remove({ receiver, key }: One): Promise<void> {
    await this.#parts.client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: keyOf(key) }));
    receiver.events.delete(key);
  }
}

/** An event of a receiver. */
interface One {
  readonly to: string;
  readonly key: string;
  readonly receiver: Receiver;
}

/** Finds the next event to try, and the time for it. */
function nextOf(
  { events, restsUntil }: Receiver,
  now: number,
): { readonly key: string; readonly at: number } {
  let first = { key: '', at: Number.POSITIVE_INFINITY };
  for (const [key, { nextAt }] of events) {
    if (nextAt <= Math.max(now, restsUntil)) return { key, at: restsUntil };
    if (nextAt < first.at) first = { key, at: nextAt };
  }
  return first;
}

const idIn = (key: string): string => key.split('#')[1] ?? '';
const keyOf = (key: string) => ({ [TABLE.pk]: { S: PARTITION }, [TABLE.sk]: { S: key } });
