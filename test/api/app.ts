/** The HTTP app on ports in memory, called as by a client. Every answer is checked against the contract. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { routes } from '../../lib/api/routes.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { Ports, Receipts } from '../../lib/core/ports.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { expectDescribed } from './described.ts';
import { anAgent, harness, type Harness } from '../engine/harness.ts';

const CONTRACT = join(import.meta.dirname, '..', '..', 'docs', 'openapi.json');

const worker = anAgent('worker');
const order = z.object({
  orderId: z.string().check(z.minLength(1)),
  items: z.optional(z.array(z.object({ sku: z.string() }))),
  note: z.optional(z.any()),
  choices: z.optional(z.array(z.union([z.object({ sku: z.string() }), z.object({ amount: z.number() })]))),
});

export const flow = workflow('flow', { input: order, within: '1h' }, (w) => {
  const a = w.step('a', worker, { secret: 'do-not-show' } as never, { recovery: [retry(0)] });
  w.step('b', worker, {}, { recovery: [retry(0)], after: [a] });
  return { order: w.input.orderId };
});

/** Forms as synthesis makes them. */
export const FORMS = { input: { type: 'object' }, example: { orderId: 'o-1' }, steps: { a: { output: {} } } };

export interface Answer {
  readonly status: number;
  readonly body: Record<string, Json | undefined>;
  readonly location: string | null;
}

export interface Client extends Harness {
  readonly receipts: Receipts;
  readonly get: (path: string) => Promise<Answer>;
  /** Sends a text unchanged, anything else as JSON. */
  readonly post: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly ask: (path: string, init: RequestInit) => Promise<Answer>;
  readonly begun: (body?: object) => Promise<string>;
}

export function client(
  execute: () => Promise<unknown> = async () => ({ ok: true }),
  wrap?: (world: MemoryWorld) => Ports,
  served: Workflow = flow as Workflow,
): Client {
  const h = harness(served, { worker: { execute, undo: async () => undefined } }, 1, wrap);
  const receipts = memoryReceipts();
  const app = routes(
    h.scheduler,
    receipts,
    () => readFile(CONTRACT, 'utf8'),
    async () => ({ flow: FORMS }),
  );
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await app.request(path, init);
    const text = await response.text();
    // No answer to any request shows internals: no stack, no file.
    expect(text).not.toMatch(/\n\s+at |\.ts:\d|node_modules/);
    const body = JSON.parse(text) as Answer['body'];
    expectDescribed(init.method ?? 'GET', path, response.status, body);
    return { status: response.status, body, location: response.headers.get('location') };
  };
  const post: Client['post'] = (path, body, headers = {}) =>
    ask(path, {
      method: 'POST',
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    ...h,
    receipts,
    ask,
    get: (path) => ask(path, { method: 'GET' }),
    post,
    begun: async (body = { input: { orderId: 'o-1' } }) =>
      String((await post(`/workflows/${served.name}/executions`, body)).body['executionId']),
  };
}
