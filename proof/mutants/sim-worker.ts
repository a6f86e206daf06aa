/**
 * Simulates worlds of one tree until the first violation: `sim-worker.ts <root> <mode> <worlds> <max seconds
 * of the processor> [<seeds that come first>]`.
 *
 * Prints one JSON line: the verdict, the worlds that ended, and the first violation with its seed.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FaultMode } from './mutant.ts';

export interface SimVerdict {
  /** 'slow': the processor time was used up. 'stuck': no world ended for a large part of it. */
  readonly kind: 'clean' | 'violation' | 'threw' | 'slow' | 'stuck';
  readonly worlds: number;
  readonly detail?: string;
}

interface Result {
  readonly seed: number;
  readonly violations: readonly string[];
}
interface Runner {
  readonly runWorlds: (
    seeds: Iterable<number>,
    mode: FaultMode,
    onResult: (result: Result) => void,
  ) => Promise<void>;
}

/** More processor time than any world takes without a mutant (some 15 s at most). */
const STUCK_MS = 40_000;

/** This process's processor time, which the load of other processes does not change. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const [root = '', mode = 'all', count = '1', maxSeconds = '60', given = ''] = process.argv.slice(2);
let worlds = 0;
let lastEndAt = 0;

function finish(kind: SimVerdict['kind'], detail?: string): never {
  const verdict: SimVerdict = { kind, worlds, ...(detail === undefined ? {} : { detail }) };
  process.stdout.write(`${JSON.stringify(verdict)}\n`, () => process.exit());
  throw new Error('over');
}

process.on('uncaughtException', (error) => {
  if (error.message !== 'over') finish('threw', error.message.slice(0, 300));
});

const { runWorlds } = (await import(pathToFileURL(join(root, 'proof/simulation/run.ts')).href)) as Runner;
const startedAt = processorMs();
lastEndAt = startedAt;
setInterval(() => {
  if (processorMs() - lastEndAt > STUCK_MS) finish('stuck');
  if (processorMs() - startedAt > Number(maxSeconds) * 1_000) finish('slow');
}, 200).unref();

const early = given === '' ? [] : given.split(',').map(Number);
const seeds = new Set([...early, ...Array.from({ length: Number(count) }).keys()]);
await runWorlds(seeds, mode as FaultMode, (result) => {
  worlds += 1;
  lastEndAt = processorMs();
  const [first] = result.violations;
  if (first !== undefined) finish('violation', `seed ${result.seed}: ${first.slice(0, 200)}`);
});
finish('clean');
