/**
 * Starts the local services of workflow folders: `<folder>/dev.ts` starts the services that the folder's
 * agents call.
 *
 *     export default async function startDev(context: { dataDir: string; log(line: string): void }):
 *       Promise<{ environment?: Record<string, string>; stop(): Promise<void> }>
 *
 * Owns: running each file before the local cloud, and collecting the environment for all functions. Does not
 * own: the services. A deployment ignores these files.
 */

import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, EXIT, type Io, messageOf } from '../io.ts';
import type { WorkflowFolder } from './workflow-folders.ts';

export interface DevContext {
  /** The services' data folder; it survives restarts, and `--fresh` empties it. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
}

export interface DevExternalParty {
  /** Added to every function's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

type StartDev = (context: DevContext) => Promise<DevExternalParty>;

/**
 * Runs each file that is not yet running.
 * @param running the running files, to which new ones are added
 * @throws CliError `dev-file` with the file's name
 */
export async function startExternalParties(
  folders: readonly WorkflowFolder[],
  dataDirOf: (name: string) => string,
  io: Io,
  onStarted: (stop: () => Promise<void>) => void,
  running: Set<string> = new Set<string>(),
): Promise<Readonly<Record<string, string>>> {
  const environment: Record<string, string> = {};
  for (const { name, devFile } of folders) {
    if (devFile === undefined || running.has(devFile)) continue;
    const log = (line: string): unknown => io.out(`${name}: ${line}\n`);
    const started = await startOne(devFile, { dataDir: dataDirOf(name), log });
    running.add(devFile);
    onStarted(() => started.stop());
    Object.assign(environment, started.environment);
  }
  return environment;
}

async function startOne(file: string, context: DevContext): Promise<DevExternalParty> {
  const shown = relative(process.cwd(), file);
  try {
    const { default: exported } = (await import(pathToFileURL(file).href)) as { default?: unknown };
    // For a CommonJS module, `default` is the whole export.
    const startDev = (Object(exported) as { default?: unknown }).default ?? exported;
    if (typeof startDev !== 'function') {
      throw new Error(
        'it has no default export; write: export default async function startDev(context) { … }',
      );
    }
    const started = (await (startDev as StartDev)(context)) as DevExternalParty | undefined;
    if (typeof started?.stop !== 'function') throw new Error('startDev must return { environment?, stop() }');
    return started;
  } catch (error) {
    const said = messageOf(error);
    throw new CliError('dev-file', `${shown} cannot be started: ${said}`, EXIT.failed);
  }
}
