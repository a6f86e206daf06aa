/** Runs `steadfast serve` as a process that a test can kill. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../..');

export interface ServeProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The output of the process so far, line by line. */
  readonly lines: readonly string[];
  /** Resolves once its output satisfies `isSo`. @throws Error with its output if it ends before that */
  readonly wrote: (isSo: (lines: readonly string[]) => boolean) => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
}

/**
 * Resolves once it prints its address.
 * @param behind a program that starts it
 * @throws Error with its output if it ends before that
 */
export async function serveProcess(
  args: readonly string[],
  env: object = {},
  behind: readonly string[] = [],
): Promise<ServeProcess> {
  const command = [process.execPath, join(ROOT, 'bin/steadfast.cjs'), 'serve', ...args, '--port', '0'];
  const [program = '', ...rest] = [...behind, ...command];
  const child = spawn(program, rest, {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const gone = once(child, 'close');
  const waiting = new Set<() => void>();
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      for (const ask of waiting) ask();
    });
  const wrote: ServeProcess['wrote'] = (isSo) =>
    new Promise((found, failed) => {
      const ask = (): void => {
        if (!isSo(lines)) return;
        waiting.delete(ask);
        found();
      };
      waiting.add(ask);
      ask();
      void gone.then(() => failed(new Error(lines.join('\n'))));
    });
  const address = (): string | undefined =>
    lines.map((line) => /^Steadfast serves at (\S+)/.exec(line)?.[1]).find((at) => at !== undefined);
  await wrote(() => address() !== undefined);
  return {
    url: address() ?? '',
    child,
    lines,
    wrote,
    kill: async (signal) => {
      child.kill(signal);
      const [code, by] = (await gone) as [number | null, NodeJS.Signals];
      return code ?? by;
    },
  };
}
