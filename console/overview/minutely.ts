/**
 * Reads the charts once a minute while the page is visible, because AWS charges for each read. Other data is
 * read more often (`live.ts`).
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Live } from '../live.ts';

const EVERY_MS = 60_000;

interface Answer<T> {
  readonly data: T | undefined;
  readonly error: unknown;
}

/**
 * The last charts. They are shown at once when the view is opened again, and read again after a minute at the
 * earliest.
 */
let kept: { readonly at: number; readonly data: unknown } | undefined;

/** @param isOn whether there are charts to read */
export function useMinutely<T>(load: () => Promise<T>, isOn: boolean): Live<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ data: kept?.data as T | undefined, error: undefined });
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (!isOn) return undefined;
    const rhythm = new Rhythm(async () => {
      try {
        const data = await load();
        kept = { at: Date.now(), data };
        setAnswer({ data, error: undefined });
      } catch (error) {
        setAnswer(({ data }) => ({ data, error }));
      }
    }, kept?.at);
    again.current = rhythm.now;
    return rhythm.start();
  }, []);
  return { ...answer, again: () => again.current() };
}

class Rhythm {
  private readonly read: () => Promise<void>;
  private readAt: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Promise<void>, readAt: number | undefined) {
    this.read = read;
    this.readAt = readAt;
  }

  start(): () => void {
    document.addEventListener('visibilitychange', this.looked);
    this.looked();
    return () => {
      document.removeEventListener('visibilitychange', this.looked);
      clearTimeout(this.timer);
    };
  }

  readonly now = (): void => {
    this.readAt = Date.now();
    void this.read();
    this.looked();
  };

  private readonly looked = (): void => {
    clearTimeout(this.timer);
    if (document.hidden) return;
    const left = this.readAt === undefined ? 0 : this.readAt + EVERY_MS - Date.now();
    if (left <= 0) this.now();
    else this.timer = setTimeout(this.looked, left);
  };
}
