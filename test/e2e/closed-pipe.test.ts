/** The command line ends quietly if its reader closes the pipe: `npx steadfast … | head`. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

it('a reader that has seen enough ends the command, without an error', async () => {
  const args = ['--import', 'tsx', 'bin/steadfast.ts', 'graph', 'order-fulfilment'];
  const command = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  command.stdout.destroy();
  const errors: Buffer[] = [];
  command.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = (await once(command, 'close')) as [number | null];
  expect([code, Buffer.concat(errors).toString()]).toEqual([0, expect.not.stringContaining('EPIPE')]);
});
