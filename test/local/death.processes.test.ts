/**
 * After kill -9 of a whole local cloud, none of its processes survives, not even a stopped one; its data
 * does.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCloud } from '../../local/cloud.ts';
import { endLeftBehind } from '../../local/processes/left-behind.ts';
import { until, writeAssembly } from './fixture.ts';

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly commandLine: string;
}

/** All processes. */
const rows = (): Row[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, state = '', commandLine = ''] = /^ *(\d+) +(\d+) +(\S+) *(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, commandLine }];
    });

/** Living processes, without zombies that wait for their (dead) parents. */
const living = (pids: readonly number[]): number[] =>
  rows()
    .filter(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'))
    .map(({ pid }) => pid);
const lives = (pid: number): boolean => living([pid]).length === 1;

/** All descendants of a process. */
function descendants(ancestor: number): number[] {
  const all = rows();
  const found = [ancestor];
  for (const one of found) found.push(...all.filter(({ parent }) => parent === one).map(({ pid }) => pid));
  return found.slice(1);
}

test('when the cloud is killed, its functions (also a stopped one), DynamoDB and guardian are gone, and its data is there', async () => {
  const { root, assembly, dataDir } = writeAssembly();
  const script = `
      import { startCloud } from ${JSON.stringify(new URL('../../local/cloud.ts', import.meta.url).href)};
      const cloud = await startCloud(${JSON.stringify({ assembly, dataDir, port: 0, schedules: false })});
      await fetch(cloud.apiUrl + '/order?id=survivor');
      cloud.control.send('dead', 'survivor');
      const fault = cloud.control.freeze('ticker', { nextEvent: true });
      void cloud.control.tick('every');
      const { pids } = await fault.hit;
      console.log(JSON.stringify({ frozen: pids[0], codeFolder: cloud.codeFolder }));`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once('line', resolve),
  );
  const { frozen, codeFolder } = JSON.parse(line) as { frozen: number; codeFolder: string };
  expect(existsSync(codeFolder)).toBe(true);
  const family = descendants(child.pid ?? 0);
  expect(family).toContain(frozen);
  expect(family.length).toBeGreaterThanOrEqual(4);
  expect(living(family)).toHaveLength(family.length);

  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  // Starts the next cloud at once, while the guardian is still cleaning up: the start must wait for it.
  const next = await startCloud({ assembly, dataDir, port: 0, schedules: false });
  await until('all of them are gone', () => living(family).length === 0);
  await until('so is the folder of their code', () => !existsSync(codeFolder));
  // The queue may also contain the order's message: on a slow machine its second of visibility may pass
  // twice.
  expect(next.control.peek('dead').map((message) => message.body)).toContain('survivor');
  expect(await (await fetch(`${next.apiUrl}/items?pk=survivor`)).json()).toMatchObject({ by: { S: 'web' } });
  await next.stop();
  expect(existsSync(next.codeFolder)).toBe(false);
  expect(() => readFileSync(join(dataDir, 'lock'))).toThrow(/ENOENT/);
  rmSync(root, { recursive: true });
});

/** Processes that were started with the file. */
const holders = (path: string): number[] =>
  rows()
    .filter(({ state, commandLine }) => !state.startsWith('Z') && commandLine.includes(path))
    .map(({ pid }) => pid);

describe('when cloud and guardian are killed together', () => {
  const orphaned = async (): Promise<
    ReturnType<typeof writeAssembly> & { orphan: number; database: string }
  > => {
    const files = writeAssembly();
    const { assembly, dataDir } = files;
    const script = `
      import { startCloud } from ${JSON.stringify(new URL('../../local/cloud.ts', import.meta.url).href)};
      const cloud = await startCloud(${JSON.stringify({ assembly, dataDir, port: 0, schedules: false })});
      await fetch(cloud.apiUrl + '/order?id=survivor');
      console.log('ready');`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
    const { guardianPid } = JSON.parse(readFileSync(join(dataDir, 'lock'), 'utf8')) as {
      guardianPid: number;
    };
    // Stops the guardian first, so that it does not see the cloud's end.
    process.kill(guardianPid, 'SIGSTOP');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    process.kill(guardianPid, 'SIGKILL');
    await until('the guardian is gone', () => !lives(guardianPid));
    const database = join(dataDir, 'dynamodb', 'dynamodb.sqlite');
    const [orphan = 0, ...more] = holders(database);
    expect([lives(orphan), more]).toEqual([true, []]);
    return { ...files, orphan, database };
  };

  test('the database that is left is ended before another opens its file', async () => {
    const { root, assembly, dataDir, orphan, database } = await orphaned();
    const next = await startCloud({ assembly, dataDir, port: 0, schedules: false });
    expect(lives(orphan)).toBe(false);
    expect(holders(database)).toHaveLength(1);
    expect(await (await fetch(`${next.apiUrl}/items?pk=survivor`)).json()).toMatchObject({
      by: { S: 'web' },
    });
    await next.stop();
    expect(holders(database)).toEqual([]);
    rmSync(root, { recursive: true });
  });

  test('it is ended also where its data is to be deleted', async () => {
    const { root, assembly, dataDir, orphan } = await orphaned();
    const next = await startCloud({ assembly, dataDir, port: 0, schedules: false, fresh: true });
    expect(lives(orphan)).toBe(false);
    await next.stop();
    rmSync(root, { recursive: true });
  });
});

describe('a process id that was left behind', () => {
  const left = (text: string): { pidPath: string; root: string } => {
    const { root } = writeAssembly();
    const pidPath = join(root, 'left.pid');
    writeFileSync(pidPath, text);
    return { pidPath, root };
  };

  it.each([
    ['and belongs to another process now', `${process.pid}\n`],
    ['and belongs to nobody', '4194304999\n'],
    ['and is none', 'x'],
  ])('%s ends nothing', async (_what, text) => {
    const { pidPath, root } = left(text);
    await endLeftBehind(pidPath, join(root, 'file'));
    expect(lives(process.pid)).toBe(true);
    rmSync(root, { recursive: true });
  });

  test('that has the file open is ended, or where that is not possible refused', async () => {
    const { pidPath, root } = left('');
    const file = join(root, 'file');
    const other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000_000)', file], {
      stdio: 'ignore',
    });
    writeFileSync(pidPath, String(other.pid));
    await expect(endLeftBehind(pidPath, file, () => false)).rejects.toThrow(
      `process ${other.pid} of an earlier local cloud still has ${file} open`,
    );
    expect([lives(other.pid ?? 0), existsSync(pidPath)]).toEqual([true, true]);
    await endLeftBehind(pidPath, file);
    expect([lives(other.pid ?? 0), existsSync(pidPath)]).toEqual([false, false]);
    rmSync(root, { recursive: true });
  });
});
