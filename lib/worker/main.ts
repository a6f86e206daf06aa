/**
 * The worker in a container image; the bundles of the attempt's process and of the agent's code are beside
 * it.
 */

import { join } from 'node:path';
import { runWorker } from './run.ts';

const beside = (file: string): string => join(import.meta.dirname, file);

try {
  await runWorker({ entry: beside('attempt.mjs'), module: beside('index.mjs') });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
