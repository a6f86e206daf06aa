/**
 * Finds files and packages that an agent's code looks for at run time but that its asset does not contain: a
 * file beside it, a package whose name is computed, a native module.
 *
 * Owns: the search in the bundle, and the remedy in the message. Does not own: the files that settings add
 * (`brought-along.ts`).
 *
 * esbuild names calls whose module is computed; the others are found in the text, without its comments. In
 * the author's own code an existing file is certain to be needed, so its absence is refused. In packages only
 * a run could show it, so there is a warning for each package that the author imports.
 */

import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';
import { type Message, type Metafile, transformSync } from 'esbuild';
import type { Beside, Owner } from './brought-along.ts';

export interface Bundled {
  readonly metafile: Metafile;
  /** esbuild's messages about calls whose module is computed. */
  readonly computed: readonly Message[];
}

export interface LeftBehind {
  /** Calls that cannot work. */
  readonly problems: readonly string[];
  /** Calls that may not work. */
  readonly warnings: readonly string[];
}

/** The messages of esbuild that are about computed modules. */
export const COMPUTED = {
  'unsupported-require-call': 'warning',
  'unsupported-dynamic-import': 'warning',
  'indirect-require': 'warning',
} as const;

/** @param ours what every function's bundle contains */
export function leftBehind(
  owner: Owner,
  { metafile, computed }: Bundled,
  beside: Beside,
  ours: ReadonlySet<string>,
): LeftBehind {
  const inputs = Object.keys(metafile.inputs).filter((input) => !ours.has(input));
  const lines = new Map(
    computed.flatMap(({ location }) => (location ? [[location.file, location.line]] : [])),
  );
  const problems: string[] = [];
  const warnings: string[] = [];
  const packages = new Map<string, string>();
  for (const input of inputs) {
    const isOfPackage = input.includes('node_modules/');
    const line = lines.get(input);
    if (isOfPackage) {
      const at = line ?? lineLooking(join(owner.root, input));
      const name = at === undefined ? undefined : importedPackage(metafile, input);
      if (name !== undefined && !packages.has(name)) packages.set(name, `${input}:${at}`);
      continue;
    }
    if (line !== undefined)
      warnings.push(
        `${input}:${line} names a module only when it runs, which the bundle of the agent '${owner.name}' does not hold: import it by its name, or set agentSettings: { '${owner.name}': { nodeModules: ['<package>'] } }`,
      );
    problems.push(...ownProblems(owner, input, beside));
  }
  for (const [name, where] of packages)
    warnings.push(
      `agent '${owner.name}': the package ${name} looks for a module or a file of its own only when it runs (${where}), as native modules do; its bundle does not hold that: set agentSettings: { '${owner.name}': { nodeModules: ['${name}'] } }`,
    );
  return { problems, warnings };
}

