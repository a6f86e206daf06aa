/** Each name that the package exports has a docstring, which an editor shows where the name is written. */

import { dirname, join } from 'node:path/posix';
import { docOf } from '../scripts/contract/members.ts';
import { read } from './snippets/blocks.ts';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly import: { readonly types: string } }>>;
}

/** The source files of the package's entries, from its manifest. */
const entries = Object.values((JSON.parse(read('package.json')) as Manifest).exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : [entry.import.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1.ts')],
);

const COMMENT = String.raw`(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?`;
const LIST = /^(?:export|import)(?: type)? \{([^}]*)\} from '(\.[^']+)'/gm;
const OWN = /^export (?:abstract |async )*(?:function|const|class|interface|type) (\w+)/gm;

type Read = (path: string) => string;

/** The names in the braces of an export or an import: what it is there, and what it is called here. */
const namesIn = (list: string): { readonly there: string; readonly here: string }[] =>
  list
    .split(',')
    .map((one) => one.trim().replace(/^type /, ''))
    .filter((one) => one !== '')
    .map((one) => {
      const [there = '', here = there] = one.split(' as ');
      return { there, here };
    });

function exportsOf(path: string): string[] {
  const text = read(path);
  const lists = [...text.matchAll(LIST)].filter(([all]) => all.startsWith('export'));
  return [
    ...lists.flatMap(([, list = '']) => namesIn(list).map(({ here }) => here)),
    ...[...text.matchAll(OWN)].map(([, name = '']) => name),
  ];
}

/** @returns the sentences before the name's declaration; nothing if there are none, or no declaration */
function hoverOf(path: string, name: string, from: Read = read): string {
  const text = from(path);
  const own = new RegExp(
    `^${COMMENT}export (?:abstract |async )*(?:function|const|class|interface|type) ${name}\\b`,
    'm',
  ).exec(text);
  if (own !== null) return docOf(own[1]).text;
  for (const [, list = '', file = ''] of text.matchAll(LIST))
    for (const { there, here } of namesIn(list))
      if (here === name) return hoverOf(join(dirname(path), file), there, from);
  return '';
}

/** @returns the file that declares the name */
function homeOf(path: string, name: string, from: Read = read): string {
  const text = from(path);
  if ([...text.matchAll(OWN)].some(([, own]) => own === name)) return path;
  for (const [, list = '', file = ''] of text.matchAll(LIST))
    for (const { there, here } of namesIn(list))
      if (here === name) return homeOf(join(dirname(path), file), there, from);
  return '';
}

it('is said of each name of each entry', () => {
  const all = entries.flatMap((path) => exportsOf(path).map((name) => ({ path, name })));
  expect(entries).toHaveLength(4);
  expect(all.length).toBeGreaterThan(270);
  const unsaid = all.filter(({ path, name }) => hoverOf(path, name).split(' ').length < 3);
  expect(unsaid).toEqual([]);
});

it('is of one thing: a name that two entries export is the same in both', () => {
  const homes = new Map<string, Set<string>>();
  for (const path of entries)
    for (const name of exportsOf(path))
      homes.set(name, new Set([...(homes.get(name) ?? []), homeOf(path, name)]));
  expect(homes.get('Explanation')).toEqual(new Set(['lib/explain/why.ts']));
  expect([...homes].filter(([, { size }]) => size > 1)).toEqual([]);
});

it('is found where the name is declared, and missed where there is none', () => {
  const files: Readonly<Record<string, string>> = {
    'a/index.ts': "export { one as two, three } from './b.ts';\n",
    'a/b.ts':
      "import { type three } from '../c.ts';\nexport { three };\n/** Does one. @throws Error */\nexport const one = 1;\n",
    'c.ts': '/** Another. */\nconst other = 1;\nexport type three = 3;\n',
  };
  const from = (path: string): string => files[path] ?? '';
  expect(hoverOf('a/index.ts', 'two', from)).toBe('Does one.');
  expect(hoverOf('a/index.ts', 'three', from)).toBe('');
  expect(homeOf('a/index.ts', 'two', from)).toBe('a/b.ts');
});
