/**
 * Makes the assembly: the CDK app in a process of its own, as `cdk synth` runs it, but without CloudFormation's own rules:
 * they take seconds of each start, and whatever is deployed is asked them.
 *
 * Owns: its error as it said it. Does not own: the app (`bin/app.ts`).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CliError, EXIT, type Io } from '../io.ts';
import { showProgress } from './progress.ts';

const WHAT = 'Synthesising the template that would be deployed';

/**
 * @param context beside that of cdk.json
 * @throws CliError `synthesis` with what the app said
 */
export async function synthesise(
  root: string,
  outdir: string,
  io: Io,
  signal: AbortSignal,
  context: Readonly<Record<string, unknown>>,
): Promise<void> {
  const startedAt = Date.now();
  const progress = showProgress(io, WHAT, 5);
  const child = spawn(process.execPath, ['--import', 'tsx', 'bin/app.ts'], {
    cwd: root,
    env: {
      CDK_VALIDATION: 'false',
      ...process.env,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): boolean => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  const said = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  signal.removeEventListener('abort', end);
  progress.end(code === 0 ? `done in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s` : 'failed');
  if (code === 0) return;
  throw new CliError(
    'synthesis',
    said().trim() || 'the CDK app (bin/app.ts) ended without a word',
    EXIT.failed,
  );
}

function collect(child: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}
