/**
 * One call of the CDK's command line. Owns: the child process, how its failure reads. Does not own: what is
 * deployed (`throwaway.ts`).
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CliError, EXIT, type Io } from '../io.ts';

export interface CdkApp {
  /** Where it runs. */
  readonly root: string;
  /** A command that synthesises, or an assembly. */
  readonly app: string;
}

const MOST_CHARS = 2_000;

/** @throws CliError `cdk` with the end of what it said */
export async function cdk(
  io: Io,
  { root, app }: CdkApp,
  region: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn('npx', ['cdk', ...args, '--app', app], {
    cwd: root,
    env: { ...process.env, AWS_REGION: region },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Buffer[] = [];
  const keep = (chunk: Buffer): unknown => said.push(chunk);
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  io.err(`cdk ${args.join(' ')}\n`);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return;
  const end = Buffer.concat(said).toString('utf8').trim().slice(-MOST_CHARS);
  throw new CliError('cdk', `cdk ${args[0] ?? ''} ended with ${code}: ${end}`, EXIT.failed);
}
