/**
 * Shows a progress line with the expected time. On a terminal it counts seconds; elsewhere it adds a count
 * each time the expected time has passed again.
 */

import type { Io } from '../io.ts';

const ON_TERMINAL_MS = 1_000;
/** The shortest interval without a terminal, to keep logs short. */
const ELSEWHERE_MS = 10_000;

/** @param seconds the expected time on an idle machine @param everyMs the interval of the counts */
export function showProgress(
  io: Io,
  what: string,
  seconds: number,
  everyMs: number = io.isTTY ? ON_TERMINAL_MS : ELSEWHERE_MS,
): { readonly end: (how: string) => void } {
  const startedAt = Date.now();
  const line = `${what} (about ${seconds} s) … `;
  io.out(line);
  const timer = setInterval(() => {
    const passed = `${Math.round((Date.now() - startedAt) / 1_000)} s`;
    io.move('back');
    io.out(io.isTTY ? `${line}${passed} ` : `${passed} … `);
  }, everyMs);
  return {
    end: (how) => {
      clearInterval(timer);
      io.move('rewrite');
      io.out(io.isTTY ? `${what} … ${how}\n` : `${how}\n`);
    },
  };
}
