/**
 * openworkflow on SQLite: a worker in this process polls the database for work. Its defaults, except 64 at
 * once.
 *
 * The end comes from the backend that writes it, because the handle's own `result()` polls once a second.
 */

import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { OpenWorkflow } from 'openworkflow';
import { BackendSqlite } from 'openworkflow/sqlite';
import { noOp, type Payload, PAYLOAD, type Start, STEPS, timed } from '../contract.ts';

const CONCURRENCY = 64;

export const start: Start = async (folder) => {
  const path = join(folder, 'openworkflow.db');
  const backend = BackendSqlite.connect(path);
  const ends = endsOf(backend);
  const engine = new OpenWorkflow({ backend });
  const chain = engine.defineWorkflow<Payload, Payload>({ name: 'chain5' }, async ({ input, step }) => {
    let data = input;
    for (let at = 0; at < STEPS; at += 1) {
      const before = data;
      data = await step.run({ name: `s${at}` }, () => noOp(before));
    }
    return data;
  });
  const worker = engine.newWorker({ concurrency: CONCURRENCY });
  await worker.start();
  return {
    server: `SQLite ${process.versions['sqlite'] ?? ''} of node:sqlite`,
    durableBy: `SQLite, ${howKept(path)}`,
    runOne: () =>
      timed(async () => {
        const { workflowRun } = await chain.run(PAYLOAD);
        return await ends(workflowRun.id);
      }),
    stop: async () => {
      await worker.stop();
      await backend.stop();
    },
  };
};

type Ends = (id: string) => Promise<unknown>;

function endsOf(backend: BackendSqlite): Ends {
  const known = new Map<string, unknown>();
  const waiting = new Map<string, (output: unknown) => void>();
  const complete = backend.completeWorkflowRun.bind(backend);
  backend.completeWorkflowRun = async (params) => {
    const run = await complete(params);
    const wake = waiting.get(run.id);
    if (wake === undefined) known.set(run.id, run.output);
    else wake(run.output);
    waiting.delete(run.id);
    return run;
  };
  return (id) =>
    new Promise((resolve) => {
      if (!known.has(id)) return void waiting.set(id, resolve);
      resolve(known.get(id));
      known.delete(id);
    });
}

/**
 * The journal mode belongs to the file; `synchronous` belongs to each connection, and openworkflow leaves
 * SQLite's default.
 */
function howKept(path: string): string {
  const database = new DatabaseSync(path);
  const value = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const how = `journal_mode ${String(value('journal_mode'))}, synchronous ${value('synchronous') === 2 ? 'full' : String(value('synchronous'))}`;
  database.close();
  return how;
}
