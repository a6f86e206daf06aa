/** Other engines are installed outside the project, in exactly the pinned versions. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exitCodeOf } from '../../bench/parts/beside-table.ts';
import { nodeOfAll, OURS, PEERS, versionOf } from '../../bench/parts/participants.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'bench', 'peers');

type Manifest = Readonly<Partial<Record<string, Record<string, string>>>>;
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const KINDS = ['dependencies', 'optionalDependencies', 'devDependencies'];
const pinsOf = (manifest: Manifest): [string, string][] =>
  KINDS.flatMap((kind) => Object.entries(manifest[kind] ?? {}));

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Record<string, string>;
}
const lock = JSON.parse(readFileSync(join(FOLDER, 'package-lock.json'), 'utf8')) as {
  readonly packages: Record<string, Locked>;
};

describe('the engines that ours is measured beside', () => {
  it.each([...OURS, ...PEERS].map((one) => [one.name, one] as const))(
    '%s has a file and a version',
    (_, one) => {
      expect(existsSync(join(FOLDER, 'engines', `${one.module}.ts`))).toBe(true);
      expect(versionOf(one)).toMatch(/^\d+\.\d+\.\d+/);
    },
  );

  it('are run by a Node that takes ours from lib, whether or not dist is there', () => {
    const { path, args } = nodeOfAll();
    const found = execFileSync(
      path,
      [...args, '--input-type=module', '--eval', "console.log(import.meta.resolve('steadfast'))"],
      { cwd: ROOT, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
    );
    expect(found.trim()).toBe(pathToFileURL(join(ROOT, 'lib', 'index.ts')).href);
  });

  it('are an exit code where one was asked for and not measured', () => {
    const named = { name: 'DBOS', version: '5.3.0' };
    expect(exitCodeOf({ peers: [{ ...named, skipped: 'its process ended (1)' }] })).toBe(1);
    expect(exitCodeOf({ peers: [] })).toBe(0);
  });

  it('are pinned, as the lock has them', () => {
    for (const [name, version] of pinsOf(manifestIn(FOLDER)))
      expect([name, lock.packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });

  it('are locked with the packages of every platform, without which npm ci refuses', () => {
    const named = Object.values(lock.packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
    expect(named.filter((name) => lock.packages[`node_modules/${name}`] === undefined)).toEqual([]);
  });

  it('are not what the project itself installs', () => {
    const own = new Set(pinsOf(manifestIn(ROOT)).map(([name]) => name));
    expect(PEERS.map((one) => one.package ?? '').filter((name) => own.has(name))).toEqual([]);
  });
});
