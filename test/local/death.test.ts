/** kill -9 of a whole local cloud: nothing of it survives, not even a stopped function; its data does. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCloud } from '../../lib/local/cloud.ts';
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
);
