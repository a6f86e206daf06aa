/**
 * Simulating processes, from code that is compiled once for all of them: what a loader adds to every function for its name
 * costs a tenth of the time, and what a test runner adds another.
 *
 * Owns: the bundle, how a process is started. Does not own: what it does (`worker.ts`).
 */

import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Totals } from './totals.ts';
import type { Share } from './worker.ts';

/** Runs a share of the worlds in a process of its own, and tells of each chunk of them. */
export type Simulate = (share: Share, onChunk: (chunk: Totals) => void) => Promise<void>;

/** @param use may start processes until it is over */
export async function withProcesses<Result>(use: (simulate: Simulate) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-simulate-'));
  try {
    const worker = join(folder, 'worker.mjs');
    const entry = join(import.meta.dirname, 'worker.ts');
    await build({ entryPoints: [entry], outfile: worker, bundle: true, platform: 'node', format: 'esm' });
    return await use((share, onChunk) => inProcess(worker, share, onChunk));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A young generation in which a bunch of worlds finds room: what is dead by its end costs nothing. */
const YOUNG_MB = 16;

function inProcess(worker: string, share: Share, onChunk: (chunk: Totals) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    // The compiler between the two that Node 20 uses; a later one uses it anyway.
    const execArgv = [`--min-semi-space-size=${YOUNG_MB}`, `--max-semi-space-size=${YOUNG_MB}`, '--maglev'];
    const child = fork(worker, [], { execArgv });
    child.on('message', (chunk) => onChunk(chunk as Totals));
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a simulating process ended with ${code}`)),
    );
    child.send(share);
  });
}
