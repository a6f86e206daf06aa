/**
 * Prints the lines of code, room by room: without comments, blank lines and imports.
 *
 *     npm run lines [-- --json]
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const ROLES = ['core', 'engine', 'scheduler', 'agent', 'supervisor'];

/** Comments first, but not what looks like one in a text; then imports, which may have several lines. */
const codeLines = (text: string): number =>
  text
    .replaceAll(
      /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g,
      (_, literal: string | undefined) => literal ?? '',
    )
    .replaceAll(/^import\s[^;]*;$/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '').length;

const files = ['lib', 'cli'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
);
const rooms: Record<string, number> = {};
for (const path of files) {
  const [folder = '', room = ''] = path.split('/');
  const name = folder === 'cli' || room.endsWith('.ts') ? folder : `${folder}/${room}`;
  rooms[name] = (rooms[name] ?? 0) + codeLines(readFileSync(join(ROOT, path), 'utf8'));
}
const sum = (holds: (room: string) => boolean): number =>
  Object.entries(rooms).reduce((total, [room, lines]) => total + (holds(room) ? lines : 0), 0);
const sums = {
  'lib + cli': sum(() => true),
  lib: sum((room) => room !== 'cli'),
  'core and roles': sum((room) => ROLES.some((role) => room === `lib/${role}`)),
};

if (process.argv.includes('--json')) console.log(JSON.stringify({ lines: { ...rooms, ...sums } }));
else
  for (const [name, lines] of [
    ...Object.entries(rooms).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ...Object.entries(sums),
  ])
    console.log(`${name.padEnd(16)}${lines.toLocaleString('en').padStart(8)}`);
