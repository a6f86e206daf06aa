/**
 * Our server over one file, with its log and its metrics. Variant `workers`: agents run in a separate
 * process, as with `npx steadfast serve`; in the other variants they run in the server's process. Variant
 * `http`: called over HTTP, like Restate, and the request waits for the end. Otherwise: called in the
 * process, like DBOS and openworkflow.
 */

import { join } from 'node:path';
import { createClient } from '../../../lib/client.ts';
import { PACKAGE_ROOT } from '../../../lib/project/package-files.ts';
import { startServer } from '../../../serve/server.ts';
import { loadWorkflows } from '../../../serve/workflows.ts';
import { PAYLOAD, type Start, timed } from '../contract.ts';

export const start: Start = async (folder, variant) => {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (id: string): PromiseWithResolvers<void> => {
    const known = ends.get(id) ?? Promise.withResolvers<void>();
    ends.set(id, known);
    return known;
  };
  const server = await startServer({
    served: await loadWorkflows(PACKAGE_ROOT, ['bench/workflows']),
    file: join(folder, 'state.db'),
    port: 0,
    agents: variant === 'workers' ? 'workers' : 'in-process',
    listeners: [
      ({ detail }) => {
        // An execution may end before its start is answered.
        endOf(String(detail['executionId'])).resolve();
      },
    ],
  });
  const client = createClient({ url: server.url });
  const inProcess = async (): Promise<unknown> => {
    const { body } = await server.answer({
      method: 'POST',
      path: '/workflows/chain5/executions',
      body: { input: PAYLOAD, idempotencyKey: crypto.randomUUID() },
    });
    const { executionId } = body as { readonly executionId: string };
    await endOf(executionId).promise;
    ends.delete(executionId);
    const ended = await server.answer({ path: `/executions/${executionId}` });
    return (ended.body as { readonly output?: unknown }).output;
  };
  const overHttp = async (): Promise<unknown> => (await client.run('chain5', { input: PAYLOAD })).output;
  return {
    server: 'serve: SQLite of libsql',
    durableBy: 'SQLite, WAL, synchronous=FULL: an fsync for all writes of a turn; its queue in memory',
    runOne: () => timed(variant === 'http' ? overHttp : inProcess),
    stop: server.stop,
  };
};
