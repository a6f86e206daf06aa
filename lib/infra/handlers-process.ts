/**
 * Loads agents' files in a process of its own, for `handlers.ts`. Arguments: the files; writes one
 * `Handled` per line to channel 3.
 */

import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isSteadfastError } from '../core/values/errors.ts';
import type { Handled } from './handlers.ts';

interface WorkerLike {
  readonly agent?: { readonly spec?: { readonly name?: string } };
  readonly implementation?: object;
}

async function handled(file: string): Promise<Handled> {
  try {
    const { handler } = (await import(pathToFileURL(file).href)) as { handler?: { worker?: WorkerLike } };
    const { agent, implementation = {} } = handler?.worker ?? {};
    const parts = Object.entries(implementation).flatMap(([name, part]) =>
      typeof part === 'function' ? [name] : [],
    );
    const name = agent?.spec?.name;
    return { file, ...(name === undefined ? {} : { agent: name }), parts };
  } catch (error) {
    if (isSteadfastError(error) && error.code === 'bad-agent') return { file, refused: error.message };
    return { file, failed: error instanceof Error ? error.message : String(error) };
  }
}

for (const file of process.argv.slice(2)) writeSync(3, `${JSON.stringify(await handled(file))}\n`);
// Ends although modules may have opened connections.
process.exit(0);
