/**
 * Our code on docs/FROM-TEMPORAL.md and docs/FROM-DURABLE-FUNCTIONS.md does what the pages say. Its types:
 * `docs-types.processes.test.ts`; those of the other systems' code: `npm run beside`.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentHandler, type DeclaredAgent, PermanentError, type Workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import { written } from './snippets/blocks.ts';
import { durableFiles, temporalFiles } from './snippets/from-others.ts';

const made: string[] = [];
const folderOf = (...[name, files]: Parameters<typeof written>): string => {
  const folder = written(name, files);
  made.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

type Order = Workflow<{ orderId: string; amount: number }>;

describe('docs/FROM-TEMPORAL.md', () => {
  async function loaded() {
    const root = folderOf('temporal', temporalFiles);
    const { ship, chargeHandler } = (await import(join(root, 'agents.ts'))) as {
      ship: DeclaredAgent<never>;
      chargeHandler: AgentHandler;
    };
    const { order } = (await import(join(root, 'order.ts'))) as { order: Order };
    const carrier = ship.handler({ execute: async () => null } as never);
    return { order, ship, agents: [chargeHandler, carrier] };
  }
  const asked: string[] = [];
  const { fetch } = globalThis;
  beforeEach(() => {
    asked.length = 0;
    globalThis.fetch = (async (_url: string, { method = 'GET' }: RequestInit) => {
      asked.push(method);
      return { status: 201 };
    }) as typeof fetch;
  });
  afterEach(() => {
    globalThis.fetch = fetch;
  });

  test('a small order needs no approval, and a shipment that fails takes the charge back', async () => {
    const { order, ship, agents } = await loaded();
    const trial = testWorkflow(order, { agents });
    expect((await (await trial.start({ orderId: 'o-1', amount: 5 })).waitForEnd()).status).toBe('succeeded');
    trial.fail(ship, { with: new PermanentError('no such street') });
    const failed = await trial.start({ orderId: 'o-2', amount: 5 });
    expect([(await failed.waitForEnd()).status, asked]).toEqual(['compensated', ['POST', 'POST', 'DELETE']]);
  });

  test('a large one waits for its approval, at most two days', async () => {
    const { order, agents } = await loaded();
    const trial = testWorkflow(order, { agents });
    const silent = await trial.start({ orderId: 'o-1', amount: 2_000 });
    expect([(await silent.waitForEnd()).status, asked]).toEqual(['failed', []]);
    const answered = await trial.start({ orderId: 'o-2', amount: 2_000 });
    await answered.approve('approved');
    expect((await answered.waitForEnd()).status).toBe('succeeded');
  });
});

describe('docs/FROM-DURABLE-FUNCTIONS.md', () => {
  async function loaded() {
    const root = folderOf('durable', durableFiles);
    const { acts } = (await import(join(root, 'services.ts'))) as { acts: string[] };
    const { order, agents } = (await import(join(root, 'order.ts'))) as {
      order: Order;
      agents: readonly AgentHandler[];
    };
    const did = (): string[] => acts.map((act) => act.split(' ')[0] ?? '');
    return { trial: testWorkflow(order, { agents }), did };
  }

  test('a small order is charged and shipped, and nobody is asked', async () => {
    const { trial, did } = await loaded();
    expect((await (await trial.start({ orderId: 'o-1', amount: 5 })).waitForEnd()).status).toBe('succeeded');
    expect(did()).toEqual(['charge', 'ship']);
  });

  test('a large one is reviewed first, and refunded where it cannot be shipped', async () => {
    const { trial, did } = await loaded();
    trial.fail('ship', { with: new PermanentError('no such street') });
    const run = await trial.start({ orderId: 'o-1', amount: 2_000 });
    await run.until(() => did().includes('askReview'));
    await run.complete('review', null);
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(did()).toEqual(['askReview', 'charge', 'refund']);
  });
});
