/**
 * Stores the results of an earlier start below `node_modules`, where Node finds the same packages.
 *
 * Owns: checking that a result still matches the files, and never loading an incomplete one. Does not own:
 * how a file is compiled (`compile.ts`).
 *
 * B3 A result is loaded only if no input and no result has changed. B4 A project without a writable folder
 * has no stored results.
 */

import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CompileOptions, Compiled } from './compile.ts';
import { hashOf } from './hash.ts';

/** The file to load in place of each file of the project. */
export type Instead = ReadonlyMap<string, string>;

export interface KeptOptions {
  readonly shared: CompileOptions['shared'];
  /** Further inputs of a result, such as the version of Steadfast. */
  readonly by: string;
  /** Loads esbuild only when called, because esbuild is as large as all other code together. */
  readonly compile: (files: readonly string[], options: CompileOptions) => Promise<Compiled>;
}

interface Manifest {
  readonly key: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** Results and their hashes by file. Absent if the project was refused. */
  readonly outputs?: Readonly<Record<string, { readonly name: string; readonly hash: string }>>;
}

const FOLDER = join('.cache', 'steadfast-serve');

/**
 * @param files the files of one project that are loaded by their path
 * @returns undefined if the project needs the loader
 */
export async function compiledFor(
  files: readonly string[],
  options: KeptOptions,
): Promise<Instead | undefined> {
  const [first] = files;
  const packages = first === undefined ? undefined : packagesAbove(first);
  if (packages === undefined) return undefined;
  try {
    const { shared, by, compile } = options;
    const into = join(packages, FOLDER, hashOf(JSON.stringify(files)).slice(0, 16));
    mkdirSync(into, { recursive: true });
    const key = hashOf(JSON.stringify([by, shared, files, into, installedAt(packages)]));
    const kept = read(into);
    if (kept !== undefined && isFresh(kept, key, into)) return insteadOf(kept, into);
    return insteadOf(keep(into, key, await compile(files, { into, shared })), into);
  } catch {
    // There is no lasting folder for results: the loader still works.
    return undefined;
  }
}

function packagesAbove(file: string): string | undefined {
  for (let at = dirname(file); at !== dirname(at); at = dirname(at)) {
    const found = join(at, 'node_modules');
    // Node resolves from the real folder, not from a link to it.
    if (statSync(found, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(found);
  }
  return undefined;
}

/** Changes with the installed packages, because a name may then resolve to another package. */
const installedAt = (packages: string): readonly unknown[] =>
  ['.', '.package-lock.json', '.modules.yaml', '.yarn-state.yml'].map(
    (name) => statSync(join(packages, name), { throwIfNoEntry: false })?.mtimeMs,
  );

function read(into: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(into, 'manifest.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

const isText = (file: string, hash: string): boolean => {
  try {
    return hashOf(readFileSync(file, 'utf8')) === hash;
  } catch {
    return false;
  }
};

const isFresh = ({ key, inputs, outputs = {} }: Manifest, wanted: string, into: string): boolean =>
  key === wanted &&
  Object.entries(inputs).every(([file, hash]) => isText(file, hash)) &&
  Object.values(outputs).every(({ name, hash }) => isText(join(into, name), hash));

const insteadOf = ({ outputs }: Manifest, into: string): Instead | undefined =>
  outputs && new Map(Object.entries(outputs).map(([file, { name }]) => [file, join(into, name)]));

/** Writes the manifest last: without it nothing here is loaded. */
function keep(into: string, key: string, { inputs, outputs }: Compiled): Manifest {
  rmSync(join(into, 'manifest.json'), { force: true });
  const hashes = [...inputs].map(([file, text]) => [file, hashOf(text)] as const);
  const made = [...(outputs ?? [])].map(([file, { name, code }]) => {
    write(join(into, name), code);
    return [file, { name, hash: hashOf(code) }] as const;
  });
  const manifest: Manifest = {
    key,
    inputs: Object.fromEntries(hashes),
    ...(outputs === undefined ? {} : { outputs: Object.fromEntries(made) }),
  };
  write(join(into, 'manifest.json'), JSON.stringify(manifest));
  return manifest;
}

/** Writes a file completely or not at all, because another process may read it meanwhile. */
function write(file: string, text: string): void {
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, text);
  renameSync(beside, file);
}
