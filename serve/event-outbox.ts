/**
 * Sends each event to somebody else's URL, signed: it is put into the file first, and sent by a loop of its
 * own, so an end waits for no listener.
 *
 * Owns: which events wait, in which order they are sent, when again, when no more. Does not own: when there
 * is an event (`lib/engine/commit.ts`), its signature (`signed-event.ts`). At least once: a process that dies
 * between an answer and the removal sends the event again, under the same id.
 */

import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import type { Clock } from '../lib/core/ports.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { Listener } from './announcer.ts';
import { type EventTarget, eventText, idOf, signedHeaders } from './signed-event.ts';
import { TABLE_NAME } from './sqlite/client.ts';

const PARTITION = 'serve#events';
/** Events of one read. */
const PAGE = 50;
/** The time that senders of webhooks usually wait. */
const ANSWER_WITHIN_MS = 15_000;
const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 5 * 60_000;
/** A receiver that does not answer at all is asked so often at least: all events wait for it. */
const LONGEST_SILENCE_MS = 60_000;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

interface Parts {
  readonly client: DynamoDBClient;
  readonly clock: Clock;
  readonly logger: Pick<Telemetry['logger'], 'warn' | 'info' | 'error'>;
  readonly to: EventTarget;
}

interface Waiting {
  readonly key: string;
  readonly id: string;
  readonly text: string;
  /** Epoch ms: when it was put here. */
  readonly at: number;
}

/** The result of one request: 'silent' if nothing answered. */
type Sent = 'taken' | 'refused' | 'silent';

export class EventOutbox {
  readonly #parts: Parts;
  /** Events that were refused, and when they are sent again; a new process sends all at once. */
  readonly #again = new Map<string, { readonly tries: number; readonly at: number }>();
  #silences = 0;
  #news = new AbortController();
  /** The log has said that the receiver takes none. */
  #isSaid = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects where the file does not keep it: then it is announced again. */
  readonly listener: Listener = async (event) => {
    const { client, clock } = this.#parts;
    const text = eventText(event);
    // One that is announced again is the same, and takes the place of the one before it.
    const key = `${String(event.at).padStart(15, '0')}#${idOf(text)}`;
    const Item = { ...keyOf(key), text: { S: text }, at: { N: String(clock.now()) } };
    await client.send(new PutItemCommand({ TableName: TABLE_NAME, Item }));
    this.#news.abort();
  };

  async run(stopping: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!stopping.aborted) {
      this.#news = new AbortController();
      const again = AbortSignal.any([stopping, this.#news.signal]);
      // An error of the file may pass within a second.
      const nextAt = await this.#sendAll(stopping).catch(() => clock.now() + FIRST_GAP_MS);
      // One that answers nothing is left alone for its time, whatever comes meanwhile.
      const until = this.#silences > 0 ? stopping : again;
      await clock.sleep(Math.min(nextAt - clock.now(), LONGEST_GAP_MS), until);
    }
  }

  /** @returns when the next one is due */
  async #sendAll(stopping: AbortSignal): Promise<number> {
    const { clock } = this.#parts;
    let nextAt = Number.POSITIVE_INFINITY;
    let from: Record<string, AttributeValue> | undefined;
    do {
      const page = await this.#read(from);
      for (const event of page.events) {
        if (stopping.aborted) return nextAt;
        const dueAt = this.#again.get(event.key)?.at ?? 0;
        const sent = dueAt > clock.now() ? undefined : await this.#send(event, stopping);
        if (sent === 'silent' && !stopping.aborted) return this.#silent();
        nextAt = Math.min(nextAt, this.#again.get(event.key)?.at ?? nextAt);
      }
      from = page.from;
    } while (from !== undefined);
    return nextAt;
  }

  async #read(from: Record<string, AttributeValue> | undefined) {
    const answer = await this.#parts.client.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        KeyConditionExpression: `${TABLE.pk} = :pk`,
        ExpressionAttributeValues: { ':pk': { S: PARTITION } },
        ConsistentRead: true,
        Limit: PAGE,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    const events = (answer.Items ?? []).map((item): Waiting => {
      const key = item[TABLE.sk]?.S ?? '';
      return { key, id: key.split('#')[1] ?? '', text: item['text']?.S ?? '', at: Number(item['at']?.N) };
    });
    return { events, from: answer.LastEvaluatedKey };
  }

  async #send(event: Waiting, stopping: AbortSignal): Promise<Sent> {
    const { clock, to } = this.#parts;
    const headers = signedHeaders(to, event.id, event.text, clock.now());
    let sent: Sent = 'silent';
    let detail = '';
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
      const options = { method: 'POST', headers, body: event.text, redirect: 'manual', signal } as const;
      const answer = await fetch(to.url, options);
      await answer.body?.cancel();
      sent = answer.ok ? 'taken' : 'refused';
      detail = `HTTP ${answer.status}`;
    } catch (error) {
      detail = sayable(error);
    }
    if (stopping.aborted && sent === 'silent') return sent;
    if (sent === 'taken') await this.#taken(event);
    else await this.#notTaken(event, sent, detail);
    return sent;
  }

  async #taken({ key }: Waiting): Promise<void> {
    await this.#remove(key);
    this.#silences = 0;
    if (!this.#isSaid || this.#again.size > 0) return;
    this.#isSaid = false;
    this.#parts.logger.info('events-taken-again', { to: this.#origin });
  }

  async #notTaken({ key, id, at }: Waiting, sent: Sent, detail: string): Promise<void> {
    const { clock, logger } = this.#parts;
    const now = clock.now();
    if (now - at >= GIVEN_UP_AFTER_MS) {
      await this.#remove(key);
      logger.error('event-given-up', { id, to: this.#origin, detail });
      return;
    }
    if (sent === 'refused') {
      const tries = (this.#again.get(key)?.tries ?? 0) + 1;
      this.#again.set(key, { tries, at: now + gapMs(tries, LONGEST_GAP_MS) });
      this.#silences = 0;
    }
    if (this.#isSaid) return;
    this.#isSaid = true;
    logger.warn('events-not-taken', { to: this.#origin, detail });
  }

  #silent(): number {
    this.#silences += 1;
    return this.#parts.clock.now() + gapMs(this.#silences, LONGEST_SILENCE_MS);
  }

  async #remove(key: string): Promise<void> {
    const Key = keyOf(key);
    await this.#parts.client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key }));
    this.#again.delete(key);
  }

  /** Without its path and query, which may be secret. */
  get #origin(): string {
    return new URL(this.#parts.to.url).origin;
  }
}

const keyOf = (key: string) => ({ [TABLE.pk]: { S: PARTITION }, [TABLE.sk]: { S: key } });

const gapMs = (tries: number, most: number): number => Math.min(FIRST_GAP_MS * 2 ** (tries - 1), most);
