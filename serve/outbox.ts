/**
 * Sends events to their receivers: all of them to the URL of the server's options, and those of an execution
 * to the `callbackUrl` of its start. An event is stored in the file first and sent by a separate loop, so
 * that an execution can end without waiting for a receiver.
 *
 * Owns: the order in which events are sent, when each is tried again and when it is given up. Does not own:
 * one request (`lib/notifications/post.ts`), which events there are (`lib/core/decisions/news.ts`), their
 * records (`outbox-file.ts`). At least once: a process that dies between an answer and the removal sends the
 * event again, under the same id. An unresponsive receiver delays only its own events.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Telemetry } from '../lib/aws/ports.ts';
import { post, type Posted, type PostResult } from '../lib/notifications/post.ts';
import { gapMs, GIVEN_UP_AFTER_MS } from '../lib/notifications/tries.ts';
import type { Clock } from '../lib/core/ports.ts';
import type { Execution } from '../lib/core/records/state.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { Listener } from './announcer.ts';
import { type About, idIn, OutboxFile } from './outbox-file.ts';
import type { ServerOptions } from './server-options.ts';

/** The receiver of all events; the others are named by their origins. */
const OF_ALL = '';
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
/** How many events of a receiver are in memory; the file has the others. */
const MOST_KNOWN = 10_000;
/** Sorts after each key: no event has come since a read of the file began. */
const NONE_YET = '\u{10FFFF}';

type Receivers = Pick<ServerOptions, 'eventsTo' | 'notificationSecret' | 'allowsPrivateNotifications'>;

export interface OutboxParts extends Receivers {
  readonly client: DynamoDBClient;
  readonly clock: Clock;
  readonly logger: Pick<Telemetry['logger'], 'warn' | 'error'>;
  readonly execution: (id: string) => Promise<Execution | undefined>;
  /** The machine's time in epoch ms. Receivers check the age of a signature against it. */
  readonly wall: () => number;
  /** @default 10,000 events of each receiver in memory */
  readonly mostKnown?: number;
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
  /** The first key of those that only the file has. */
  unreadFrom: string | undefined;
  /** The number of requests in a row without an answer; each is followed by a pause. */
  silent: number;
  restsUntil: number;
  /** When it first failed to accept an event, if it has accepted none since. */
  failingSince: number | undefined;
}

