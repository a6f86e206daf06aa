/** What all the agents do. */

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { type AttemptContext, TransientError } from 'steadfast';

export interface Input {
  readonly journal: string;
  readonly ms: number;
  readonly wedge?: boolean | undefined;
  readonly fail?: boolean | undefined;
}

export async function work(
  ctx: AttemptContext,
  { journal, ms, wedge, fail }: Input,
): Promise<{ attempt: number }> {
  const { attempt } = ctx;
  const tell = (what: string): void =>
    appendFileSync(journal, `${what} ${attempt} ${process.pid} ${Date.now()}\n`);
  tell('begun');
  if (attempt === 1 && wedge === true) {
    const program = spawn('sleep', ['600'], { stdio: 'ignore' });
    appendFileSync(journal, `program ${attempt} ${program.pid ?? 0} ${Date.now()}\n`);
    // Heartbeats need the event loop; nothing but a kill ends this.
    for (;;);
  }
  if (attempt === 1 && fail === true) throw new TransientError('not now');
  if (attempt === 1) await new Promise((done) => setTimeout(done, ms));
  tell('done');
  return { attempt };
}
