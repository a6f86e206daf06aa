/**
 * Where this package's own files are: TypeScript in the repository, JavaScript
 * in `dist/` of what is published.
 *
 * Owns: the difference between the two. Does not own: what is done with a file. Nothing here loads the CDK.
 */

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder with this package's package.json. */
export const PACKAGE_ROOT: string = rootAbove(import.meta.dirname);

/** Only the repository has sources: `files` in package.json leaves them out. */
const isRepository = existsSync(join(PACKAGE_ROOT, 'lib', 'index.ts'));

/** @param path from the package's folder, without an extension: 'lambdas/agent' */
export const programFile = (path: string): string =>
  isRepository ? join(PACKAGE_ROOT, `${path}.ts`) : join(PACKAGE_ROOT, 'dist', `${path}.js`);

/** @param name of a file of `docs/` */
export const docsText = (name: string): Promise<string> => readFile(join(PACKAGE_ROOT, 'docs', name), 'utf8');

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }).version;

/** What `node --import` takes to load TypeScript; this package's tsx, wherever the process runs. */
export const typescriptLoader = (): string =>
  pathToFileURL(createRequire(join(PACKAGE_ROOT, 'package.json')).resolve('tsx')).href;

/**
 * From then on this process loads TypeScript, of both kinds of modules. In the
 * repository it does so from its start.
 */
export async function loadTypescript(): Promise<void> {
  if (!isRepository) await import(typescriptLoader());
}

const instead = new Map<string, string>();

/** From then on `exportsOf` loads these files in the place of others, and of the earlier ones no more. */
export function loadInstead(files: ReadonlyMap<string, string>): void {
  instead.clear();
  for (const [file, other] of files) instead.set(file, other);
}

/** The file that is loaded in its place, or itself. */
export const loadedFile = (file: string): string => instead.get(file) ?? file;

/**
 * The exports of an author's file. A loader that was added after the start of its process gives all exports
 * of a CommonJS file as its default.
 */
export async function exportsOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  const module = (await import(pathToFileURL(loadedFile(file)).href)) as Readonly<Record<string, unknown>>;
  const whole = Object(module['default']) as Readonly<Record<string, unknown>>;
  return whole['__esModule'] === true ? whole : module;
}

/**
 * The handler that an agent's file exports; of an agent whose work is declared that of the declaration, which
 * a workflow of the file uses, or which the file exports.
 */
export async function handlerOf(file: string, name: string): Promise<unknown> {
  const module = await exportsOf(file);
  return module['handler'] ?? declaredHandler(module, name);
}

interface Declaring {
  readonly spec?: { readonly name?: string };
  readonly handler?: unknown;
  readonly agents?: readonly Declaring[];
}

/** Structural: nothing here knows the library. */
function declaredHandler(module: Readonly<Record<string, unknown>>, name: string): unknown {
  const exported = Object.values(module).map((value) => Object(value) as Declaring);
  const agents = exported.flatMap((one) => [one, ...(Array.isArray(one.agents) ? one.agents : [])]);
  return agents.find(({ spec }) => spec?.name === name)?.handler;
}

function rootAbove(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, 'package.json');
    if (
      existsSync(file) &&
      (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'steadfast'
    )
      return at;
    if (at === dirname(at)) throw new Error(`package.json of steadfast is not above ${folder}`);
  }
}
