/**
 * The process of an attempt: its reports, what kills it, and that its child programs are gone when it is
 * reported dead (W4).
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { ForkedProcess, type ProcessSettings } from '../../lib/worker/attempt-process.ts';

/** A module that does what its message says, and reports like an agent's handler. */
const MODULE = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const worker = { agent: { spec: { name: 'film', timeoutMs: 600_000 } } };
const forEver = new Promise(() => setInterval(() => undefined, 1_000));
/** Starts a program, as encoders do, that only a kill ends. */
const start = (file) => new Promise((started) => {
  const inner = "require('child_process').spawn('sleep',['600'],{stdio:'ignore'}).pid";
  const program = "process.on('SIGTERM',()=>{});const p=" + inner + ";console.log(p);setInterval(()=>{},1000)";
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  const apart = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  child.stdout.once('data', (pid) => {
    writeFileSync(file, [process.pid, child.pid, Number(pid), apart.pid].join(' '));
    started();
  });
});
const isTime = (leftMs) => leftMs > 0 && leftMs <= 700_000;
async function handle({ Records: [{ body }] }, context) {
  const { claims, file, loses, exits, returns, setsBy = 0 } = JSON.parse(body);
  const now = Date.now();
  Date.now = () => now + setsBy;
  if (!isTime(context.getRemainingTimeInMillis())) return { batchItemFailures: [body] };
  if (claims) worker.listener.claimed({ executionId: 'e', step: 'film', token: claims });
  if (file) await start(file);
  if (exits) process.exit(exits);
  if (loses) worker.listener.leaseLost();
  if (!returns) await forEver;
  return { batchItemFailures: [] };
}
export const handler = Object.assign(handle, { worker });
`;

let folder: string;
let settings: ProcessSettings;
const begun: ForkedProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-attempt-'));
  const entry = join(folder, 'attempt.mjs');
  const source = join(import.meta.dirname, '..', '..', 'lib', 'worker', 'attempt.ts');
  buildSync({ entryPoints: [source], outfile: entry, bundle: true, platform: 'node', format: 'esm' });
  const module = join(folder, 'index.mjs');
  writeFileSync(module, MODULE);
  settings = { entry, module };
});
afterAll(async () => {
  await Promise.all(begun.map((each) => each.kill()));
  rmSync(folder, { recursive: true, force: true });
});

function begin(more: Partial<ProcessSettings> = {}): ForkedProcess {
  const started = new ForkedProcess({ ...settings, ...more });
  begun.push(started);
  return started;
}
const message = (body: object) => ({ messageId: 'm', receipt: 'r', body: JSON.stringify(body) });
const film = (token: string) => ({ executionId: 'e', step: 'film', token });

/** Whether the process is alive; a zombie is not, because it no longer acts. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
const pidsIn = (file: string): number[] => readFileSync(file, 'utf8').split(' ').map(Number);

describe("an attempt's process", () => {
  it('that returned is used again, and nothing is said of a death', async () => {
    const process = begin();
    expect(await process.run(message({ claims: 't1', returns: true }))).toEqual({ how: 'handled' });
    expect(await process.run(message({ claims: 't2', returns: true }))).toEqual({ how: 'handled' });
    expect(process.isAlive).toBe(true);
  });

  it.each([-7_200_000, 7_200_000])('has its time although the clock is set by %i ms', async (setsBy) => {
    const process = begin();
    expect(await process.run(message({ returns: true, setsBy }))).toEqual({ how: 'handled' });
  });

  it('that lost its lease is killed with the programs of programs that it started, and then it is said to be dead', async () => {
    const file = join(folder, 'lost');
    const process = begin();
    expect(await process.run(message({ claims: 't', file, loses: true }))).toEqual({
      how: 'died',
      dead: { ...film('t'), exit: 'signal SIGKILL' },
    });
    expect(pidsIn(file)).toHaveLength(4);
    expect(pidsIn(file).filter(isAlive)).toEqual([]);
  });

  it('that lost its lease and returned is killed all the same: its programs go on', async () => {
    const file = join(folder, 'returned');
    const process = begin();
    expect(await process.run(message({ claims: 't', file, loses: true, returns: true }))).toEqual({
      how: 'handled',
      dead: { ...film('t'), exit: 'signal SIGKILL' },
    });
    expect(pidsIn(file).filter(isAlive)).toEqual([]);
    expect(process.isAlive).toBe(false);
  });

  it('that ends by itself is reported dead with its attempt; before a claim it has no attempt', async () => {
    const exits = { how: 'died', dead: { ...film('t'), exit: 'exit code 3' } };
    const file = join(folder, 'exited');
    expect(await begin().run(message({ claims: 't', file, exits: 3 }))).toEqual(exits);
    expect(pidsIn(file).filter(isAlive)).toEqual([]);
    // Its very last messages are read too.
    expect(await begin().run(message({ claims: 't', exits: 3 }))).toEqual(exits);
    expect(await begin().run(message({ exits: 3 }))).toEqual({ how: 'died' });
  });

  it('that the worker kills is said to be dead', async () => {
    const process = begin();
    const ran = process.run(message({ claims: 't' }));
    await process.ready;
    await process.kill();
    expect((await ran).how).toBe('died');
    expect(process.isAlive).toBe(false);
  });

  it('is not said to be dead before all of it is gone, nor where something of it stays (W4)', async () => {
    let gone = (_isGone: boolean): void => undefined;
    let isOver = false;
    const asked = new Promise<void>((heard) => {
      const process = begin({
        endPrograms: () => {
          heard();
          return new Promise((over) => (gone = over));
        },
      });
      void process.run(message({ claims: 't', exits: 1 })).then((ran) => {
        isOver = true;
        said(ran);
      });
    });
    let said = (_ran: unknown): void => undefined;
    const ran = new Promise((heard) => (said = heard));
    await asked;
    // By then everything else that can happen has happened.
    const other = begin();
    await other.run(message({ returns: true }));
    expect(isOver).toBe(false);
    gone(false);
    expect(await ran).toEqual({ how: 'died', lingers: true });
  });
});
