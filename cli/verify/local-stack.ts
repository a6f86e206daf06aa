/**
 * The stack of `verify` on a local cloud, started from its template for one run.
 *
 * Owns: its folder, and that nothing is left behind. Does not own: synthesis and start (`../dev/`), what is
 * checked.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile, typescriptLoader } from '../../lib/project/package-files.ts';
import { type Chosen, type Project, steadfastIn } from '../dev/project.ts';
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

export interface LocalStack {
  readonly apiUrl: string;
  readonly logs: string;
  readonly stop: () => Promise<void>;
}

/** @param assembly synthesised before; without it, it is made now */
export async function startLocalStack(io: Io, assembly?: string): Promise<LocalStack> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-verify-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const found = await assemblyOf(join(folder, 'cdk.out'), io, assembly);
    const logs = join(folder, 'cloud', 'logs');
    const system = await startSystem(
      { found, folder: { path: folder, logs }, port: 0, environment: {}, beside: {}, onWritten: () => {} },
      { ...io, out: io.err },
    );
    return {
      apiUrl: system.apiUrl,
      logs,
      stop: async () => {
        await system.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function assemblyOf(outdir: string, io: Io, assembly: string | undefined): Promise<Chosen> {
  if (assembly !== undefined) return steadfastIn(assembly);
  await synthesise(verifyProject(), outdir, { ...io, out: io.err }, new AbortController().signal, {});
  return steadfastIn(outdir);
}
