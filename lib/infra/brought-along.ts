/**
 * The files and packages that an agent's settings put beside its bundle in the asset.
 *
 * Owns: the place of each in the asset, so that the agent's code finds it there as in a test. Does not own:
 * the bundle (`bundle.ts`), missing settings (`left-behind.ts`).
 *
 * A file has the same place relative to the bundle as it has relative to the agent's file. If it is above
 * that file, the bundle moves down into folders named like those of the agent's file. A package is copied
 * from the project's `node_modules` with its dependencies and without an installation, so synthesis needs
 * neither network nor Docker.
 */

import {
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  closeSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { DiscoveryError } from './discovery.ts';

/** The files and packages that settings name; see `AgentSettings`. */
export interface Named {
  readonly files?: readonly string[];
  readonly nodeModules?: readonly string[];
}

export interface Owner {
  /** The agent's name. */
  readonly name: string;
  readonly file: string;
  /** The project's folder. */
  readonly root: string;
}

/** The file on disk for each path in the asset, relative to the bundle. */
export type Beside = ReadonlyMap<string, string>;

/** @throws DiscoveryError for a file that does not exist, or is outside the project */
export function broughtAlong(owner: Owner, { files = [], nodeModules = [] }: Named): Beside {
  const folder = dirname(owner.file);
  const own = files.flatMap((named) => {
    const path = resolve(folder, named);
    if (!existsSync(path))
      throw refusal(owner, `files: ${named} is not there; name it from ${shown(owner, owner.file)}`);
    if (relative(owner.root, path).startsWith('..'))
      throw refusal(owner, `files: ${named} lies outside of the project (${owner.root})`);
    return filesIn(path).map((file) => [slashed(relative(folder, file)), file] as const);
  });
  return new Map([...own, ...nodeModules.flatMap((name) => [...packageFiles(owner, [name])])]);
}

/** The folders into which the code moves down, so that files above the agent's file have a place. */
export function foldersBelow(owner: Owner, beside: Beside): string {
  const ups = [...beside.keys()].map((place) => place.split('/').filter((part) => part === '..').length);
  const most = Math.max(0, ...ups);
  return most === 0 ? '' : dirname(owner.file).split(sep).slice(-most).join('/');
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Placed {
  /** The place in the asset. */
  readonly place: string;
  /** The path on disk, with links resolved. */
  readonly from: string;
}

/**
 * The files of packages and their dependencies. Each package is at the top level or, if another version is
 * there, below the package that needs it. Placing them level by level keeps later ones from changing which
 * version an earlier one finds.
 */
export function packageFiles(owner: Owner, names: readonly string[]): Beside {
  const placed = new Map<string, string>();
  const place = (name: string, from: string, parent: string): Placed | undefined => {
    for (let at = parent; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
      const seen = placed.get(`${at}${at === '' ? '' : '/'}node_modules/${name}`);
      if (seen === from) return undefined;
      if (seen !== undefined || at === '') break;
    }
    const top = `node_modules/${name}`;
    const to = placed.has(top) ? `${parent}/node_modules/${name}` : top;
    placed.set(to, from);
    return { place: to, from };
  };
  let level = names.flatMap((name) => {
    const from = installed(name, dirname(owner.file));
    if (from === undefined)
      throw refusal(owner, `nodeModules: ${name} is not installed; run npm install ${name}`);
    return place(name, from, '') ?? [];
  });
  while (level.length > 0) {
    level = level.flatMap((parent) =>
      needsOf(owner, parent.from).flatMap(([name, from]) => place(name, from, parent.place) ?? []),
    );
  }
  return new Map(
    [...placed].flatMap(([to, from]) =>
      filesIn(from, 'node_modules').map((file) => [`${to}/${slashed(relative(from, file))}`, file]),
    ),
  );
}

function needsOf(owner: Owner, folder: string): (readonly [string, string])[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
  const all = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return all.flatMap((name) => {
    const from = installed(name, folder);
    if (from !== undefined) return [[name, from] as const];
    if (!(name in dependencies) || name in optionalDependencies) return [];
    throw refusal(owner, `nodeModules: ${basename(folder)} depends on ${name}, which is not installed`);
  });
}

/** Finds a package by Node's rule. */
function installed(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return realpathSync(path);
    if (at === dirname(at)) return undefined;
  }
}

function filesIn(path: string, without?: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name !== without)
    .sort()
    .flatMap((name) => filesIn(join(path, name), without));
}

/** ELF's numbers of the machines that AWS runs. */
const MACHINES = { arm64: 0xb7, x64: 0x3e } as const;

/** The first native module if none of them runs on that machine under Linux; otherwise undefined. */
export function foreignNative(beside: Beside, machine: keyof typeof MACHINES): string | undefined {
  const native = [...beside.values()].filter((file) => file.endsWith('.node'));
  return native.some((file) => machineOf(file) === MACHINES[machine]) ? undefined : native[0];
}

function machineOf(file: string): number | undefined {
  const head = Buffer.alloc(20);
  const opened = openSync(file, 'r');
  readSync(opened, head, 0, 20, 0);
  closeSync(opened);
  return head.readUInt32BE(0) === 0x7f454c46 ? head.readUInt16LE(18) : undefined;
}

const slashed = (path: string): string => path.split(sep).join('/');
const shown = ({ root }: Owner, file: string): string => slashed(relative(root, file));
const refusal = ({ name }: Owner, what: string): DiscoveryError =>
  new DiscoveryError(`agent '${name}': ${what}`);
