/**
 * Each folder of `lib/core` imports only from those above it, and `lib` has no import cycles. Imports of
 * types count too.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CORE = 'lib/core/';

/** The folders from the top down. A nested folder has its own place. */
const ORDER: readonly (readonly string[])[] = [
  ['values/'],
  ['transitions.ts', 'moves.ts', 'step-details.ts'],
  ['records/'],
  ['decisions/'],
  ['plan/'],
  ['step/'],
  ['waiting/'],
  ['questions/'],
  ['holds/'],
  ['operators/'],
  ['supervision/'],
  ['execution/'],
  ['rules.ts', 'evaluate.ts', 'decide.ts'],
  ['ports.ts'],
];

/** File → files that it imports, types included. */
type Graph = ReadonlyMap<string, readonly string[]>;

const withoutComments = (text: string): string =>
  text.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, literal: string | undefined) => literal ?? '',
  );

/** `import … from`, `export … from` and `import('…')` of our own files. */
function importsOf(path: string, text: string): string[] {
  const pattern = /\bfrom\s*(['"])(\.[^'"\n]+)\1|\bimport\s*\(?\s*(['"])(\.[^'"\n]+)\3/g;
  return [...withoutComments(text).matchAll(pattern)].map((match) =>
    normalize(join(dirname(path), match[2] ?? match[4] ?? '')).replaceAll('\\', '/'),
  );
}

function graphOf(files: Readonly<Record<string, string>>): Graph {
  return new Map(Object.entries(files).map(([path, text]) => [path, importsOf(path, text)]));
}

const placeOf = (path: string): number => {
  const fits = (layer: readonly string[]): number =>
    Math.max(0, ...layer.filter((start) => path.startsWith(CORE + start)).map(({ length }) => length));
  const lengths = ORDER.map(fits);
  return Math.max(...lengths) === 0 ? -1 : lengths.indexOf(Math.max(...lengths));
};

/** The most files of a folder, so that a reader can survey them. */
const MOST_FILES = 20;

/** Folders with more files than that. */
function drawers(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MOST_FILES).map(([folder]) => folder);
}

/** Files of the core that are in no listed folder, or import from a lower one. */
function outOfOrder(graph: Graph): string[] {
  const core = [...graph].filter(([path]) => path.startsWith(CORE));
  return core.flatMap(([path, targets]) => {
    const place = placeOf(path);
    if (place < 0) return [`${path} is in none of the core's folders`];
    return targets
      .filter((target) => target.startsWith(CORE) && placeOf(target) > place)
      .map((target) => `${path} imports ${target}, which is below it: move what they share up`);
  });
}

/** Import cycles: groups of files that import each other, directly or indirectly. */
function circles(graph: Graph): string[][] {
  const reached = new Map<string, Set<string>>();
  for (const start of graph.keys()) {
    const seen = new Set<string>();
    const queue = [...(graph.get(start) ?? [])];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push(...(graph.get(next) ?? []));
    }
    reached.set(start, seen);
  }
  const groups = new Set<string>();
  for (const [path, seen] of reached) {
    if (!seen.has(path)) continue;
    const group = [...seen].filter((other) => reached.get(other)?.has(path) === true);
    groups.add(group.toSorted().join(' '));
  }
  return [...groups].map((group) => group.split(' '));
}

const files = Object.fromEntries(
  readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
    .map((path) => `lib/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);
const lib = graphOf(files);

it('has each folder of the core import only from those above it', () => {
  expect(lib.size).toBeGreaterThan(200);
  expect(outOfOrder(lib)).toEqual([]);
});

it('has what decides and runs import nothing of how workflows are declared', () => {
  const declared = [...lib].flatMap(([path, targets]) =>
    /^lib\/(?:core|engine|scheduler|agent|supervisor|aws|api|worker|remote)\//.test(path)
      ? targets.filter((to) => to.startsWith('lib/author/')).map((to) => `${path} imports ${to}`)
      : [],
  );
  expect(declared).toEqual([]);
});

it('has no file of lib import a room that stands beside it', () => {
  const beside = [...lib].flatMap(([path, targets]) =>
    targets.filter((target) => !target.startsWith('lib/')).map((target) => `${path} imports ${target}`),
  );
  expect(beside).toEqual([]);
});

it('has no circle between files of lib, imports of types included', () => {
  expect(circles(lib)).toEqual([]);
});

it('has no folder of the core with more than 20 files', () => {
  expect(drawers([...lib.keys()].filter((path) => path.startsWith(CORE)))).toEqual([]);
});

it('has in test/core the folders of lib/core', () => {
  const foldersOf = (path: string): string[] =>
    readdirSync(join(ROOT, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  expect(foldersOf('lib/core')).toEqual(expect.arrayContaining(foldersOf('test/core')));
});

describe('what is planted is found', () => {
  it.each([
    ['a value from below', "import { decide } from '../decide.ts';"],
    ['a type from below', "import type { Rule } from '../rules.ts';"],
    ['a type in place', "let rule: import('../rules.ts').Rule;"],
    ['a re-export from below', "export { decide } from '../decide.ts';"],
  ])('%s', (_, text) => {
    expect(outOfOrder(graphOf({ 'lib/core/records/state.ts': text }))).toHaveLength(1);
  });

  it('a drawer', () => {
    const many = Array.from({ length: MOST_FILES + 1 }, (_, index) => `lib/core/records/${index}.ts`);
    expect(drawers(many)).toEqual(['lib/core/records']);
  });

  it('a file without a place', () => {
    expect(outOfOrder(graphOf({ 'lib/core/misc.ts': '' }))).toHaveLength(1);
  });

  it('a circle of two types', () => {
    const one = "import type { B } from './b.ts';";
    const other = "import { type A } from './a.ts';";
    expect(circles(graphOf({ 'lib/x/a.ts': one, 'lib/x/b.ts': other, 'lib/x/c.ts': one }))).toEqual([
      ['lib/x/a.ts', 'lib/x/b.ts'],
    ]);
  });
});
