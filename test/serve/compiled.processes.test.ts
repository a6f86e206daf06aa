/** Compiling a project's files (`serve/compiled/`): they behave as with tsx, or the project is refused. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { authoredFiles } from '../../lib/infra/discover.ts';
import { compile } from '../../serve/compiled/compile.ts';
import { compiledFor, type Instead } from '../../serve/compiled/kept.ts';
import { eachFolder } from '../fresh-folder.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

let root: string;
eachFolder('compiled', (path) => (root = path));

const PACKAGES = {
  'node_modules/stamp/package.json': '{ "name": "stamp" }',
  'node_modules/stamp/index.js':
    'exports.__esModule = true; exports.default = "stamp"; exports.order = [...globalThis.order];',
  'node_modules/engine/package.json': '{ "name": "engine", "peerDependencies": { "steadfast": "*" } }',
};

/** Modules whose order of evaluation a merged file would change. */
const SOURCES = {
  'w/workflow.ts': `import './first';
import stamp, { order } from 'stamp';
import { Kind, later, type Shape } from './second';
export const shape: Shape = { kind: Kind.Big };
export const seen = { order, stamp, all: () => globalThis.order, later, shape, name: class Named {}.name };
`,
  'w/first.ts': 'globalThis.order = [];\nglobalThis.order.push("first");\n',
  'w/second.ts': `globalThis.order.push('second');
export enum Kind { Big = 'big' }
export interface Shape { readonly kind: Kind }
export const later = () => import('./third');
`,
  'w/third.ts': 'globalThis.order.push("third");\nexport const third: number = 3;\n',
};
const OWN_NAMES = {
  module: 'export const own = [import.meta.url, import.meta.dirname, import.meta.filename];\n',
  commonjs: 'export const own = [__filename, __dirname];\n',
};

/** Turns `./x` of a CommonJS file into `./x.js` for an ES module. */
const asModule = (text: string): string => text.replaceAll(/'(\.\/\w+)'/g, "'$1.js'");

function project(type: 'module' | 'commonjs', files: Readonly<Record<string, string>>): string {
  const all = { ...PACKAGES, 'package.json': JSON.stringify({ type }), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return join(root, 'w/workflow.ts');
}

const compiled = (file: string, compiler = compile): Promise<Instead | undefined> =>
  compiledFor([file], { shared: {}, by: 'test', compile: compiler });

/** The exports as another process loads them. */
function exported(file: string, nodeArgs: readonly string[] = []): unknown {
  const program = `const all = await import(${JSON.stringify(pathToFileURL(file).href)});
const { seen, own } = all.default?.__esModule ? all.default : all;
const { third } = await seen.later();
console.log(JSON.stringify({ own, third, ...seen, all: seen.all() }));`;
  const args = [...nodeArgs, '--input-type=module', '--eval', program];
  const env = { ...process.env, NODE_OPTIONS: '' };
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: root, env }));
}

it.each(['module', 'commonjs'] as const)('is what the loader gives: %s', async (type) => {
  const files = Object.entries({ ...SOURCES, 'w/workflow.ts': SOURCES['w/workflow.ts'] + OWN_NAMES[type] });
  const texts = files.map(([path, text]) => [path, type === 'module' ? asModule(text) : text] as const);
  const file = project(type, Object.fromEntries(texts));
  const instead = (await compiled(file))?.get(file);
  const wanted = exported(file, ['--import', TSX]);
  expect(wanted).toMatchObject({ order: ['first'], all: ['first', 'second', 'third'], third: 3 });
  expect(exported(instead ?? '')).toEqual(wanted);
});

const REFUSED: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['a name that is made while it runs', 'export const load = (name: string) => import(name);', {}],
  ['a decorator', '@sealed\nexport class Work {}', {}],
  ['what Node alone answers', 'export const at = import.meta.resolve("stamp");', {}],
  ['a name of CommonJS in an ES module', 'export const at = __dirname;', {}],
  ['a package that is not there', 'import "nowhere";', {}],
  ['a package with an entry of its own', 'import "engine";', {}],
  ['a name of tsconfig.json', 'import "#own";', {}],
  ['data', 'export { default } from "./data.json" with { type: "json" };', { 'w/data.json': '{}' }],
  ['a file that is no program', 'export const = 3;', {}],
  ['modules of both kinds', 'import "./old.js";', { 'w/old.cts': '' }],
  [
    'older classes',
    'export class Work {}',
    { 'tsconfig.json': '{ "compilerOptions": { "target": "ES2020" } }' },
  ],
  [
    'a package nearer to the file',
    'import "stamp";',
    { 'w/node_modules/stamp/package.json': '{ "name": "stamp" }' },
  ],
];

