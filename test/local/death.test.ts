/** kill -9 of a whole local cloud: nothing of it survives, not even a stopped function; its data does. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCloud } from '../../lib/local/cloud.ts';
import { endLeftBehind } from '../../lib/local/processes/left-behind.ts';
import { until, writeAssembly } from './fixture.ts';

/** Alive and not a zombie waiting for its (dead) parent. */
function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** All descendants of a process. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const direct = children === '' ? [] : children.split(' ').map(Number);
  return direct.flatMap((child) => [child, ...descendants(child)]);
}

/** Whole clouds are started: on a busy machine that takes a while. */
const PATIENCE_MS = 120_000;
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'when the cloud is killed, its functions (also a stopped one), DynamoDB and guardian are gone, and its data is there',
  async () => {
    const { root, assembly, dataDir } = writeAssembly();
    const script = `
      import { startCloud } from ${JSON.stringify(new URL('../../lib/local/cloud.ts', import.meta.url).href)};
      const cloud = await startCloud(${JSON.stringify({ assembly, dataDir, port: 0, schedules: false })});
      await fetch(cloud.apiUrl + '/order?id=survivor');
      cloud.control.send('dead', 'survivor');
      const fault = cloud.control.freeze('ticker', { nextEvent: true });
      void cloud.control.tick('every');
      const { pids } = await fault.hit;
      console.log(JSON.stringify({ frozen: pids[0] }));`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((resolve) =>
      createInterface({ input: child.stdout }).once('line', resolve),
    );
    const { frozen } = JSON.parse(line) as { frozen: number };
    const family = descendants(child.pid ?? 0);
    expect(family).toContain(frozen);
    expect(family.length).toBeGreaterThanOrEqual(4);
    expect(family.every(lives)).toBe(true);

    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    // At once, while the guardian is still at work: the next cloud waits for it.
    const next = await startCloud({ assembly, dataDir, port: 0, schedules: false });
    await until('all of them are gone', () => !family.some(lives));
    expect(next.control.peek('dead').map((message) => message.body)).toEqual(['survivor']);
    expect(await (await fetch(`${next.apiUrl}/items?pk=survivor`)).json()).toMatchObject({
      by: { S: 'web' },
    });
    await next.stop();
    expect(() => readFileSync(join(dataDir, 'lock'))).toThrow(/ENOENT/);
    rmSync(root, { recursive: true });
  },
  PATIENCE_MS,
);

/** Processes that have the file open. */
function holders(path: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path);
    } catch {
      // It has ended, or is another user's.
      return false;
    }
  });
}

describe('when cloud and guardian are killed together', () => {
  const orphaned = async (): Promise<
    ReturnType<typeof writeAssembly> & { orphan: number; database: string }
  > => {
    const files = writeAssembly();
    const { assembly, dataDir } = files;
    const script = `
      import { startCloud } from ${JSON.stringify(new URL('../../lib/local/cloud.ts', import.meta.url).href)};
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
    // Stopped first: it sees nothing of the cloud's end.
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

  onLinux(
    'the database that is left is ended before another opens its file',
    async () => {
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
    },
    PATIENCE_MS,
  );

  onLinux(
    'it is ended also where its data is to be deleted',
    async () => {
      const { root, assembly, dataDir, orphan } = await orphaned();
      const next = await startCloud({ assembly, dataDir, port: 0, schedules: false, fresh: true });
      expect(lives(orphan)).toBe(false);
      await next.stop();
      rmSync(root, { recursive: true });
    },
    PATIENCE_MS,
  );
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
    expect(lives(process.pid) || process.platform !== 'linux').toBe(true);
    rmSync(root, { recursive: true });
  });

  onLinux('that has the file open is ended, or where that is not possible refused', async () => {
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
