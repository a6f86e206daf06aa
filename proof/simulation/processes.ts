/**
 * Processes that simulate, from code that is compiled once for all of them: a loader that adds names to every
 * function costs a tenth of the time, and a test runner another tenth.
 *
 * Owns: the bundle, how a process is started. Does not own: its work (`worker.ts`).
 */

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Totals } from './totals.ts';
import { OVER, type Share } from './share.ts';

/** Runs a share of the worlds in its process, after earlier shares, and reports each chunk of them. */
export type Simulate = (share: Share, onChunk: (chunk: Totals) => void) => Promise<void>;

export interface Processes {
  /**
   * Starts another process, which stays. A process that has run many worlds is compiled for them: its first
   * few take as long as hundreds of later ones.
   */
  readonly start: () => Simulate;
  /** Ends them all. */
  readonly close: () => void;
}

export async function openProcesses(): Promise<Processes> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-simulate-'));
  const worker = join(folder, 'worker.mjs');
  const running = new Set<ChildProcess>();
  const close = (): void => {
    for (const child of running) child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await build({
      entryPoints: [join(import.meta.dirname, 'worker.ts')],
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // Code that only a world over a file needs is loaded only for one.
      splitting: true,
      platform: 'node',
      format: 'esm',
      plugins: [FROM_HERE],
    });
  } catch (error) {
    close();
    throw error;
  }
  const start = (): Simulate => {
    const child = fork(worker, [], { execArgv: FLAGS });
    running.add(child);
    child.once('exit', () => running.delete(child));
    let last = Promise.resolve();
    return (share, onChunk) => (last = last.then(() => runIn(child, share, onChunk)));
  };
  return { start, close };
}

/** Packages that cannot be bundled, or would make the bundle large: it has no package beside it. */
const FROM_HERE: Plugin = {
  name: 'from-here',
  setup: (bundling) => {
    const { resolve } = createRequire(import.meta.url);
    bundling.onResolve({ filter: /^(?:libsql|@aws-sdk\/client-dynamodb)$/ }, ({ path }) => ({
      path: pathToFileURL(resolve(path)).href,
      external: true,
    }));
  },
};

/** A young generation with room for a bunch of worlds: objects that are dead by its end cost nothing. */
const YOUNG_MB = 16;

/**
 * Eight times the budget after which Node 20 optimises a function. A world's code is spread over thousands of
 * functions: four threads compiled each, gave it up and compiled it again, for a third of the processor time.
 * Later versions refuse the option.
 */
const OPTIMISED_LATE = process.versions.node.startsWith('20.') ? ['--interrupt-budget=540672'] : [];

/** `--maglev` adds the compiler between the two that Node 20 uses; later versions use it anyway. */
const FLAGS = [
  `--min-semi-space-size=${YOUNG_MB}`,
  `--max-semi-space-size=${YOUNG_MB}`,
  ...OPTIMISED_LATE,
  '--maglev',
];

function runIn(child: ChildProcess, share: Share, onChunk: (chunk: Totals) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      child.off('message', hear).off('error', fail).off('exit', ended);
    };
    const fail = (error: Error): void => {
      over();
      reject(error);
    };
    const ended = (code: number | null): void => fail(new Error(`a simulating process ended with ${code}`));
    const hear = (told: unknown): void => {
      if (told !== OVER) return onChunk(told as Totals);
      over();
      resolve();
    };
    child.on('message', hear).on('error', fail).on('exit', ended);
    child.send(share);
  });
}
