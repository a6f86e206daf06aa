/**
 * The time as the page shows it: once a second, and not while the page is hidden.
 */

import { type Signal, signal } from '@preact/signals';

export const now: Signal<number> = signal(Date.now());

const EVERY_MS = 1_000;
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, EVERY_MS);
