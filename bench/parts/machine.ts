/** The machine of a measurement, for comparisons. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Machine {
  readonly at: string;
  /** The commit of the code, with a + if it was changed since; where there is a repository. */
  readonly commit?: string;
  readonly processors: number;
  readonly model: string;
  readonly memoryGb: number;
  /** Load averages of the last minute and five minutes: they show other processes at work. */
  readonly load: readonly number[];
  readonly node: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** When, and beside what: of a part of a section that was taken on its own. */
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

/** What is measured, and by what. */
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
