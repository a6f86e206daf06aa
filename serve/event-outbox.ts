/**
 * Sends each event to a receiver's URL, signed. The event is stored in the file first and sent by a separate
 * loop, so that an execution can end without waiting for a receiver.
 *
 * Owns: which events wait, the order in which they are sent, when to retry and when to stop. Does not own:
 * when an event occurs (`lib/engine/commit.ts`), its signature (`lib/notifications`). At least once: a
 * process that dies between an answer and the removal sends the event again, under the same id.
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
import { eventText, idOf, signedHeaders } from '../lib/notifications/signed-event.ts';
import type { Clock } from '../lib/core/ports.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { Listener } from './announcer.ts';
import type { EventTarget } from './signed-event.ts';
import { TABLE_NAME } from './sqlite/client.ts';

const PARTITION = 'serve#events';
/** How many events one read returns. */
const PAGE = 50;
/** The usual timeout of webhook senders. */
const ANSWER_WITHIN_MS = 15_000;
const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 5 * 60_000;
/** The longest gap between two requests to a receiver that does not answer. */
const LONGEST_SILENCE_MS = 60_000;
/** After this many unanswered events in a row, the receiver is away, and no single event is at fault. */
const MOST_SILENT = 3;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
/**
 * An event must be tried for at least this long before it is given up: time with the server off does not
 * count.
 */
const TRIED_FOR_MS = 3_600_000;

interface Parts {
  readonly client: DynamoDBClient;
  readonly clock: Clock;
  readonly logger: Pick<Telemetry['logger'], 'warn' | 'info' | 'error'>;
  readonly to: EventTarget;
  /** The machine's time in epoch ms. Receivers check the age of a signature against it. */
  readonly wall: () => number;
}

interface Waiting {
  readonly key: string;
  readonly id: string;
  readonly text: string;
  /** When the event was stored here, in epoch ms. */
  readonly at: number;
}

/** The retries of an event that was not accepted. */
interface Again {
  readonly tries: number;
  readonly since: number;
  readonly at: number;
  readonly detail: string;
}

export class EventOutbox {
  readonly #parts: Parts;
  /** Events that were not accepted, with their next try. A new process tries all of them immediately. */
  readonly #again = new Map<string, Again>();
  /** The number of requests without an answer since the last answer. */
  #silent = 0;
  /** The number of pauses for an unresponsive receiver since the last answer. */
  #rests = 0;
  /** The result of the latest event that was not accepted. */
  #latest = '';
  /** Since when no event has been accepted. */
  #failingSince: number | undefined;
  #news = new AbortController();
  /** Whether the log has already reported that the receiver accepts nothing. */
  #isSaid = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects if the file cannot store the event, so that it is announced again. */
  readonly listener: Listener = async (event) => {
    const { client, clock } = this.#parts;
    // A repeated announcement has the same key, and replaces the earlier event.
    const key = `${String(event.at).padStart(15, '0')}#${idOf(event)}`;
    const Item = { ...keyOf(key), text: { S: eventText(event) }, at: { N: String(clock.now()) } };
    await client.send(new PutItemCommand({ TableName: TABLE_NAME, Item }));
    this.#news.abort();
  };

