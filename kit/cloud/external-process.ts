/**
 * Runs the `dev.ts` of workflow folders in a separate process, because external services are not part of the
 * test.
 *
 * Does not own: what a `dev.ts` is (`cli/dev/external-parties.ts`). The process ends when its channel closes,
 * so that it also ends if its parent is killed.
 */

import { startExternalParties } from '../../cli/dev/external-parties.ts';
import type { WorkflowFolder } from '../../cli/dev/workflow-folders.ts';
import { ioOf, messageOf } from '../../cli/io.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The task of the process. */
export interface ExternalTask {
  readonly folders: readonly WorkflowFolder[];
  readonly dataDir: string;
}

/** The one answer of the process. */
export type ExternalStarted =
  | { readonly environment: Readonly<Record<string, string>> }
  | { readonly problem: string };

const stops: (() => Promise<void>)[] = [];
process.once('disconnect', () => {
  void Promise.all(stops.map((stop) => stop())).finally(() => process.exit());
});
process.once('message', (task: ExternalTask) => {
  void started(task).then((answer) => process.send?.(answer));
});

async function started({ folders, dataDir }: ExternalTask): Promise<ExternalStarted> {
  const dataDirOf = (name: string): string => {
    const path = join(dataDir, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const io = ioOf({ out: () => true, err: () => true, env: process.env, isTTY: false });
  try {
    return { environment: await startExternalParties(folders, dataDirOf, io, (stop) => stops.push(stop)) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
