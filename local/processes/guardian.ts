/**
 * Starts the guardian and keeps its list, so that no child process outlives the local cloud and the folder of
 * their code is removed, however the cloud ends.
 *
 * Invariants
 * - I1 every child of the cloud is on the guardian's list from its spawn until its exit event.
 * - I2 a dead guardian is replaced, and the new one gets the whole list.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The prefix of the names of folders with a cloud's code. */
export const CODE_FOLDER = 'steadfast-code-';

export class Guardian {
  /** The folder of the running code, outside the project. It is removed once every child is gone. */
  readonly codeFolder = mkdtempSync(join(realpathSync(tmpdir()), CODE_FOLDER));
  readonly #pids = new Set<number>();
  #child: ChildProcess;
  #stopping = false;

  constructor() {
    this.#child = this.#start();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Guards a child until it exits. */
  guard(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.#pids.add(pid);
    this.#tell(`+${pid}\n`);
    child.once('exit', () => {
      this.#pids.delete(pid);
      this.#tell(`-${pid}\n`);
    });
  }

  /** Ends the guardian, and so all processes still on its list. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.stdin?.end();
    });
  }

  #start(): ChildProcess {
    const script = fileURLToPath(new URL('./guardian.mjs', import.meta.url));
    const child = spawn(process.execPath, [script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
      env: {},
    });
    child.stdin?.on('error', () => {});
    child.stdin?.write(`=${this.codeFolder}\n`);
    child.once('exit', () => {
      if (this.#stopping) return;
      this.#child = this.#start();
      for (const pid of this.#pids) this.#tell(`+${pid}\n`);
    });
    return child;
  }

  #tell(line: string): void {
    if (this.#child.stdin?.writable === true) this.#child.stdin.write(line);
  }
}
