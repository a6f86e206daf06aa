/**
 * Starts node processes that have loaded the bootstrap and no function. One is always ready, so that a cold
 * start only takes the import of the bundle.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Guardian } from '../processes/guardian.ts';

/**
 * Variables of the user's environment that a function may see. AWS settings of the user must not leak into
 * it.
 */
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

  /** A process for the caller, started or starting. */
  take(): ChildProcess {
    const spare = this.#spare;
    this.#spare = undefined;
    // Later, because the process just taken needs the processor now.
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      if (!this.#stopped) this.#spare ??= this.#spawn();
    }, REFILL_AFTER_MS);
    const isUsable =
      spare !== undefined && spare.exitCode === null && spare.signalCode === null && spare.connected;
    return isUsable ? spare : this.#spawn();
  }

  /** A process that a debugger reaches at this port of 127.0.0.1. */
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
        // A process group of its own: Ctrl-C in the terminal reaches only the cloud, which then ends its
        // functions.
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
