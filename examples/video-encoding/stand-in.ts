/**
 * An encoder for a machine that has none: a film is a file with one line per second, and a segment has the
 * lines of its seconds.
 *
 * Owns: the lines. Each piece takes `VIDEO_PIECE_MS`, so that you can see it run.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Encoder } from './encoder.ts';

const SHARES = [0.12, 0.24, 0.35, 0.47, 0.6, 0.8, 1];

const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');

export const standIn: Encoder = {
  name: 'the stand-in',
  film: (file, seconds) =>
    writeFile(file, Array.from({ length: seconds }, (_, second) => `second ${second}\n`).join('')),
  secondsOf: async (file) => (await linesOf(file)).length,
  encode: async ({ source, target, from, seconds, height, signal, at }) => {
    const pieceMs = Number(process.env['VIDEO_PIECE_MS'] ?? 0);
    for (const share of SHARES) {
      if (pieceMs > 0) await setTimeout(pieceMs, undefined, { signal });
      await at(share);
    }
    const lines = (await linesOf(source)).slice(from, from + seconds);
    await writeFile(target, lines.map((line) => `${line} in ${height} lines\n`).join(''));
  },
};
