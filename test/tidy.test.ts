/**
 * Rules that no compiler checks: who may import whom (docs/ARCHITECTURE.md), what the pure core may not use,
 * spelling, size. Each rule is a function of a file, and is tested on a planted violation.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { ENTRIES, layerOf } from './layers.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = [
  'bin',
  'cli',
  'kit',
  'lib',
  'lambdas',
  'local',
  'serve',
  'console',
  'proof',
  'test',
  'examples',
  'bench',
  'scripts',
];
const MAX_CODE_LINES = 320;

interface File {
  /** From the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}
/** Returns the problems of a file, each with advice. */
type Rule = (file: File) => string[];

/** Removes comments, but not text in strings that resembles one. */
const withoutComments = (text: string): string =>
  text.replace(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, literal: string | undefined) => literal ?? '',
  );
const withoutStrings = (code: string): string =>
  code.replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, "''");
const codeLines = (text: string): string[] =>
  withoutComments(text)
    .split('\n')
    .filter((line) => line.trim() !== '');

/**
 * All import specifiers: `import … from`, `import type`, `export … from`, `import('…')` also in types,
 * and bare imports.
 */
function importsOf(text: string): string[] {
  const pattern =
    /(?:^|[\n;])\s*(?:import|export)\b[^'"`;]*?\bfrom\s*(['"])([^'"\n]+)\1|(?:^|[\n;])\s*import\s*(['"])([^'"\n]+)\3|\bimport\(\s*(['"])([^'"\n]+)\5/g;
  return [...withoutComments(text).matchAll(pattern)].map((match) => match[2] ?? match[4] ?? match[6] ?? '');
}

/** The imported file ('lib/core/values/json.ts') or package. */
const targetOf = (path: string, specifier: string): string =>
  specifier.startsWith('.')
    ? normalize(join(dirname(path), specifier)).replaceAll('\\', '/')
    : (ENTRIES[specifier] ?? specifier);

const isBuiltin = (target: string): boolean => target.startsWith('node:') || builtinModules.includes(target);

const imports: Rule = ({ path, text }) => {
  const found = layerOf(path);
  if (found === undefined) return [];
  const [folder, { may, builtins = false }] = found;
  return importsOf(text)
    .map((specifier) => targetOf(path, specifier))
    .filter((target) => !target.startsWith(folder) && !(builtins && isBuiltin(target)))
    .filter((target) => !may.some((start) => target.startsWith(start)))
    .map((target) => {
      const allowed = [...may, ...(builtins ? ["Node's own modules"] : [])].join(', ') || 'nothing else';
      return `imports ${target}; beside itself ${folder} may import: ${allowed} (docs/ARCHITECTURE.md, folders). Pass it in through a port, or move the code.`;
    });
};

/** Workflows and agents of `steadfast verify`, checked as an author's. */
const AUTHORED = 'cli/verify/stack/workflows/';
/** A file that must export all names of the entry that it replaces. */
const STANDS_FOR_IT = 'lib/without-handlers.ts';
const noIndex: Rule = ({ path, text }) =>
  importsOf(text)
    .map((name) => targetOf(path, name))
    .filter(() => /^(lib|cli|kit)\//.test(path) && !path.startsWith(AUTHORED) && path !== STANDS_FOR_IT)
    .filter((target) => Object.values(ENTRIES).includes(target))
    .map((target) => `imports ${target}, which is for authors; import the file that declares what you need`);

const IMPURE =
  /\b(?:Date\.now|new Date\(\)|Date\(\)|Math\.random|performance\.now|process\.|setTimeout|setInterval|setImmediate|queueMicrotask|crypto|console\.|fetch\()/g;
const pureCore: Rule = ({ path, text }) =>
  path.startsWith('lib/core/')
    ? [...withoutStrings(withoutComments(text)).matchAll(IMPURE)].map(
        ([what]) => `uses ${what}; in lib/core time, random numbers and ids are arguments (S14)`,
      )
    : [];

const ZOD: ReadonlySet<string> = new Set(['zod/mini', 'zod/locales']);
const zodMini: Rule = ({ text }) =>
  importsOf(text)
    // One locale is 3 KB; 'zod' itself brings all of them.
    .filter((name) => (name === 'zod' || name.startsWith('zod/')) && !ZOD.has(name))
    .map((name) => `imports '${name}'; import 'zod/mini', which a function loads in a fraction of the time`);

const short: Rule = ({ text }) => {
  const lines = codeLines(text).length;
  return lines > MAX_CODE_LINES
    ? [`has ${lines} lines of code; split it, ${MAX_CODE_LINES} are allowed`]
    : [];
};

const noBarrels: Rule = ({ path, text }) => {
  const rest = withoutComments(text).replace(
    /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+['"][^'"]+['"];?/g,
    '',
  );
  const onlyReExports = rest.trim() === '' && codeLines(text).length > 0;
  return onlyReExports && !Object.values(ENTRIES).includes(path)
    ? ['only re-exports; delete it and import from the files themselves']
    : [];
};

/** This file, which contains the forbidden spellings. */
const SELF = 'test/tidy.test.ts';
const wordRule =
  (word: RegExp, advice: string, unless = /^$/): Rule =>
  ({ path, text }) =>
    path === SELF
      ? []
      : text
          .split('\n')
          .flatMap((line, at) =>
            word.test(line) && !unless.test(line) ? [`line ${at + 1}: ${advice}`] : [],
          );

const spelling = wordRule(/cancelled|cancelling/i, "write 'canceled', with one l");
const focus = wordRule(
  /\b(?:it|test|describe)\.(?:only|skip)\b|\b[xf](?:it|describe)\(/,
  'a test runs or does not exist; only the platform may decide',
  /process\.platform/,
);
const unfinished = wordRule(/\b(?:TODO|FIXME)\b/, 'finish it, or open an issue');

/** Rooms that are bundled: there, classes get other names from the minifier. */
const MINIFIED = /^(?:bin|cli|kit|lib|local|serve)\//;
const noClassNames: Rule = ({ path, text }) =>
  MINIFIED.test(path)
    ? [...withoutStrings(withoutComments(text)).matchAll(/\b[A-Z]\w*[a-z]\w*\.name\b/g)].map(
        ([what]) => `asks for ${what}, which a minifier changes; write the name as a text`,
      )
    : [];

const RULES: Readonly<Record<string, Rule>> = {
  'imports only what its folder may import': imports,
  'does not import lib/index.ts from inside lib': noIndex,
  'keeps clocks, random sources and the process out of lib/core': pureCore,
  'uses zod/mini only': zodMini,
  [`has at most ${MAX_CODE_LINES} lines of code`]: short,
  'is no barrel': noBarrels,
  'spells canceled with one l': spelling,
  'neither focuses nor skips tests': focus,
  'has no unfinished business': unfinished,
  'asks no class for its name': noClassNames,
};

function filesUnder(folder: string): File[] {
  let entries: string[];
  try {
    entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  return entries
    .filter((path) => /\.(?:ts|tsx|mts|js|mjs)$/.test(path) && !path.includes('node_modules'))
    .map((path) => `${folder}/${path.split('\\').join('/')}`)
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

const files = FOLDERS.flatMap(filesUnder);

describe('every file', () => {
  it('is found', () => {
    expect(files.length).toBeGreaterThan(60);
  });
  it.each(Object.entries(RULES))('%s', (_, rule) => {
    expect(files.flatMap((file) => rule(file).map((problem) => `${file.path} ${problem}`))).toEqual([]);
  });
});

const plant = (path: string, text: string): File => ({ path, text });
const many = (count: number): string =>
  Array.from({ length: count }, (_, at) => `const a${at} = 1;`).join('\n');

describe('a rule finds what is planted', () => {
  it.each<[string, Rule, File]>([
    ['cli → console', imports, plant('cli/x.ts', "import { a } from '../console/router.ts';")],
    ['console → the dev server', imports, plant('console/x.tsx', "import { a } from '../cli/io.ts';")],
    ['console → node', imports, plant('console/x.tsx', "import { join } from 'node:path';")],
    ['core → aws', imports, plant('lib/core/x.ts', "import { a } from '../aws/names.ts';")],
    ['core → a type of aws', imports, plant('lib/core/x.ts', "import type { A } from '../aws/names.ts';")],
    ['core → a type in place', imports, plant('lib/core/x.ts', "let a: import('../engine/commit.ts').A;")],
    ['core → node', imports, plant('lib/core/x.ts', "import { createHash } from 'node:crypto';")],
    ['core → a bare import', imports, plant('lib/core/x.ts', "import 'zod/mini';")],
    ['core → a re-export', imports, plant('lib/core/x.ts', "export * from '../engine/commit.ts';")],
    ['core → several lines', imports, plant('lib/core/x.ts', "import {\n  a,\n} from 'uuid';")],
    ['engine → aws', imports, plant('lib/engine/x.ts', "import { a } from '../aws/names.ts';")],
    ['aws → engine', imports, plant('lib/aws/x.ts', "import { a } from '../engine/commit.ts';")],
    ['memory → aws', imports, plant('lib/memory/x.ts', "import { a } from '../aws/names.ts';")],
    ['kit → aws', imports, plant('kit/x.ts', "import { a } from '../lib/aws/names.ts';")],
    ['lib → the kit', imports, plant('lib/infra/x.ts', "import { a } from '../../kit/verdict.ts';")],
    ['api → aws', imports, plant('lib/api/x.ts', "import { a } from '../aws/names.ts';")],
    ['api → zod', imports, plant('lib/api/x.ts', "import * as z from 'zod';")],
    ['infra → core', imports, plant('lib/infra/x.ts', "import { a } from '../core/plan/plan.ts';")],
    ['infra → the store', imports, plant('lib/infra/x.ts', "import { a } from '../aws/dynamo-store.ts';")],
    ['local → core', imports, plant('local/a/x.ts', "import { a } from '../../lib/core/plan/plan.ts';")],
    ['local → a package', imports, plant('local/x.ts', "import { a } from '@aws-sdk/client-sqs';")],
    ['cli → core', imports, plant('cli/x.ts', "import { a } from '../lib/core/plan/plan.ts';")],
    ['cli → the routes', imports, plant('cli/x.ts', "import { a } from '../lib/api/routes.ts';")],
    ['a role → another', imports, plant('lib/agent/x.ts', "import { a } from '../supervisor/sweep.ts';")],
    ['agents → http', imports, plant('lib/agent/handler.ts', "import { a } from 'hono/aws-lambda';")],
    ['handlers → cdk', imports, plant('lib/supervisor/handler.ts', "import { a } from 'aws-cdk-lib';")],
    ['lambda → core', imports, plant('lambdas/x.ts', "import { a } from '../lib/core/plan/plan.ts';")],
    ['example → core', imports, plant('examples/a/x.ts', "import { a } from '../../lib/core/plan/plan.ts';")],
    ['example → another', imports, plant('examples/a/x.ts', "import { a } from '../b/x.ts';")],
    ['world → example', imports, plant('examples/world/x.ts', "import { a } from '../a/x.ts';")],
    ['example → local', imports, plant('examples/a/x.ts', "import { a } from '../../local/cloud.ts';")],
    ['demo → local', imports, plant('examples/a/demo/x.ts', "import { a } from '../../../local/cloud.ts';")],
    ['lib → index', noIndex, plant('lib/core/x.ts', "import { a } from '../index.ts';")],
    ['lib → the test kit', noIndex, plant('cli/x.ts', "import { a } from 'steadfast/testing';")],
    ['lib → index by name', noIndex, plant('kit/x.ts', "import { a } from 'steadfast';")],
    ['a clock', pureCore, plant('lib/core/x.ts', 'const a = Date.now();')],
    ['a date', pureCore, plant('lib/core/x.ts', 'const a = new Date();')],
    ['a random source', pureCore, plant('lib/core/x.ts', 'const a = Math.random();')],
    ['the process', pureCore, plant('lib/core/x.ts', "const a = process.env['A'];")],
    ['a timer', pureCore, plant('lib/core/x.ts', 'setTimeout(() => {}, 1);')],
    ['entropy', pureCore, plant('lib/core/x.ts', 'const a = globalThis.crypto;')],
    ['zod', zodMini, plant('examples/a/x.ts', "import * as z from 'zod';")],
    ['zod/v4', zodMini, plant('test/x.test.ts', "import * as z from 'zod/v4';")],
    ['length', short, plant('lib/core/x.ts', many(MAX_CODE_LINES + 1))],
    ['a barrel', noBarrels, plant('lib/core/x.ts', "export * from './a.ts';\nexport { b } from './b.ts';")],
    ['spelling', spelling, plant('docs/x.ts', '// it was Cancelled')],
    ['focus', focus, plant('test/x.test.ts', "it.only('a', () => {});")],
    ['a skip', focus, plant('test/x.test.ts', "describe.skip('a', () => {});")],
    ['a reminder', unfinished, plant('lib/core/x.ts', '// TODO later')],
    ['a class’s name', noClassNames, plant('cli/x.ts', 'const is = error.name === CannotAnswer.name;')],
  ])('%s', (_, rule, file) => {
    expect(rule(file)).toHaveLength(1);
  });

  it.each<[string, Rule, File]>([
    [
      'its own folder and the type of a schema',
      imports,
      plant('lib/core/x.ts', "import { a } from './a.ts';\nimport type { S } from '@standard-schema/spec';"),
    ],
    [
      'the names of aws in infra',
      imports,
      plant('lib/infra/x.ts', "import { TABLE } from '../aws/names.ts';\nimport { join } from 'node:path';"),
    ],
    [
      'the test kit and the outside world in a demo',
      imports,
      plant('examples/a/demo/x.ts', "import 'steadfast/testing';\nimport '../../world/server.ts';"),
    ],
    [
      'words in comments and texts',
      pureCore,
      plant('lib/core/x.ts', "/** Date.now */ const a = 'process.exit'; // Math.random"),
    ],
    [
      'a comment that looks like an import',
      imports,
      plant('lib/core/x.ts', "// import { a } from '../aws/names.ts';"),
    ],
    ['a long comment', short, plant('lib/core/x.ts', `/*${'\n'.repeat(MAX_CODE_LINES + 1)}*/`)],
    [
      'a file with one line of its own',
      noBarrels,
      plant('lib/core/x.ts', "export * from './a.ts';\nexport const b = 1;"),
    ],
  ])('and is content with %s', (_, rule, file) => {
    expect(rule(file)).toEqual([]);
  });
});