/** @returns undefined if the server's options name no receiver, and let no start name one */
export function outboxOf(options: Receivers, parts: Omit<OutboxParts, keyof Receivers>): Outbox | undefined {
  const { eventsTo, notificationSecret } = options;
  const isNeeded = eventsTo !== undefined || notificationSecret !== undefined;
  return isNeeded ? new Outbox({ ...options, ...parts }) : undefined;
}

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #file: OutboxFile;
  readonly #mostKnown: number;
  /** Receivers by origin: path and query are left out, because they may be secret. */
  readonly #receivers = new Map<string, Receiver>();
  /** Receivers with a request in progress. */
  readonly #busy = new Set<string>();
  #news = new AbortController();

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#file = new OutboxFile(parts.client);
    this.#mostKnown = parts.mostKnown ?? MOST_KNOWN;
  }

  /** Rejects if the file cannot store the event, so that it is announced again. */
  readonly listener: Listener = async (event) => {
    const { clock, eventsTo } = this.#parts;
    const { executionId, notify } = event.detail;
    const about = { of: String(executionId), life: String(notify) };
    const url = notify === undefined ? undefined : await this.#callbackUrl(about);
    const at = clock.now();
    if (eventsTo !== undefined) this.#waits(OF_ALL, await this.#file.put(OF_ALL, event, at), at);
    if (url === undefined) return;
    const to = new URL(url).origin;
    this.#waits(to, await this.#file.put(to, event, at, about), at);
  };

  async run(stopping: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const under = new Set<Promise<void>>();
    let isRead = false;
    while (!stopping.aborted) {
      this.#news = new AbortController();
      const again = AbortSignal.any([stopping, this.#news.signal]);
      if (!isRead) isRead = await this.#findReceivers();
      let nextAt = clock.now() + (isRead ? LONGEST_SLEEP_MS : FIRST_GAP_MS);
      for (const [to, receiver] of this.#receivers) {
        if (this.#busy.has(to)) continue;
        const at = this.#isShort(receiver) ? receiver.restsUntil : nextOf(receiver, clock.now()).at;
        if (at > clock.now()) nextAt = Math.min(nextAt, at);
        // The end of a request wakes the loop, so only a receiver with a free place sets the loop's wake
        // time.
        else if (this.#hasPlace(receiver)) {
          const one = this.#inTurn(to, receiver, stopping).finally(() => under.delete(one));
          under.add(one);
        }
      }
      await clock.sleep(Math.max(0, nextAt - clock.now()), again);
    }
    await Promise.all(under);
  }

  /** Finds the receivers of events that an earlier process left. @returns false if the file cannot be read */
  async #findReceivers(): Promise<boolean> {
    const { eventsTo, notificationSecret, logger } = this.#parts;
    try {
      // Without its option, the events of a receiver stay in the file.
      for (const to of await this.#file.receivers())
        if ((to === OF_ALL ? eventsTo : notificationSecret) !== undefined) this.#receiver(to).unreadFrom = '';
      return true;
    } catch (error) {
      logger.warn('notifications-not-read', { detail: sayable(error) });
      return false;
    }
  }

  #receiver(to: string): Receiver {
    const receiver = this.#receivers.get(to) ?? {
      events: new Map<string, Waiting>(),
      unreadFrom: undefined,
      silent: 0,
      restsUntil: 0,
      failingSince: undefined,
    };
    this.#receivers.set(to, receiver);
    return receiver;
  }

  #waits(to: string, key: string, at: number): void {
    const receiver = this.#receiver(to);
    const { events, unreadFrom } = receiver;
    if (unreadFrom === undefined && events.size < this.#mostKnown) addTo(events, key, at);
    else receiver.unreadFrom = firstOf(unreadFrom, key);
    this.#news.abort();
  }

  /** Whether it is time to read more of its events from the file. */
  #isShort({ events, unreadFrom }: Receiver): boolean {
    return unreadFrom !== undefined && events.size <= this.#mostKnown / 2;
  }

  async #readMore(to: string, receiver: Receiver): Promise<void> {
    const { unreadFrom: from, events } = receiver;
    receiver.unreadFrom = NONE_YET;
    try {
      const page = await this.#file.page(to, this.#mostKnown - events.size, from || undefined);
      for (const { key, at } of page.events) addTo(events, key, at);
      const next = firstOf(page.next, receiver.unreadFrom);
      receiver.unreadFrom = next === NONE_YET ? undefined : next;
    } catch (error) {
      this.#parts.logger.warn('notifications-not-read', { detail: sayable(error) });
      receiver.unreadFrom = from;
      receiver.restsUntil = this.#parts.clock.now() + FIRST_GAP_MS;
    }
  }

  #hasPlace({ silent }: Receiver): boolean {
    const ofSilent = [...this.#busy].filter((to) => (this.#receivers.get(to)?.silent ?? 0) > 0).length;
    return this.#busy.size < AT_ONCE && (silent === 0 || ofSilent < SILENT_AT_ONCE);
  }

  /** Makes one request, and moves the receiver behind the others. */
  async #inTurn(to: string, receiver: Receiver, stopping: AbortSignal): Promise<void> {
    this.#busy.add(to);
    this.#receivers.delete(to);
    this.#receivers.set(to, receiver);
    if (this.#isShort(receiver)) await this.#readMore(to, receiver);
    const now = this.#parts.clock.now();
    const { key, at } = nextOf(receiver, now);
    if (at <= now) await this.#try({ to, key, receiver }, stopping);
    this.#busy.delete(to);
    if (receiver.events.size === 0 && receiver.unreadFrom === undefined) this.#receivers.delete(to);
    this.#news.abort();
  }

  /** Never rejects. */
  async #try(one: One, stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts;
    const { receiver } = one;
    try {
      const result = await this.#sent(one, stopping);
      if (result === undefined) return await this.#remove(one);
      const { outcome, detail, wishMs } = result;
      if (outcome === 'refused') return await this.#giveUp(one, detail);
      if (outcome !== 'taken' && stopping.aborted) return;
      receiver.silent = outcome === 'unanswered' ? receiver.silent + 1 : 0;
      if (outcome === 'unanswered') receiver.restsUntil = clock.now() + gapMs(receiver.silent);
      receiver.failingSince = outcome === 'taken' ? undefined : (receiver.failingSince ?? clock.now());
      if (outcome === 'taken') return await this.#remove(one);
      if (this.#again(one, wishMs) === 1)
        logger.warn('notification-not-taken', { id: idIn(one.key), to: this.#originOf(one), detail });
      // Gives up all old events of an unresponsive receiver together, without a request for each.
      for (const key of outcome === 'unanswered' ? [...receiver.events.keys()] : [one.key])
        if (this.#isOver(receiver, key)) await this.#giveUp({ ...one, key }, detail);
    } catch (error) {
      logger.warn('notification-failed', { to: this.#originOf(one), detail: sayable(error) });
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
  async #sent({ to, key }: One, stopping: AbortSignal): Promise<PostResult | undefined> {
    const stored = await this.#file.read(key);
    const target = stored && (await this.#targetOf(to, stored.about));
    if (target === undefined) return undefined;
    return post({ ...target, id: idIn(key), text: stored?.text ?? '', now: this.#parts.wall() }, stopping);
  }

  async #targetOf(to: string, about?: About): Promise<Pick<Posted, 'url' | 'key' | 'reach'> | undefined> {
    const { eventsTo: all, notificationSecret: key, allowsPrivateNotifications: isOpen } = this.#parts;
    if (to === OF_ALL) return all && { url: all.url, key: all.secret, reach: 'here' };
    const url = about && (await this.#callbackUrl(about));
    if (url === undefined || key === undefined) return undefined;
    return { url, key, reach: isOpen === true ? 'here' : 'public' };
  }

  async #callbackUrl({ of, life }: About): Promise<string | undefined> {
    const execution = this.#parts.notificationSecret && (await this.#parts.execution(of));
    return execution?.life === life ? execution?.callbackUrl : undefined;
  }

  async #giveUp(one: One, detail: string): Promise<void> {
    const about = { id: idIn(one.key), to: this.#originOf(one), detail };
    this.#parts.logger.error('notification-given-up', about);
    await this.#remove(one);
  }

  /** If the file cannot remove the event, it is sent again later. */
  async #remove({ receiver, key }: One): Promise<void> {
    await this.#file.remove(key);
    receiver.events.delete(key);
  }

  #originOf({ to }: One): string {
    const { eventsTo } = this.#parts;
    return to === OF_ALL && eventsTo !== undefined ? new URL(eventsTo.url).origin : to;
  }
}

/** An event of a receiver. */
interface One {
  readonly to: string;
  readonly key: string;
  readonly receiver: Receiver;
}

function addTo(events: Receiver['events'], key: string, at: number): void {
  if (!events.has(key)) events.set(key, { at, tries: 0, nextAt: 0 });
}

const firstOf = (one: string | undefined, other: string): string =>
  one === undefined || other < one ? other : one;

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
