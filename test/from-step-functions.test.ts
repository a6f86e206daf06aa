/**
 * The workflows of docs/FROM-STEP-FUNCTIONS.md do what the page says. `docs-types.processes.test.ts` checks
 * that its code compiles.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  accepted,
  agent as anAgent,
  type DeclaredAgent,
  done,
  eq,
  orElse,
  PermanentError,
  running,
  type Workflow,
  workflow,
} from 'steadfast';
import { externalWorld, testWorkflow, type WorkflowTest } from 'steadfast/testing';
import * as z from 'zod/mini';
import { written } from './snippets/blocks.ts';
import { machines, stepFunctionsFiles, workflowNames } from './snippets/from-step-functions.ts';

let root: string;
let agents: Readonly<Record<string, DeclaredAgent<never>>>;

beforeAll(async () => {
  root = written('step-functions', stepFunctionsFiles);
  const loaded: object[] = [await import(join(root, 'agents.ts')), await import(join(root, 'callback.ts'))];
  agents = Object.assign({}, ...loaded) as typeof agents;
});
afterAll(() => rmSync(root, { recursive: true }));

/** Workflows whose state machine the page describes in words. */
const IN_WORDS = ['parallel', 'wait', 'deletions'];

test('each state machine is followed by a workflow', () => {
  expect(workflowNames).toEqual([
    'task',
    'choice',
    'parallel',
    'list',
    'wait',
    'poll',
    'pages',
    'deletions',
    'caught',
    'callback',
  ]);
  expect(machines).toHaveLength(workflowNames.filter((name) => !IN_WORDS.includes(name)).length);
});

const OUTPUTS: Readonly<Record<string, object>> = {
  chargeCard: { chargeId: 'c-1' },
  reserveStock: { reservationId: 'r-1' },
  ship: { trackingId: 't-1' },
  score: { score: 7 },
  tell: {},
  askWarehouse: {},
};

/** Tests a workflow of the page; its agents act on one world. */
async function trialOf(
  name: string,
): Promise<{ trial: WorkflowTest<never>; world: ReturnType<typeof externalWorld> }> {
  const world = externalWorld();
  const { [name]: made } = (await import(join(root, `${name}.ts`))) as Record<string, Workflow>;
  const handlers = Object.entries(OUTPUTS).map(([agent, output]) =>
    agents[agent]!.handler({
      execute: async ({ idempotencyKey }: { idempotencyKey: string }) => {
        await world.actOnce(idempotencyKey, agent);
        return output;
      },
      ...(agent === 'chargeCard' ? { probe: async () => ({ verdict: 'not-done' }) } : {}),
      ...(['tell', 'askWarehouse', 'score'].includes(agent)
        ? {}
        : { undo: ({ idempotencyKey }: { idempotencyKey: string }) => world.undo(idempotencyKey) }),
    } as never),
  );
  return { trial: testWorkflow(made!, { agents: handlers }) as WorkflowTest<never>, world };
}

const ORDER = { orderId: 'o-1', amount: 4_200 } as never;

test('Task and Retry: the same again, after pauses', async () => {
  const { trial } = await trialOf('task');
  trial.fail(agents['chargeCard']!, { times: 3 });
  const { status, output, steps } = await (await trial.start(ORDER)).waitForEnd();
  expect([status, output, steps['charge']?.attempts]).toEqual(['succeeded', { chargeId: 'c-1' }, 4]);
});

test.each([
  [20_000, 'done', 'skipped'],
  [4_200, 'skipped', 'done'],
])('Choice: an order of %s', async (amount, thorough, quick) => {
  const { trial } = await trialOf('choice');
  const { status, output, steps } = await (
    await trial.start({ orderId: 'o-1', amount } as never)
  ).waitForEnd();
  expect([status, output]).toEqual(['succeeded', { score: 7 }]);
  expect([steps['thorough']?.status, steps['quick']?.status]).toEqual([thorough, quick]);
});

test('Parallel: side by side, and a failure undoes the other branch', async () => {
  const { trial, world } = await trialOf('parallel');
  expect((await (await trial.start(ORDER)).waitForEnd()).status).toBe('succeeded');
  trial.fail(agents['chargeCard']!, { with: new PermanentError('no money') });
  expect((await (await trial.start(ORDER)).waitForEnd()).status).toBe('compensated');
  const reserved = world.effects().filter(({ kind }) => kind === 'reserveStock');
  expect(reserved.map(({ undone }) => undone ?? false)).toEqual([false, true]);
});

test('Map: an item may fail', async () => {
  const { trial } = await trialOf('list');
  trial.fail(agents['reserveStock']!, { with: new PermanentError('sold out') });
  const orders = Array.from({ length: 20 }, (_, at) => `o-${at}`);
  const { status, output } = await (await trial.start({ orders } as never)).waitForEnd();
  expect([status, output]).toEqual(['succeeded', { asked: 20 }]);
});

