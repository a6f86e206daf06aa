/**
 * Runs container workers beside a small stack on the local cloud, and reads the journals of their attempts.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { type LocalWorker, startWorkers } from '../../cli/dev/workers.ts';
import { setSmallStack, type SmallStack } from './small-stack.ts';

export interface Line {
  readonly what: string;
  readonly attempt: number;
  readonly pid: number;
  readonly at: number;
}

export interface Run {
  readonly id: string;
  readonly journal: () => Line[];
  /** Resolves with the first such line. */
  readonly line: (what: string, attempt?: number) => Promise<Line>;
  readonly ended: () => Promise<ExecutionView>;
}

export interface WorkerStage {
  readonly stack: SmallStack;
  /** All lines of the workers. */
  readonly said: readonly string[];
  /** Requests that the local cloud has refused because a permission is missing. */
  readonly denied: readonly string[];
  readonly start: (agent: string, environment?: Record<string, string>) => LocalWorker;
  readonly begin: (workflow: string, input: object) => Promise<Run>;
  /** Starts another worker, and checks that it does the work as a second attempt. */
  readonly doneByAnother: (run: Run) => Promise<void>;
  readonly strike: () => Promise<void>;
}

/** Starts the stage. Each agent has its ECS service, so that the local cloud knows its task's permissions. */
export async function setWorkerStage(): Promise<WorkerStage> {
  const [said, denied, workers]: [string[], string[], LocalWorker[]] = [[], [], []];
  const stack = await setSmallStack({
    workflows: 'encode',
    inContainers: ['encode', 'encode-anew', 'encode-at-length', 'encode-briefly'],
    cloud: { onDenied: ({ message }) => denied.push(message) },
  });
  const start: WorkerStage['start'] = (agent, environment = {}) => {
    const started = startWorkers(stack.assembly, stack.cloud, environment, (text) => said.push(text), [
      agent,
    ]);
    workers.push(...started);
    return started[0]!;
  };
  let runs = 0;
  const begin: WorkerStage['begin'] = async (workflow, input) => {
    runs += 1;
    const file = join(stack.folder, `journal-${runs}`);
    writeFileSync(file, '');
    const id = await stack.begin(workflow, { ...input, journal: file });
    const journal = (): Line[] => linesOf(readFileSync(file, 'utf8'));
    return {
      id,
      journal,
      line: async (what, attempt = 1) => {
        for (;;) {
          const found = journal().find((each) => each.what === what && each.attempt === attempt);
          if (found !== undefined) return found;
          await pause(25);
        }
      },
      ended: () => stack.ended(id),
    };
  };
  return {
    stack,
    said,
    denied,
    start,
    begin,
    doneByAnother: async (run) => {
      const next = start('encode');
      stack.tickNow();
      expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 2 } });
      expect(wordsOf(run)).toEqual(['begun 1', 'begun 2', 'done 2']);
      await next.stop();
    },
    strike: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await stack.strike();
    },
  };
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
    .map(([what = '', attempt, pid, at]) => ({
      what,
      attempt: Number(attempt),
      pid: Number(pid),
      at: Number(at),
    }));

export const exited = (worker: LocalWorker): Promise<number | NodeJS.Signals | null> =>
  new Promise((gone) => worker.process.once('exit', (code, signal) => gone(code ?? signal)));

/** Its journal without times and process ids. */
export const wordsOf = (run: Run): string[] => run.journal().map(({ what, attempt }) => `${what} ${attempt}`);

export async function dead(pid: number): Promise<number> {
  for (;;) {
    try {
      // A zombie has no command line.
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '') return Date.now();
    } catch {
      return Date.now();
    }
    await pause(25);
  }
}
