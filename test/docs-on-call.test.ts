/**
 * docs/ON-CALL.md has twenty questions in order, each with at most three clicks, an existing command, and a
 * browser test.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { steadfast } from './cli/fake-api.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

interface Row {
  readonly number: number;
  readonly clicks: number;
  readonly command: string;
}

const rowsIn = (text: string): Row[] =>
  [...text.matchAll(/^\| (\d+) \|.*\| (\d+) \| `npx steadfast ([^`]+)` \|$/gm)].map(
    ([, number, clicks, command = '']) => ({ number: Number(number), clicks: Number(clicks), command }),
  );
const testsIn = (text: string): number[] =>
  [...text.matchAll(/^it\('(\d+) /gm)].map(([, number]) => Number(number));

const rows = rowsIn(read('docs/ON-CALL.md'));
const numbers = Array.from({ length: 19 }, (_, at) => at + 1);

it('has twenty questions in order, each of at most three clicks', () => {
  expect(rows.map(({ number }) => number)).toEqual(numbers);
  expect(rows.filter(({ clicks }) => clicks > 3)).toEqual([]);
});

it('has a test in a browser for each', () => {
  expect(testsIn(read('test/browser/on-call.browser.ts'))).toEqual(numbers);
});

/** The problems of a command: it does not exist, or an option does not. */
async function wrongIn(command: string): Promise<string[]> {
  const [verb = '', ...rest] = command.split(' ');
  const { exitCode, out } = await steadfast([verb, '--help']);
  // After its name it may have subcommands.
  const [, names = ''] = /^Usage: steadfast (\S+) /.exec(out) ?? [];
  if (exitCode !== 0 || names.split('|')[0] !== verb) return [`no command '${verb}'`];
  return rest
    .filter((word) => word.startsWith('--') && !out.includes(`${word} `))
    .map((word) => `${verb} has no ${word}`);
}

it('names commands and options that there are', async () => {
  expect((await Promise.all(rows.map(({ command }) => wrongIn(command)))).flat()).toEqual([]);
});

it.each([
  ['a question without a row', () => rowsIn('| 1 | Is it healthy? | Overview | 0 | no command |').length, 0],
  ['a question without a test', () => testsIn("it('1 is it healthy', …)\n  it('2 inside another', …)"), [1]],
])('finds what is planted: %s', (_, found, wanted) => {
  expect(found()).toEqual(wanted);
});

it.each([
  ['heal', ["no command 'heal'"]],
  ['list --colour red', ['list has no --colour']],
])('finds what is planted: %s', async (command, wanted) => {
  expect(await wrongIn(command)).toEqual(wanted);
});
