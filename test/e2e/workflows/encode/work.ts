/** The work of all the agents. */

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { type AttemptContext, TransientError } from 'steadfast';

export interface Input {
  readonly journal: string;
  readonly ms: number;
  readonly wedge?: boolean | undefined;
  readonly fail?: boolean | undefined;
  readonly film?: string | undefined;
}

interface Film {
  readonly journal: string;
  readonly height: number;
}

const tellerOf =
  ({ attempt }: AttemptContext, journal: string) =>
  (what: string, pid = process.pid): void =>
    appendFileSync(journal, `${what} ${attempt} ${pid} ${Date.now()}\n`);

/** At height 1080, starts a program, stops at 47 %, and ignores its abort signal. */
export async function film(ctx: AttemptContext, { journal, height }: Film): Promise<{ height: number }> {
  const tell = tellerOf(ctx, journal);
  tell(`begun-${height}`);
  if (height === 1080) {
    tell('program', spawn('sleep', ['600'], { stdio: 'ignore' }).pid);
    for (;;) {
      ctx.progress(0.47);
      await new Promise((again) => setTimeout(again, 100));
    }
  }
  tell(`done-${height}`);
  return { height };
}

export async function unfilm(ctx: AttemptContext, { journal, height }: Film): Promise<void> {
  tellerOf(ctx, journal)(`undone-${height}`);
}

export async function work(
  ctx: AttemptContext,
  { journal, ms, wedge, fail, film: reel }: Input,
): Promise<{ attempt: number; film: string | undefined }> {
  const { attempt } = ctx;
  const tell = tellerOf(ctx, journal);
  tell('begun');
  if (attempt === 1 && wedge === true) {
    const program = spawn('sleep', ['600'], { stdio: 'ignore' });
    tell('program', program.pid);
    // Heartbeats need the event loop; only a kill ends this.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  if (attempt === 1 && fail === true) throw new TransientError('not now');
  if (attempt === 1) await new Promise((done) => setTimeout(done, ms));
  tell('done');
  return { attempt, film: reel };
}
