/** The current time by the API's clock, updated once a second while the page is visible. */

import { type Signal, signal } from '@preact/signals';
import { ServerTime } from '../lib/view/server-time.ts';

export const serverTime: ServerTime = new ServerTime();

export const now: Signal<number> = signal(serverTime.now());

const EVERY_MS = 1_000;
setInterval(() => {
  if (!document.hidden) now.value = serverTime.now();
}, EVERY_MS);
