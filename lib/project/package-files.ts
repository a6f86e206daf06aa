/**
 * The places of this package's own files: TypeScript in the repository, JavaScript in the `dist/` of the
 * published package.
 *
 * Owns: the difference between the two. Does not own: the use of a file. This file does not load the CDK.
 */

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder with this package's package.json. */
export const PACKAGE_ROOT: string = rootAbove(import.meta.dirname);

/** True in the repository: only it has sources, because `files` in package.json omits them. */
const isRepository = existsSync(join(PACKAGE_ROOT, 'lib', 'index.ts'));

/** @param path relative to the package's folder, without an extension: 'lambdas/agent' */
export const programFile = (path: string): string =>
  isRepository ? join(PACKAGE_ROOT, `${path}.ts`) : join(PACKAGE_ROOT, 'dist', `${path}.js`);

/** @param name the name of a file in `docs/` */
export const docsText = (name: string): Promise<string> => readFile(join(PACKAGE_ROOT, 'docs', name), 'utf8');

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }).version;

/**
 * Returns the value for `node --import` that loads TypeScript: this package's tsx, wherever the process runs.
 */
export const typescriptLoader = (): string =>
  pathToFileURL(createRequire(join(PACKAGE_ROOT, 'package.json')).resolve('tsx')).href;

/**
 * Makes this process load TypeScript, as both kinds of modules. In the repository it can do so from its
 * start.
 */
export async function loadTypescript(): Promise<void> {
  if (!isRepository) await import(typescriptLoader());
}

const instead = new Map<string, string>();

/** Makes `exportsOf` load these files in place of others. Replaces the files of an earlier call. */
export function loadInstead(files: ReadonlyMap<string, string>): void {
  instead.clear();
  for (const [file, other] of files) instead.set(file, other);
}

/** Returns the file that is loaded in place of this one, or the file itself. */
export const loadedFile = (file: string): string => instead.get(file) ?? file;

/** How long a file may take to load. */
const LOADED_WITHIN_MS = 60_000;

/**
 * Returns the exports of an author's file. A loader that was added after its process started returns all
 * exports of a CommonJS file as the default export.
 */
export async function exportsOf(
  file: string,
  withinMs = LOADED_WITHIN_MS,
): Promise<Readonly<Record<string, unknown>>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, refuse) => {
    const why = `it is still loading after ${withinMs / 1_000} s: an 'await' outside of its functions never ends`;
    // Without a timer the process would end without a message, because no other work keeps it alive.
    timer = setTimeout(() => refuse(new Error(why)), withinMs);
  });
  const loading = import(pathToFileURL(loadedFile(file)).href) as Promise<Readonly<Record<string, unknown>>>;
  const module = await Promise.race([loading, late]).finally(() => clearTimeout(timer));
  const whole = Object(module['default']) as Readonly<Record<string, unknown>>;
  return whole['__esModule'] === true ? whole : module;
}

/**
 * Returns the handler that an agent's file exports. If the agent's work is declared, it is the declaration's
 * handler; the declaration is exported by the file or used by a workflow in it.
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

/** Finds the declared handler by structure, because this file does not import the library. */
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
