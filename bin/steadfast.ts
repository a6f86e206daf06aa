/** The command line: `npx steadfast --help`, started by `steadfast.cjs`. */

import { createInterface } from 'node:readline/promises';
import { run } from '../cli/main.ts';

// The reader has closed the pipe, as in `npx steadfast show … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  isTTY: process.stdout.isTTY,
  ...(process.stdin.isTTY ? { ask } : {}),
});

// A refused module may keep this process alive by a timer or a connection.
if (process.exitCode !== 0) setTimeout(() => process.exit(), 1_000).unref();

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
