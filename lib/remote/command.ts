/**
 * Runs a call as a process of its own: the call is a line on its stdin; progress and the answer are lines on
 * its stdout.
 *
 * Owns: the process, and that none of its programs remains once its call has ended. Does not own: the content
 * of a line (`contract.ts`), the process of the attempt (`worker/attempt-process.ts`).
 *
 * W2 No program outlives its worker. A command has its own process group, so that it can be killed with all
 * that it started while the attempt's process continues. A kill of the attempt's process would not reach that
 * group; so a shell in the group waits on a pipe whose other end only the attempt's process has, and kills
 * the group when that end closes.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { AbortSignalLike } from '../core/plan/agent.ts';
import { TransientError } from '../core/values/errors.ts';
import { type Answer, AnswerReader, type RemoteCall } from './contract.ts';
import type { Progress, Send } from './http.ts';
import type { CommandTarget } from './target.ts';

/** The file descriptor at which the shell finds its pipe. */
const PIPE_FD = 3;
/** `cat` ends when the other end of the pipe closes. `kill 0` signals the whole group. */
const GUARD = `(exec <&${PIPE_FD} >/dev/null 2>&1; cat; kill -KILL 0) & exec ${PIPE_FD}<&-; exec "$@"`;

interface Started {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Kills the group. */
  readonly kill: () => void;
}

/** Sends calls to a command. After its answer the process is killed, with everything that it started. */
export function commandSend({ command, folder = process.cwd() }: CommandTarget): Send {
  return async (call, signal, progress) => {
    refuseMissing(command[0] ?? '', folder);
    return await exchange(start(command, folder), call, signal, progress);
  };
}

function start(command: readonly string[], folder: string): Started {
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', ...command], {
    cwd: folder,
    // Read at each call, because a test changes its own copy.
    env: process.env,
    detached: true,
    // The program uses its stderr as its log, which goes to the worker's stderr.
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const [stdin, stdout, , pipe] = child.stdio as unknown as [Writable, Readable, null, Writable];
  for (const stream of [stdin, stdout, pipe]) stream.on('error', () => undefined);
  const kill = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
    pipe.destroy();
  };
  return { child, stdin, stdout, kill };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

/** @throws TransientError: nothing has begun, and another container may have the program */
function refuseMissing(program: string, folder: string): void {
  const places = program.includes('/')
    ? [resolve(folder, program)]
    : (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, program));
  const isThere = places.some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (isThere) return;
  throw new TransientError(
    `nothing was begun: there is no program '${program}' ${program.includes('/') ? `in ${folder}` : 'in PATH'}; put it into the image (container.baseImage)`,
  );
}

/** Resolves or rejects once the process is dead, so that none of its actions can come after its result. */
function exchange(
  { child, stdin, stdout, kill }: Started,
  call: RemoteCall,
  signal: AbortSignalLike,
  progress: Progress,
): Promise<Answer> {
  const reader = new AnswerReader(call.call, progress);
  return new Promise((succeed, fail) => {
    let finish: (() => void) | undefined;
    /** Only the first result counts. */
    const end = (how: () => void): void => {
      finish ??= how;
      kill();
      // A program that left the group may keep the pipe open; no more is read from it.
      stdout.destroy();
    };
    const attempt = (read: () => Answer | undefined): void => {
      if (finish !== undefined) return;
      try {
        const answer = read();
        if (answer !== undefined) end(() => succeed(answer));
      } catch (error) {
        end(() => fail(error));
      }
    };
    const abort = (): void =>
      end(() =>
        fail(
          Object.assign(new Error('the command was killed: the attempt was aborted'), { code: 'aborted' }),
        ),
      );
    const over = (): void => {
      signal.removeEventListener('abort', abort);
      finish?.();
    };
    signal.addEventListener('abort', abort);
    stdout.on('data', (chunk: Buffer) => attempt(() => reader.push(chunk)));
    child.once('error', (error) => {
      finish = () => fail(new TransientError(`nothing was begun: ${error.message}`, { cause: error }));
      if (child.pid === undefined) over();
    });
    // A process that the program left in the group would keep stdout open.
    child.once('exit', kill);
    child.once('close', (code, by) => {
      attempt(() => withEnding(reader, code, by));
      over();
    });
    if (signal.aborted) abort();
    else stdin.end(`${JSON.stringify(call)}\n`);
  });
}

function withEnding(reader: AnswerReader, code: number | null, by: NodeJS.Signals | null): Answer {
  try {
    return reader.end();
  } catch (error) {
    if (Object(error).code !== 'no-answer') throw error;
    const how = by === null ? `with exit code ${code}` : `by ${by}`;
    throw Object.assign(new Error(`the command ended ${how} and without an answer`), { code: 'no-answer' });
  }
}
