/**
 * Keeps the page up to date by reading the API, first after 3 s, then less often while nothing changes, and
 * not while the page is hidden. While a dialog is open, the data under it stays unchanged. Answers that
 * differ only in the order of fields or in the answer's time count as equal.
 *
 * Owns: when to read, and discarding answers that arrive after newer ones. Does not own: the calls, whether
 * an error is an answer (`api.ts`).
 */

import { type Signal, signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { isAnswer } from './api.ts';
import { now, serverTime } from './clock.ts';

const FIRST_MS = 3_000;
const LAST_MS = 30_000;
const SLOWER = 1.5;
/** How long a request may be unanswered before another one is sent. */
const PATIENCE_MS = 10_000;

export interface Live<T> {
  /** The latest answer; it is kept while newer reads fail. */
  readonly data: T | undefined;
  readonly error: unknown;
  /** Reads at once, and resets the intervals. */
  readonly again: () => void;
}

interface Answer {
  readonly data: unknown;
  readonly error: unknown;
}

/** The last data of each view, to be shown at once when the view is opened again. */
const kept = new Map<string, unknown>();
const MOST_KEPT = 100;

function keep(key: string, data: unknown): void {
  kept.delete(key);
  kept.set(key, data);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
}

export const keptOf = (key: string): unknown => kept.get(key);

/** The number of readings on screen whose last request had no answer; if not 0, the shell shows a warning. */
export const failing: Signal<number> = signal(0);
export const readAt: Signal<number> = signal(serverTime.now());

/** Since when reads of the current view have had no answer; undefined while each is answered or refused. */
export const unansweredSince: Signal<number | undefined> = signal(undefined);
const asked = new Map<Reading, number>();

function setAsked(reading: Reading, at: number | undefined): void {
  if (at === undefined) asked.delete(reading);
  else if (!asked.has(reading)) asked.set(reading, at);
  unansweredSince.value = asked.size === 0 ? undefined : Math.min(...asked.values());
}

/** The readings of the current view. */
const shown = new Set<Reading>();

/** Whether a dialog is open: updating the data could close it and discard typed text. */
const isAsking = (): boolean => document.querySelector('dialog[open]') !== null;

/** Reads all data on screen again, after a write or when a dialog closes. */
export function readAgain(): void {
  if (!document.hidden) for (const reading of shown) if (!reading.isOverNow) reading.again();
}

/** A text that does not depend on the order of fields. */
export const saysOf = (data: unknown): string =>
  JSON.stringify(data, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  ) ?? '';

class Reading {
  readonly answer: Signal<Answer>;
  private waitMs = FIRST_MS;
  /** The number of reads begun, and the number of the latest one that was answered or given up. */
  private round = 0;
  private answered = 0;
  private beganAt: number | undefined;
  /** Whether there was a write after the current read began, so that another read is needed. */
  private isWanted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private said: string | undefined;
  private failed = false;
  isOverNow = false;
  private readonly key: string;
  private readonly load: () => Promise<unknown>;
  private readonly isOver: (data: unknown) => boolean;
  private readonly lastMs: number;
  private readonly meant: (data: unknown) => unknown;

  constructor(
    key: string,
    load: () => Promise<unknown>,
    { isOver, lastMs, meant }: Required<LiveOptions<unknown>>,
  ) {
    this.key = key;
    this.load = load;
    this.isOver = isOver;
    this.lastMs = lastMs;
    this.meant = meant;
    this.answer = signal<Answer>({ data: kept.get(key), error: undefined });
  }

  start(): void {
    shown.add(this);
    document.addEventListener('visibilitychange', this.looked);
    this.again();
  }

  stop(): void {
    shown.delete(this);
    document.removeEventListener('visibilitychange', this.looked);
    this.answered = this.round + 1;
    this.round += 1;
    this.beganAt = undefined;
    clearTimeout(this.timer);
    this.setFailed(false);
    setAsked(this, undefined);
  }

  readonly again = (): void => {
    this.waitMs = FIRST_MS;
    // Lets the current read finish: if each write restarted it, a slow read would never end.
    this.isWanted = this.beganAt !== undefined && serverTime.now() - this.beganAt < PATIENCE_MS;
    if (!this.isWanted) void this.read();
  };

  private readonly looked = (): void => {
    if (document.hidden) clearTimeout(this.timer);
    else this.again();
  };

  private async read(): Promise<void> {
    this.round += 1;
    const { round } = this;
    this.isWanted = false;
    this.beganAt = serverTime.now();
    clearTimeout(this.timer);
    setAsked(this, this.beganAt);
    const answer = await this.load().then(
      (data): Answer => ({ data, error: undefined }),
      (error: unknown): Answer => ({ data: this.answer.peek().data, error }),
    );
    if (round <= this.answered) return;
    this.answered = round;
    setAsked(this, undefined);
    const waits = isAsking() && this.answer.peek().data !== undefined;
    if (!waits) this.take(answer);
    if (round !== this.round) return;
    this.beganAt = undefined;
    this.isOverNow = !waits && answer.error === undefined && this.isOver(answer.data);
    if (this.isOverNow) return;
    if (this.isWanted && !document.hidden) return void this.read();
    if (!document.hidden) this.timer = setTimeout(() => void this.read(), this.waitMs);
    this.waitMs = Math.min(this.lastMs, this.waitMs * SLOWER);
  }

  private take(answer: Answer): void {
    this.setFailed(answer.error !== undefined && !isAnswer(answer.error));
    const says = answer.error === undefined ? saysOf(this.meant(answer.data)) : String(answer.error);
    if (answer.error === undefined) {
      // Updates the time, because the answer may have shown that the clocks differ.
      now.value = serverTime.now();
      readAt.value = now.peek();
      keep(this.key, answer.data);
    }
    if (says === this.said) return;
    this.said = says;
    this.waitMs = FIRST_MS;
    this.answer.value = answer;
  }

  private setFailed(failed: boolean): void {
    if (failed === this.failed) return;
    this.failed = failed;
    failing.value += failed ? 1 : -1;
  }
}

export interface LiveOptions<T> {
  /** Whether the answer is final. @default never */
  readonly isOver?: (data: T) => boolean;
  /** The longest interval, reached while nothing changes. @default LAST_MS */
  readonly lastMs?: number;
  /** The part of an answer that is compared to detect changes. @default all of it */
  readonly meant?: (data: T) => unknown;
}

/** @param key identifies the data; a different key is a different reading */
export function useLive<T>(key: string, load: () => Promise<T>, options: LiveOptions<T> = {}): Live<T> {
  const { isOver = () => false, lastMs = LAST_MS, meant = (data) => data } = options as LiveOptions<unknown>;
  // The key identifies all inputs of the call.
  const reading = useMemo(() => new Reading(key, load, { isOver, lastMs, meant }), [key]);
  // Reads before the first paint; `useEffect` would wait for it.
  useLayoutEffect(() => {
    reading.start();
    return () => reading.stop();
  }, [reading]);
  const { data, error } = reading.answer.value;
  return { data: data as T | undefined, error, again: reading.again };
}
