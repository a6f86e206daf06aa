/**
 * The worker in a container image: beside it lie the attempt's process and the agent's code, both bundled.
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
