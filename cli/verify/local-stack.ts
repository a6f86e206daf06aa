/**
 * Runs the stack of `verify` on a local cloud, for one run.
 *
 * Owns: its folder, and removing all at the end. Does not own: synthesis and start (`../dev/`), the checks.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile, typescriptLoader } from '../../lib/project/package-files.ts';
import { type Project, steadfastIn } from '../dev/project.ts';
import { synthesise } from '../dev/synthesis.ts';
import { startSystem } from '../dev/system.ts';
import type { Io } from '../io.ts';

/** The CDK app of the checks. */
export const verifyProject = (): Project => ({
  root: process.cwd(),
  app: [process.execPath, '--import', typescriptLoader(), programFile('cli/verify/stack/app')]
    .map((each) => `"${each}"`)
    .join(' '),
  context: {},
});

export async function startLocalStack(
  terminal: Io,
): Promise<{ readonly apiUrl: string; readonly stop: () => Promise<void> }> {
  const path = mkdtempSync(join(tmpdir(), 'steadfast-verify-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  const outdir = join(path, 'cdk.out');
  const io = { ...terminal, out: terminal.err };
  try {
    await synthesise(verifyProject(), outdir, io, new AbortController().signal, {});
    const folder = { path, logs: join(path, 'cloud', 'logs') };
    const none = { port: 0, environment: {}, beside: {}, onWritten: () => {} };
    const { apiUrl, stop } = await startSystem({ found: steadfastIn(outdir), folder, ...none }, io);
    return { apiUrl, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