const HERE = String.raw`(?:import\.meta\.dirname|__dirname|dirname\(fileURLToPath\(import\.meta\.url\)\))`;
const LOOKS = /\bcreateRequire\(|\b__(?:dir|file)name\b|new URL\(["']\.{1,2}\/[^"']+["'],import\.meta\.url\)/;
const MAY_LOOK = /createRequire|__(?:dir|file)name|import\.meta/;

/** The line at which a package's file looks for something beside itself; undefined if there is none. */
function lineLooking(file: string): number | undefined {
  const text = readFileSync(file, 'utf8');
  if (!MAY_LOOK.test(text) || !LOOKS.test(uncommented(file))) return undefined;
  return lineOf(text, /createRequire\(|__(?:dir|file)name|import\.meta/);
}

function ownProblems(owner: Owner, input: string, beside: Beside): string[] {
  const file = join(owner.root, input);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (!MAY_LOOK.test(text)) return [];
  const code = uncommented(file);
  return [...filesNamedIn(code), ...requiredIn(code)].flatMap((named) => {
    const at = `${input}:${lineOf(text, named) ?? 1}`;
    if (!/^\.{0,2}\//.test(named) && requiredIn(code).includes(named)) {
      if (isBuiltin(named) || hasPackage(beside, named)) return [];
      return [
        `${at} loads ${named} by createRequire, which the bundle of the agent '${owner.name}' does not hold: import it, or set agentSettings: { '${owner.name}': { nodeModules: ['${named}'] } }`,
      ];
    }
    const path = resolve(dirname(file), named);
    if (!existsSync(path)) return [];
    // In a bundle the code looks relative to the agent's file.
    if (beside.get(placeOf(relative(dirname(owner.file), resolve(dirname(owner.file), named)))) === path)
      return [];
    if (hasFolder(beside, owner, path)) return [];
    if (dirname(file) !== dirname(owner.file))
      return [
        `${at} names ${named} beside itself; bundled, it looks beside ${placeOf(relative(owner.root, owner.file))}: make the URL there and hand it over, and set agentSettings: { '${owner.name}': { files: ['${named}'] } }`,
      ];
    return [
      `${at} names ${named}, which the asset of the agent '${owner.name}' does not hold: set agentSettings: { '${owner.name}': { files: ['${named}'] } }`,
    ];
  });
}

/** The files that code names relative to its own place. */
function filesNamedIn(code: string): string[] {
  const alias = [...code.matchAll(new RegExp(String.raw`\b([\w$]+)=${HERE}[;,\n]`, 'g'))].map(
    ([, name]) => name,
  );
  const here = `(?:${[HERE, ...alias.map((name) => String.raw`\b${name}`)].join('|')})`;
  const found = [
    ...code.matchAll(/new URL\(["'`]([^"'`$]+)["'`],import\.meta\.url\)/g),
    ...code.matchAll(new RegExp(String.raw`\(${here},["'\`]([^"'\`$]+)["'\`]`, 'g')),
    ...code.matchAll(new RegExp(String.raw`\$\{${here}\}/([^"'\`$]+)\``, 'g')),
  ];
  return [...new Set(found.map(([, named = '']) => named))].filter((named) => !/^[a-z]+:/.test(named));
}

/** The packages that code names in calls of a `require` that it created. */
function requiredIn(code: string): string[] {
  const made = [...code.matchAll(/\b([\w$]+)=createRequire\(/g)].map(([, name = '']) =>
    name.replaceAll('$', '\\$'),
  );
  const calls = [String.raw`createRequire\([^)]*\)`, ...made.map((name) => String.raw`\b${name}`)].join('|');
  return [...code.matchAll(new RegExp(String.raw`(?:${calls})\(["'\`]([^"'\`$]+)["'\`]\)`, 'g'))].map(
    ([, named = '']) => named,
  );
}

const hasPackage = (beside: Beside, named: string): boolean =>
  beside.has(
    `node_modules/${named
      .split('/')
      .slice(0, named.startsWith('@') ? 2 : 1)
      .join('/')}/package.json`,
  );

const hasFolder = (beside: Beside, owner: Owner, path: string): boolean =>
  dirname(owner.file) !== path && [...beside.values()].some((file) => file.startsWith(`${path}${sep}`));

const placeOf = (path: string): string => path.split(sep).join('/');

/** The package that the author's own code imports, and through which a file came into the bundle. */
function importedPackage({ inputs }: Metafile, input: string): string | undefined {
  const from = new Map<string, string>();
  const own = Object.keys(inputs).filter((each) => !each.includes('node_modules/'));
  const queue = [...own];
  for (const each of queue)
    for (const { path } of inputs[each]?.imports ?? []) {
      if (from.has(path) || own.includes(path)) continue;
      from.set(path, each);
      queue.push(path);
    }
  let at = input;
  for (let next = from.get(at); next?.includes('node_modules/') === true; next = from.get(at)) at = next;
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(at)?.[1];
}

function lineOf(text: string, what: RegExp | string): number | undefined {
  const lines = text.split('\n');
  const index = lines.findIndex(
    (line) =>
      !/^\s*(?:\/\/|\*|\/\*)/.test(line) &&
      (typeof what === 'string' ? line.includes(what) : what.test(line)),
  );
  return index < 0 ? undefined : index + 1;
}

/** The code without comments. If it does not parse, bundling reports that. */
function uncommented(file: string): string {
  try {
    const loader = extname(file).endsWith('ts') ? 'ts' : 'js';
    return transformSync(readFileSync(file, 'utf8'), {
      loader,
      minifyWhitespace: true,
      legalComments: 'none',
    }).code;
  } catch {
    return '';
  }
}
