/**
 * Runs one command of the CDK. Owns: the child process, and the text of its failure. Does not own: what is
 * deployed (`throwaway.ts`).
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Project } from '../dev/project.ts';
import { CliError, EXIT, type Io } from '../io.ts';

const MOST_CHARS = 2_000;

/** @throws CliError `cdk` with the end of the command's output */
export async function cdk(
  io: Io,
  { root, app }: Project,
  region: string,
  args: readonly string[],
): Promise<void> {
  const env = { ...process.env, AWS_REGION: region };
  const child = spawn('npx', ['cdk', ...args, '--app', app], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => {
      said += more;
    });
  io.err(`cdk ${args.join(' ')}\n`);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return;
  const end = said.trim().slice(-MOST_CHARS);
  throw new CliError('cdk', `cdk ${args[0] ?? ''} ended with ${code}: ${end}`, EXIT.failed);
}
