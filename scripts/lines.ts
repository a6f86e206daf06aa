/**
 * Prints the lines of code of every room, without comments, blank lines and imports.
 *
 *     npm run lines [-- --json]
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const ROLES = ['core', 'engine', 'scheduler', 'agent', 'supervisor'];
/** Rooms that are counted whole, after `lib`, which is counted folder by folder. */
const ROOMS = [
  'cli',
  'kit',
  'serve',
  'local',
  'console',
  'create',
  'examples',
  'test',
  'proof',
  'bench',
  'scripts',
];

/** Removes comments first, but not a text that looks like one; then imports, which may have several lines. */
const codeLines = (text: string): number =>
  text
    .replaceAll(
      /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g,
      (_, literal: string | undefined) => literal ?? '',
    )
    .replaceAll(/^import\s[^;]*;$/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '').length;

const filesOf = (room: string): readonly string[] =>
  existsSync(join(ROOT, room))
    ? readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
        .map((path) => `${room}/${path.replaceAll('\\', '/')}`)
    : [];

const rooms: Record<string, number> = {};
for (const path of ['lib', ...ROOMS].flatMap(filesOf)) {
  const [room = '', folder = ''] = path.split('/');
  const name = room !== 'lib' || folder.endsWith('.ts') ? room : `${room}/${folder}`;
  rooms[name] = (rooms[name] ?? 0) + codeLines(readFileSync(join(ROOT, path), 'utf8'));
}
const sum = (holds: (room: string) => boolean): number =>
  Object.entries(rooms).reduce((total, [room, lines]) => total + (holds(room) ? lines : 0), 0);
const sums = {
  'lib + cli': sum((room) => room === 'cli' || room.split('/')[0] === 'lib'),
  lib: sum((room) => room.split('/')[0] === 'lib'),
  'lib + kit': sum((room) => room === 'kit' || room.split('/')[0] === 'lib'),
  'core and roles': sum((room) => ROLES.some((role) => room === `lib/${role}`)),
};

if (process.argv.includes('--json')) console.log(JSON.stringify({ lines: { ...rooms, ...sums } }));
else
  for (const [name, lines] of [
    ...Object.entries(rooms).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ...Object.entries(sums),
  ])
    console.log(`${name.padEnd(16)}${lines.toLocaleString('en').padStart(8)}`);
