/**
 * Reads an execution's log lines, and follows them until it has ended, as `steadfast logs --follow` does.
 *
 * Owns: when it reads (not while the page is hidden), and the lines. Does not own: their layout (`logs.tsx`),
 * their source (`cli/console/logs.ts`).
 */

import { type Signal, signal } from '@preact/signals';
import { type LogLine, type LogLines, logLines, settings } from '../api.ts';

/**
 * The time between two reads. On AWS each is a CloudWatch query, and a line appears there after some seconds.
 */
const EVERY_MS = settings.local ? 1_000 : 5_000;
/** How long after the end it reads once more, for the last lines. */
const SETTLE_MS = settings.local ? 500 : 15_000;
/**
 * The most lines on the page. While the reader has scrolled up, the limit is higher, so that the lines being
 * read are not removed.
 */
const MOST = 1_000;
const MOST_ABOVE = 5_000;

/** A line with a number that identifies it on the page. */
export interface Numbered extends LogLine {
  readonly number: number;
}

export type Follows = 'not' | 'following' | 'paused' | 'over';

export class LogReading {
  readonly lines: Signal<readonly Numbered[] | undefined> = signal(undefined);
  readonly follows: Signal<Follows> = signal('not');
  readonly isBusy: Signal<boolean> = signal(false);
  readonly error: Signal<unknown> = signal(undefined);
  readonly isCut: Signal<boolean> = signal(false);
  readonly scannedBytes: Signal<number | undefined> = signal(undefined);
  /** Whether the page is scrolled to the end. */
  isAtEnd = true;
  private readonly id: string;
  private key = '';
  private asked: readonly [level: string, children: boolean] = ['trace', false];
  private count = 0;
  private round = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOver = false;

  constructor(id: string) {
    this.id = id;
  }

  start(): () => void {
    document.addEventListener('visibilitychange', this.looked);
    return () => {
      document.removeEventListener('visibilitychange', this.looked);
      this.rest();
    };
  }

  /**
   * Reads from the beginning. On AWS, where a query costs money, it follows only if the reader asked for it.
   */
  async begin(level: string, children: boolean): Promise<void> {
    this.rest();
    this.key = crypto.randomUUID();
    this.asked = [level, children];
    this.isAtEnd = !this.isOver;
    const isFollowed = settings.local || this.follows.peek() === 'following';
    this.follows.value = this.isOver ? 'over' : isFollowed ? 'following' : 'paused';
    await this.read();
  }

  pause(): void {
    this.rest();
    this.follows.value = 'paused';
  }

  go(): void {
    this.follows.value = this.isOver ? 'over' : 'following';
    void this.read();
  }

  /** Repeats the whole reading after an error. */
  again(): void {
    void this.begin(...this.asked);
  }

  /** Reads the last lines once more after the end. If the execution was retried, following can be resumed. */
  setOver(isOver: boolean): void {
    if (isOver === this.isOver) return;
    this.isOver = isOver;
    if (isOver && this.follows.peek() === 'following') this.later(SETTLE_MS);
    if (!isOver && this.follows.peek() === 'over') this.follows.value = 'paused';
  }

  private readonly looked = (): void => {
    if (this.follows.peek() !== 'following') return;
    clearTimeout(this.timer);
    if (!document.hidden) void this.read();
  };

  private rest(): void {
    this.round += 1;
    this.isBusy.value = false;
    clearTimeout(this.timer);
  }

  private later(ms: number): void {
    clearTimeout(this.timer);
    if (!document.hidden) this.timer = setTimeout(() => void this.read(), ms);
  }

  private async read(): Promise<void> {
    this.rest();
    const { round } = this;
    const wasOver = this.isOver;
    this.isBusy.value = true;
    try {
      const found = await logLines(this.id, ...this.asked, this.key);
      if (round !== this.round) return;
      this.take(found);
      this.error.value = undefined;
    } catch (refused) {
      if (round !== this.round) return;
      this.error.value = refused;
      // With a new key the server sends all lines again, including those in the lost answer.
      this.key = crypto.randomUUID();
      if (this.follows.peek() === 'following') this.follows.value = 'paused';
    }
    this.isBusy.value = false;
    if (this.follows.peek() !== 'following') return;
    if (wasOver) this.follows.value = 'over';
    else this.later(this.isOver ? SETTLE_MS : EVERY_MS);
  }

  private take({ lines, isCut, scannedBytes, isMore }: LogLines): void {
    const before = isMore === true ? (this.lines.peek() ?? []) : [];
    const next = lines.map((line) => ({ ...line, number: (this.count += 1) }));
    this.isCut.value = isCut || (isMore === true && this.isCut.peek());
    this.scannedBytes.value = scannedBytes;
    if (isMore === true && next.length === 0) return;
    // Sorted, because a line may arrive after later ones.
    const all = [...before, ...next].sort((one, other) => one.at - other.at);
    const most = this.isAtEnd ? MOST : MOST_ABOVE;
    if (all.length > most) this.isCut.value = true;
    this.lines.value = all.slice(-most);
  }
}
