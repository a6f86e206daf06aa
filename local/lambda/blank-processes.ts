/**
 * Starts node processes that have loaded the bootstrap and no function. One is always ready, so that a cold
 * start only takes the import of the bundle.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Guardian } from '../processes/guardian.ts';

/** Variables of the user's environment that a function gets. The user's AWS settings are not among them. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LANG', 'NODE_EXTRA_CA_CERTS'];
const REFILL_AFTER_MS = 100;

export class BlankProcesses {
  readonly #guardian: Guardian;
  #spare: ChildProcess | undefined;
  #refill: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(guardian: Guardian) {
    this.#guardian = guardian;
    this.#spare = this.#spawn();
  }

  /** Takes a started or starting process. */
  take(): ChildProcess {
    const spare = this.#spare;
    this.#spare = undefined;
    // Starts the next one later, because the process just taken needs the processor now.
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      if (!this.#stopped) this.#spare ??= this.#spawn();
    }, REFILL_AFTER_MS);
    const isUsable =
      spare !== undefined && spare.exitCode === null && spare.signalCode === null && spare.connected;
    return isUsable ? spare : this.#spawn();
  }

  /** Starts a process for a debugger at this port of 127.0.0.1. */
  inspected(port: number): ChildProcess {
    return this.#spawn([`--inspect=127.0.0.1:${port}`]);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#refill);
    this.#spare?.kill('SIGKILL');
    this.#spare = undefined;
  }

  #spawn(options: readonly string[] = []): ChildProcess {
    const script = fileURLToPath(new URL('./bootstrap.mjs', import.meta.url));
    const env: Record<string, string> = {
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
      AWS_EC2_METADATA_DISABLED: 'true',
      TZ: 'UTC',
    };
    for (const name of PASSED_ON) {
      const value = process.env[name];
      if (value !== undefined) env[name] = value;
    }
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', '--no-warnings=ExperimentalWarning', ...options, script],
      {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        // A separate process group: Ctrl-C in the terminal then reaches only the cloud, and the cloud ends
        // its functions.
        detached: process.platform !== 'win32',
        windowsHide: true,
        env,
      },
    );
    child.on('error', () => {});
    this.#guardian.guard(child);
    return child;
  }
}