it.each(REFUSED)('leaves to the loader: %s', async (_, text, files) => {
  const file = project('module', { 'w/workflow.ts': text, ...files });
  const into = join(root, 'node_modules/.cache/x');
  expect((await compile([file], { into, shared: {} })).outputs).toBeUndefined();
});

it('imports the shared entry where it is the same package, and an own copy where it is not', async () => {
  const file = project('module', { 'w/workflow.ts': 'import stamp from "stamp";\nexport default stamp;' });
  const into = join(root, 'node_modules/.cache/x');
  const codeWith = async (folder: string): Promise<string | undefined> => {
    const { outputs } = await compile([file], {
      into,
      shared: { stamp: { folder, url: 'file:///entry.js' } },
    });
    return outputs?.get(file)?.code;
  };
  expect(await codeWith(join(root, 'node_modules/stamp'))).toContain('from "file:///entry.js"');
  expect(await codeWith(join(root, 'elsewhere/stamp'))).toContain('from "stamp"');
});

it('leaves to the loader what links to its packages elsewhere', async () => {
  const file = project('module', { 'w/workflow.ts': 'import "stamp";' });
  expect(await compiled(file)).toBeDefined();
  renameSync(join(root, 'node_modules'), join(root, 'packages'));
  symlinkSync('packages', join(root, 'node_modules'));
  expect(await compiled(file)).toBeUndefined();
});

describe('what is kept', () => {
  let compilations: number;
  const counting: typeof compile = (files, options) => {
    compilations += 1;
    return compile(files, options);
  };
  let file: string;
  beforeEach(async () => {
    compilations = 0;
    file = project('module', { 'w/workflow.ts': 'import "./first.js";', 'w/first.ts': 'export {};' });
    await compiled(file, counting);
    await compiled(file, counting);
    expect(compilations).toBe(1);
  });

  it('is made again after a change of a file that it imports', async () => {
    writeFileSync(join(root, 'w/first.ts'), 'export const changed = 1;');
    await compiled(file, counting);
    expect(compilations).toBe(2);
  });

  it('is made again where half of it is there', async () => {
    const result = (await compiled(file, counting))?.get(file) ?? '';
    const whole = readFileSync(result, 'utf8');
    writeFileSync(result, whole.slice(0, 10));
    expect((await compiled(file, counting))?.get(file)).toBe(result);
    expect(compilations).toBe(2);
    expect(readFileSync(result, 'utf8')).toBe(whole);
  });

  it('is made again after something was installed', async () => {
    writeFileSync(join(root, 'node_modules/.package-lock.json'), '{}');
    await compiled(file, counting);
    expect(compilations).toBe(2);
  });

  it('remembers a refusal, until a file changes', async () => {
    writeFileSync(file, '@sealed\nexport class Work {}');
    expect(await compiled(file, counting)).toBeUndefined();
    expect(await compiled(file, counting)).toBeUndefined();
    expect(compilations).toBe(2);
    writeFileSync(file, 'export class Work {}');
    expect(await compiled(file, counting)).toBeDefined();
    expect(compilations).toBe(3);
  });

  it('is nothing where no folder can be made', async () => {
    rmSync(join(root, 'node_modules/.cache'), { recursive: true });
    writeFileSync(join(root, 'node_modules/.cache'), '');
    expect(await compiled(file, counting)).toBeUndefined();
  });
});

it('takes all that may be loaded by its path', () => {
  project('module', {
    'w/workflow.ts': '',
    'w/triggers.ts': '',
    'w/agents/a.ts': '',
    'w/agents/a.test.ts': '',
  });
  const files = authoredFiles({ root, folders: ['.'] }).map((file) => file.slice(root.length + 1));
  expect(files).toEqual(['w/workflow.ts', 'w/triggers.ts', 'w/agents/a.ts']);
});
