/**
 * The whole system on the local cloud, from the template that would be deployed, with the example's outside world.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../../examples/order-fulfilment/world/server.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../lib/local/cloud.ts';

export interface Answer {
  readonly status: number;
  // The tests look into it; what is not there fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
}

export interface Stage {
  readonly cloud: Cloud;
  readonly world: World;
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly startOrder: (orderId: string) => Promise<string>;
  /** Waits for the end of the execution and of all that follows it, however often the wait has to be renewed. */
  readonly ended: (executionId: string) => Promise<Answer['body']>;
  readonly strike: () => Promise<void>;
}

export const order = (orderId: string): Record<string, unknown> => ({
  orderId,
  email: 'ada@example.com',
  address: '1 Main Street',
  items: [{ sku: 'tea', quantity: 2 }],
  total: 4_200,
});

export async function setStage(options: { readonly schedules: boolean }): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-'));
  const { assembly } = await synthesize({
    outdir: join(folder, 'cdk.out'),
    only: ['order-fulfilment'],
    validation: false,
  });
  const world = await startWorld({ port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    fresh: true,
    port: 0,
    schedules: options.schedules,
    environment: { WORLD_URL: world.url },
  });
  const request: Stage['request'] = async (method, path, body, headers = {}) => {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const answer = await fetch(`${cloud.apiUrl}${path}`, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    });
    const answered = await answer.text();
    return { status: answer.status, body: parsed(answered), text: answered };
  };
  return {
    cloud,
    world,
    request,
    startOrder: async (orderId) => {
      const { body } = await request('POST', '/workflows/order-fulfilment/executions', {
        input: order(orderId),
        idempotencyKey: orderId,
      });
      return body.executionId;
    },
    ended: async (executionId) => {
      for (;;) {
        const { status, body } = await request('GET', `/executions/${executionId}?wait=20s`);
        if (status === 200 && body.endedAt !== undefined && body.watchAt === undefined) return body;
      }
    },
    strike: async () => {
      await cloud.stop();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