  async run(stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!stopping.aborted) {
      this.#news = new AbortController();
      const again = AbortSignal.any([stopping, this.#news.signal]);
      // A failed read of the file may succeed a second later.
      const nextAt = await this.#sendAll(stopping).catch((error: unknown) => {
        logger.warn('events-not-read', { detail: sayable(error) });
        return clock.now() + FIRST_GAP_MS;
      });
      // While the receiver is unresponsive, a new event does not shorten the pause.
      const until = this.#isAway ? stopping : again;
      await clock.sleep(Math.min(nextAt - clock.now(), LONGEST_GAP_MS), until);
    }
  }

  /** @returns the time of the next try */
  async #sendAll(stopping: AbortSignal): Promise<number> {
    const { clock } = this.#parts;
    let nextAt = Number.POSITIVE_INFINITY;
    let from: Record<string, AttributeValue> | undefined;
    // An unresponsive receiver is tried with one event.
    this.#silent = this.#isAway ? MOST_SILENT - 1 : 0;
    do {
      const page = await this.#read(from);
      for (const event of page.events) {
        if (stopping.aborted) return nextAt;
        const dueAt = this.#again.get(event.key)?.at ?? 0;
        if (this.#isOver(event)) await this.#giveUp(event);
        else if (!this.#isAway && dueAt <= clock.now()) await this.#send(event, stopping);
        nextAt = Math.min(nextAt, this.#again.get(event.key)?.at ?? nextAt);
        // All later events are newer, so none of them has expired.
        if (this.#isAway && clock.now() - event.at < GIVEN_UP_AFTER_MS) return this.#rest();
      }
      from = page.from;
    } while (from !== undefined);
    return this.#isAway ? this.#rest() : nextAt;
  }

  get #isAway(): boolean {
    return this.#silent >= MOST_SILENT;
  }

  #rest(): number {
    this.#rests += 1;
    return this.#parts.clock.now() + gapMs(this.#rests, LONGEST_SILENCE_MS);
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

  async #send(event: Waiting, stopping: AbortSignal): Promise<void> {
    const { to, wall } = this.#parts;
    const headers = signedHeaders(to.secret, event.id, event.text, wall());
    let isAnswered = false;
    let isTaken = false;
    let detail = '';
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
      const options = { method: 'POST', headers, body: event.text, redirect: 'manual', signal } as const;
      const answer = await fetch(to.url, options);
      isAnswered = true;
      isTaken = answer.ok;
      detail = `HTTP ${answer.status}`;
      await answer.body?.cancel();
    } catch (error) {
      if (!isAnswered) detail = sayable(error);
    }
    if (stopping.aborted && !isAnswered) return;
    this.#silent = isAnswered ? 0 : this.#silent + 1;
    if (isAnswered) this.#rests = 0;
    if (isTaken) await this.#taken(event);
    else this.#notTaken(event.key, detail);
  }

  async #taken({ key }: Waiting): Promise<void> {
    this.#failingSince = undefined;
    await this.#remove(key);
    if (!this.#isSaid || this.#again.size > 0) return;
    this.#isSaid = false;
    this.#parts.logger.info('events-taken-again', { to: this.#origin });
  }

  #notTaken(key: string, detail: string): void {
    const { clock, logger } = this.#parts;
    const now = clock.now();
    const { tries = 0, since = now } = this.#again.get(key) ?? {};
    this.#failingSince ??= now;
    this.#latest = detail;
    this.#again.set(key, { tries: tries + 1, since, at: now + gapMs(tries + 1, LONGEST_GAP_MS), detail });
    if (this.#isSaid) return;
    this.#isSaid = true;
    logger.warn('events-not-taken', { to: this.#origin, detail });
  }

  #isOver({ key, at }: Waiting): boolean {
    const now = this.#parts.clock.now();
    const since = this.#again.get(key)?.since ?? this.#failingSince ?? now;
    return now - at >= GIVEN_UP_AFTER_MS && now - since >= TRIED_FOR_MS;
  }

  async #giveUp({ key, id }: Waiting): Promise<void> {
    const { detail = this.#latest } = this.#again.get(key) ?? {};
    await this.#remove(key);
    this.#parts.logger.error('event-given-up', { id, to: this.#origin, detail });
  }

  /** If the file cannot remove the event, it is sent again later. */
  async #remove(key: string): Promise<void> {
    const { client, logger, clock } = this.#parts;
    try {
      await client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: keyOf(key) }));
      this.#again.delete(key);
    } catch (error) {
      const now = clock.now();
      const detail = sayable(error);
      this.#again.set(key, { tries: 1, since: now, at: now + LONGEST_SILENCE_MS, detail });
      logger.warn('event-not-removed', { detail });
    }
  }

  /** The URL without its path and query, which may be secret. */
  get #origin(): string {
    return new URL(this.#parts.to.url).origin;
  }
}

const keyOf = (key: string) => ({ [TABLE.pk]: { S: PARTITION }, [TABLE.sk]: { S: key } });

const gapMs = (tries: number, most: number): number => Math.min(FIRST_GAP_MS * 2 ** (tries - 1), most);
