/** A workflow of two steps for a server, and servers over a file that is removed with the test. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { AgentHandler } from '../../lib/agent/handler.ts';
import { agent, type AttemptContext, retry, workflow } from '../../lib/index.ts';
import { type Client, createClient } from '../../lib/client.ts';
import { startServer, type Server } from '../../serve/server.ts';
import type { ServerOptions } from '../../serve/server-options.ts';
import type { Served } from '../../serve/workflows.ts';

const text = z.object({ text: z.string() });

export const compose = agent('compose', { input: text, output: text, effect: 'none' });
export const post = agent('post', {
  input: text,
  output: text,
  effect: 'idempotent',
  undo: 'none',
});

export const greeting = workflow('greeting', { input: text, within: '1h' }, (w) => {
  const written = w.step('compose', compose, { text: w.input.text });
  const recovery = [retry(5, { delay: '10ms', maxDelay: '10ms' })];
  return w.step('post', post, { text: written.output.text }, { recovery }).output;
});

type Post = (input: { readonly text: string }, ctx: AttemptContext) => Promise<{ text: string }>;

/** @param work what the second step does */
export function servedWith(work: Post): Served {
  const handlers: readonly [string, AgentHandler][] = [
    ['compose', compose.handler({ execute: async (_, input) => ({ text: `Hello, ${input.text}` }) })],
    ['post', post.handler({ execute: (ctx, input) => work(input, ctx) })],
  ];
  const agents = handlers.map(([name, { worker }]) => [name, { worker, isIsolated: false }] as const);
  return { workflows: [greeting], agents: new Map(agents), triggers: [], forms: {}, warnings: [] };
}

export interface TestServer {
  readonly file: string;
  /** Starts a server over the file; all are stopped at the end. */
  readonly start: (options: Partial<ServerOptions> & Pick<ServerOptions, 'served'>) => Promise<Server>;
  readonly end: () => Promise<void>;
}

export function testServer(): TestServer {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-serve-'));
  const file = join(folder, 'state.db');
  const started: Server[] = [];
  return {
    file,
    start: async (options) => {
      const server = await startServer({ file, port: 0, isQuiet: true, ...options });
      started.push(server);
      return server;
    },
    end: async () => {
      for (const server of started) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const clientOf = ({ url }: Server): Client<{ greeting: typeof greeting }> => createClient({ url });
