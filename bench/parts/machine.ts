/** The machine of a measurement, for comparisons. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Machine {
  readonly at: string;
  /** The commit of the code, with a + if the code was changed since; absent without a repository. */
  readonly commit?: string;
  readonly processors: number;
  readonly model: string;
  readonly memoryGb: number;
  /** Load averages over one minute and five minutes: they reveal other processes. */
  readonly load: readonly number[];
  readonly node: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** When, at which commit and under which load a part of a section was measured separately. */
export type Taken = Pick<Machine, 'at' | 'commit' | 'load'>;

const ROOT = join(import.meta.dirname, '..', '..');
const GIGABYTE = 1_024 ** 3;
const NAMED = ['@aws-sdk/client-dynamodb', '@aws-sdk/client-sqs', '@dynoxide/linux-x64'] as const;

export function machine(): Machine {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly dependencies: Record<string, string>;
    readonly optionalDependencies: Record<string, string>;
  };
  const all = { ...manifest.optionalDependencies, ...manifest.dependencies };
  return {
    ...takenNow(),
    processors: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / GIGABYTE),
    node: process.version,
    versions: {
      steadfast: manifest.version,
      ...Object.fromEntries(NAMED.map((name) => [name, all[name] ?? ''])),
    },
  };
}

export const takenNow = (): Taken => ({
  at: new Date().toISOString(),
  ...commitNow(),
  load: loadavg()
    .slice(0, 2)
    .map((value) => Math.round(value * 10) / 10),
});

/** The measured code, and the code that measures it. */
const CODE = ['lib', 'lambdas', 'local', 'bench', ':!bench/results', 'package-lock.json'];

function commitNow(): Pick<Machine, 'commit'> {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const isChanged = git('status', '--porcelain', '--', ...CODE) !== '';
    return { commit: `${git('rev-parse', '--short', 'HEAD')}${isChanged ? '+' : ''}` };
  } catch {
    return {};
  }
}