test('Wait: ten minutes, and until a time', async () => {
  const { trial } = await trialOf('wait');
  const notBefore = new Date(trial.now() + 3_600_000).toISOString();
  const run = await trial.start({ orderId: 'o-1', notBefore } as never);
  await trial.skip('59m');
  expect((await run.state()).steps['cool-off']?.status).toBe('done');
  expect((await run.state()).steps['ship']?.status).toBe('pending');
  expect((await run.waitForEnd()).status).toBe('succeeded');
});

test('A loop that polls: one step, asked until its job is over', async () => {
  const { poll, submit } = (await import(join(root, 'poll.ts'))) as {
    poll: Workflow;
    submit: DeclaredAgent<never>;
  };
  const asked: unknown[] = [];
  const job = submit.handler({
    execute: async () => accepted({ token: 'job-1', askAfter: '30s' }),
    probe: async (ctx: { accepted?: { token?: unknown } }) =>
      asked.push(ctx.accepted?.token) < 3 ? running() : done({ label: 'l-1' }),
    undo: async () => undefined,
  } as never);
  const ships = agents['ship']!.handler({
    execute: async () => ({ trackingId: 't-1' }),
    undo: async () => undefined,
  } as never);
  const trial = testWorkflow(poll, { agents: [job, ships] }) as WorkflowTest<never>;
  const { status, steps } = await (await trial.start(ORDER)).waitForEnd();
  expect([status, steps['submit']?.output, steps['submit']?.attempts]).toEqual([
    'succeeded',
    { label: 'l-1' },
    1,
  ]);
  expect(asked).toEqual(['job-1', 'job-1', 'job-1']);
});

/** Tests a workflow of the page with its own agent. */
async function loopOf(
  name: string,
  own: string,
  execute: (input: never) => object,
): Promise<WorkflowTest<never>> {
  const file = (await import(join(root, `${name}.ts`))) as Record<string, unknown>;
  const handler = (file[own] as DeclaredAgent<never>).handler({
    execute: async (_: unknown, input: never) => execute(input),
  } as never);
  return testWorkflow(file[name] as Workflow, { agents: [handler] }) as WorkflowTest<never>;
}

test('A loop that goes back: pages, until there is no token', async () => {
  const trial = await loopOf('pages', 'listObjects', ({ token = 'a' }: { token?: string }) =>
    token === 'aaa' ? {} : { token: `${token}a` },
  );
  const { status, output } = await (await trial.start({} as never)).waitForEnd();
  expect([status, output]).toEqual(['succeeded', { pages: 3 }]);
});

test('A loop that goes back: deletions, until none is left', async () => {
  let left = 4;
  const trial = await loopOf('deletions', 'deleteBatch', () => ({ left: (left -= 1) }));
  const { status, tookMs } = await (await trial.start({} as never)).waitForEnd();
  expect([status, left]).toEqual(['succeeded', 0]);
  expect(tookMs).toBeGreaterThanOrEqual(180_000);
});

test('A loop that goes back: a person who says again', async () => {
  const Empty = z.object({});
  const writeText = anAgent('write-text', {
    input: Empty,
    output: Empty,
    effect: 'idempotent',
    undo: 'none',
  });
  const draft = workflow('draft', { input: Empty, within: '3d' }, (w) => {
    const text = w.step('write', writeText, {});
    const read = w.approval('read', { within: '2d', after: [text], mayFail: true });
    return { approved: orElse(read.output.approved, false) };
  });
  const again = workflow('again', { input: Empty, within: '30d' }, (w) => {
    const drafts = w.repeat('drafts', draft, {}, { until: (last) => eq(last.approved, true), maxRounds: 10 });
    return { drafts: drafts.output.rounds };
  });
  const trial = testWorkflow(again, { agents: [writeText.handler({ execute: async () => ({}) })] });
  const run = await trial.start({});
  await trial.skip('1h');
  await (await run.children('drafts')).at(-1)?.reject('read', { reason: 'shorter' });
  await trial.skip('1h');
  await (await run.children('drafts')).at(-1)?.approve('read');
  const { status, output } = await run.waitForEnd();
  expect([status, output]).toEqual(['succeeded', { drafts: 2 }]);
});

test('Catch: finished steps are undone, and then the customer is informed', async () => {
  const { trial, world } = await trialOf('caught');
  trial.fail(agents['score']!, { with: new PermanentError('no such model') });
  trial.fail(agents['ship']!, { with: new PermanentError('no such address') });
  const { status, steps } = await (await trial.start(ORDER)).waitForEnd();
  expect([status, steps['thorough']?.status, steps['quick']?.status]).toEqual([
    'compensated',
    'tolerated',
    'done',
  ]);
  expect(world.effects().map(({ kind, undone }) => [kind, undone ?? false])).toEqual([
    ['chargeCard', true],
    ['score', false],
    ['tell', false],
  ]);
});

test('waitForTaskToken: the party that has the token answers', async () => {
  const { trial } = await trialOf('callback');
  const run = await trial.start({ orderId: 'o-1' } as never);
  await run.waitForQuestion('packed');
  await run.complete('packed', { boxes: 2 });
  const { status, output } = await run.waitForEnd();
  expect([status, output]).toEqual(['succeeded', { boxes: 2 }]);
});
