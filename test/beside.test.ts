/**
 * Six workflows written for Steadfast and for other systems: ours do what their headings say, and the README
 * counts the names to learn. `npm run beside` compiles the others with their own types.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import { acts } from '../examples/beside/services.ts';
import { agents, bookCar, copying, encoding, hello, posting, refund, trip } from '../examples/beside/six.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

beforeEach(() => {
  acts.length = 0;
});

test('hello', async () => {
  const end = await (await testWorkflow(hello, { agents }).start({ name: 'Ada' })).waitForEnd();
  expect(end.output).toEqual({ text: 'Hello, Ada!' });
});

test('saga: books no car, and gives back hotel, then flight', async () => {
  const trial = testWorkflow(trip, { agents });
  trial.fail(bookCar, { with: new PermanentError('no car') });
  expect((await (await trial.start({ city: 'Rome' })).waitForEnd()).status).toBe('compensated');
  expect(acts).toEqual(['book flight in Rome', 'book hotel in Rome', 'cancel hotel', 'cancel flight']);
});

test('approval: pays after a yes, and not once its time is over', async () => {
  const trial = testWorkflow(refund, { agents });
  const silent = await trial.start({ orderId: 'o-1', amount: 5 });
  expect([(await silent.waitForEnd()).status, acts]).toEqual(['failed', []]);
  const asked = await trial.start({ orderId: 'o-2', amount: 5 });
  await asked.approve('ok');
  expect([(await asked.waitForEnd()).status, acts]).toEqual(['succeeded', ['o-2: 5']]);
});

test('poll: asks every half minute until the job is done', async () => {
  const end = await (await testWorkflow(encoding, { agents }).start({ film: 'f' })).waitForEnd();
  expect([end.status, end.output]).toEqual(['succeeded', { url: '/films/encode f' }]);
  expect(end.tookMs).toBeGreaterThan(60_000);
});

test('loop: copies page after page', async () => {
  await (await testWorkflow(copying, { agents }).start({ cursor: '' })).waitForEnd();
  expect(acts).toEqual(['page ', 'page c1', 'page c2']);
});

test('one per key: a second execution of an account waits for the first', async () => {
  const trial = testWorkflow(posting, { agents });
  const first = await trial.start({ account: 'a', amount: 1 });
  const second = await trial.start({ account: 'a', amount: 2 });
  const ends = [await second.waitForEnd(), await first.waitForEnd()];
  expect([ends.map(({ status }) => status), acts]).toEqual([
    ['succeeded', 'succeeded'],
    ['a: 1', 'a: 2'],
  ]);
});

describe('the README', () => {
  const README = read('examples/beside/README.md');
  /** Names between backticks in the first column of a table. */
  const namesUnder = (heading: string): string[] =>
    [...(README.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]*) \|/gm)]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
      .map(([, name = '']) => name);
  const codeOf = (path: string): string =>
    read(`examples/beside/${path}`)
      .replaceAll(/\/\*[\s\S]*?\*\/|^import [\s\S]*?;$/gm, '')
      .replaceAll(/^\/\/.*$/gm, '');
  const linesOf = (path: string): number =>
    codeOf(path)
      .split('\n')
      .filter((line) => line.trim() !== '').length;
  const wordsOf = (text: string): Set<string> => new Set(text.replaceAll(/'[^'\n]*'/g, '').match(/\b\w+\b/g));
  const ours = namesUnder('Names of ours');
  const common = namesUnder('Names that others have');

  /** Each option, member and export that an author can write. */
  const OURS = [
    'lib/index.ts',
    'lib/core/plan/agent.ts',
    'lib/core/plan/answers.ts',
    'lib/core/plan/workflow.ts',
  ];
  const BUILDER = ['draft', 'recovery-options', 'rounds', 'waiting-steps', 'workflow'];
  const declared = (text: string): string[] => [
    ...[...text.matchAll(/^\s+readonly (\w+)\??:/gm)].map(([, name = '']) => name),
    ...[...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    ),
    ...[...text.matchAll(/^export function (\w+)/gm)].map(([, name = '']) => name),
  ];
  const api = new Set(
    [...OURS, ...BUILDER.map((name) => `lib/author/builder/${name}.ts`)].flatMap((path) =>
      declared(read(path)),
    ),
  );
  /** Words of the six files that are not names of ours: a field, an export, a method of arrays. */
  const THEIR_OWN = new Set(['name', 'agents', 'map']);

  test('has at most ten names of ours, each with its reason, and leaves out none that is used', () => {
    expect(ours.length).toBeLessThanOrEqual(10);
    const used = [...wordsOf(codeOf('six.ts'))].filter((name) => api.has(name));
    expect(used.filter((name) => ![...ours, ...common].includes(name) && !THEIR_OWN.has(name))).toEqual([]);
    expect([...ours, ...common].filter((name) => !wordsOf(codeOf('six.ts')).has(name))).toEqual([]);
    expect(ours.length + common.length).toBeLessThanOrEqual(38);
  });

  test('counts lines and names rightly', () => {
    const [rows = ''] = /^\| [\s\S]*?\n\n/m.exec(README) ?? [];
    const counts = [...rows.matchAll(/\| \[(\w+)\]\(([\w/.]+)\) \| (\d+) \| (\d+) \|(?: (.*) \|)?/g)];
    expect(counts).toHaveLength(3);
    for (const [, , path = '', lines, names, list = ''] of counts) {
      expect([path, linesOf(path)]).toEqual([path, Number(lines)]);
      const listed =
        path === 'six.ts' ? [...ours, ...common] : [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      expect([path, listed.length]).toEqual([path, Number(names)]);
      const words = wordsOf(read(`examples/beside/${path}`));
      expect(listed.filter((name) => !words.has(name!))).toEqual([]);
    }
    expect(linesOf('six.ts')).toBeLessThanOrEqual(100);
  });
});
