/**
 * Starts a server for a test, in the test's process.
 *
 * Does not own: the server, its client. Time is real, unlike with `testWorkflow`.
 */

import { resolve } from 'node:path';
import { refuse } from '../../lib/core/values/errors.ts';
import { signingKey } from '../../lib/notifications/signed-event.ts';
import { startServer } from '../../serve/server.ts';
import { IN_MEMORY } from '../../serve/sqlite/file.ts';
import { foldersOf, loadWorkflows, type Served } from '../../serve/workflows.ts';
import { declaredIn } from '../test-options.ts';
import type { TestAgent } from '../workflow-test.ts';
import type { TestServer, TestServerOptions } from './test-server.ts';

export async function start(options: TestServerOptions): Promise<Omit<TestServer, 'client'>> {
  const { file = IN_MEMORY, stopWithinMs = 0, logs = false, onEvent, eventsSecret, rates } = options;
  const { url, resumed, stop } = await startServer({
    served: await servedOf(options),
    file,
    port: 0,
    stopWithinMs,
    isQuiet: !logs,
    ...(rates === undefined ? {} : { rates }),
    ...(onEvent === undefined ? {} : { listeners: [onEvent] }),
    ...(eventsSecret === undefined
      ? {}
      : { notificationSecret: keyOf(eventsSecret), allowsPrivateNotifications: true }),
  });
  return { url, resumed, stop };
}

function keyOf(secret: string): Buffer {
  const key = signingKey(secret);
  if (typeof key === 'string') throw refuse('bad-secret', `eventsSecret ${key}`);
  return key;
}

async function servedOf({ workflows, agents = [] }: TestServerOptions): Promise<Served> {
  if (typeof workflows === 'string') {
    if (agents.length > 0)
      throw refuse('bad-agents', 'agents: those of a folder are found in it; leave out agents');
    const { root, folders, only } = foldersOf(resolve(workflows));
    return loadWorkflows(root, folders, only);
  }
  const workers = [...workflows.flatMap(declaredIn), ...agents.map(({ worker }) => worker)];
  const known = new Map(workers.map((worker) => [worker.agent.spec.name, worker]));
  const names = workflows.flatMap(({ agents: used }) => used.map(({ spec }) => spec.name));
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined)
    throw refuse('missing-agent', `agents has no implementation of '${missing}'; pass its handler`);
  const hosted = [...known].map(
    ([name, worker]: [string, TestAgent['worker']]) => [name, { worker, isIsolated: false }] as const,
  );
  return {
    workflows,
    agents: new Map(hosted),
    triggers: [],
    forms: {},
    warnings: [],
  };
}
