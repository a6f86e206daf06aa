/** The answer about an execution of any size fits into a Lambda response, and names what is left out. */

import { handle } from 'hono/aws-lambda';
import type { ExecutionView, Reasons } from '../../lib/api/answers.ts';
import { createClient } from '../../lib/api/client.ts';
import { routes } from '../../lib/api/routes.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Attempt, Execution, Step } from '../../lib/core/records/state.ts';
import { createScheduler } from '../../lib/scheduler/start.ts';
import { valueKeyOf } from '../../lib/core/records/large-values.ts';
import type { ValueRef } from '../../lib/core/records/value-ref.ts';
import { memoryValues, memoryWorld } from '../../lib/memory/world.ts';
import { anExecution, aStep } from '../contract/records.ts';
import { incidentOf } from '../core/one-step.ts';
import { anAgent, anyObject } from '../engine/harness.ts';

/** AWS Lambda, quotas: invocation payload (request and response), synchronous. */
const LAMBDA_BYTES = 6 * 1024 * 1024;
const LARGE = { text: '"\\'.repeat(64 * 1024) };

const worker = anAgent('worker');
const flow = (steps: number): Workflow =>
  workflow('flow', { input: anyObject, within: '1h' }, (w) => {
    for (let at = 0; at < steps; at += 1) w.step(`s${at}`, worker, {}, { recovery: [retry(0)] });
  }) as Workflow;

const done = (name: string, more: Partial<Step> = {}): Step => {
  const { leaseUntil: _, token: __, mode: ___, ...rest } = aStep({ name, status: 'done', ...more });
  return rest;
};

/**
 * Calls the function as API Gateway does.
 * @returns the answer's body, and the bytes that the function returns
 */
async function stage(
  count: number,
  stepOf: (name: string) => Step,
  execution: Partial<Execution> = {},
  incidents: readonly Incident[] = [],
) {
  const served = flow(count);
  const world = memoryWorld();
  const ids = { hash: () => 'h', newId: () => 'e-1' };
  const scheduler = createScheduler(world, [served], ids);
  await world.store.writePlan('h', served.plan);
  await world.store.create(anExecution({ workflow: 'flow', plan: 'h', ...execution }));
  for (const { name } of served.plan.steps)
    await world.store.write({ executionId: 'e-1', step: { ...stepOf(name), name, version: 1 } });
  for (const incident of incidents) await world.store.write({ executionId: 'e-1', question: incident });
  const lambda = handle(routes(scheduler));
  const sizes: number[] = [];
  const fetcher = async (url: string | URL | Request): Promise<Response> => {
    const { pathname, search } = new URL(String(url));
    const http = { method: 'GET', path: pathname, sourceIp: '127.0.0.1' };
    const event = {
      version: '2.0',
      rawPath: pathname,
      rawQueryString: search.slice(1),
      headers: { host: 'api' },
      requestContext: { http, domainName: 'api' },
    };
    const answer = (await lambda(event as never)) as { body: string; statusCode: number };
    sizes.push(Buffer.byteLength(JSON.stringify(answer)));
    return new Response(answer.body, { status: answer.statusCode });
  };
  return { client: createClient({ url: 'http://api', fetch: fetcher as typeof fetch }), sizes };
}

const attempts = (text: string): Attempt[] =>
  Array.from({ length: 20 }, (_, at) => ({
    number: at + 1,
    mode: 'execute',
    claimedAt: at,
    endedAt: at + 1,
    outcome: 'failed',
    failure: { code: 'x', message: text.repeat(1_000) },
  }));

describe('an execution with large outputs', () => {
  it('leaves out parts for which there is no room, in the order of the plan, and has every step', async () => {
    const { client, sizes } = await stage(60, (name) => done(name, { output: LARGE, attempts: [] }));
    const view = await client.get('e-1');
    expect(sizes[0]).toBeLessThan(LAMBDA_BYTES);
    expect(sizes[0]).toBeGreaterThan(LAMBDA_BYTES / 2);
    expect(view.steps.map(({ name }) => name)).toEqual(Array.from({ length: 60 }, (_, at) => `s${at}`));
    const [kept, cut] = [true, false].map((has) => view.steps.filter((step) => 'output' in step === has));
    expect(kept?.length).toBeGreaterThan(8);
    expect(kept?.map(({ name }) => name)).toEqual(view.steps.slice(0, kept?.length).map(({ name }) => name));
    expect(kept?.every((step) => !('omitted' in step))).toBe(true);
    expect(cut?.map(({ omitted }) => omitted)).toEqual(cut?.map(() => ['output']));
    expect(cut?.[0]).toMatchObject({ status: 'done', attempts: [] });
    expect(view).not.toHaveProperty('omitted');
  });

  it('shows one step whole where it is asked for', async () => {
    const { client, sizes } = await stage(60, (name) =>
      done(name, { output: LARGE, attempts: attempts('"') }),
    );
    const view = await client.get('e-1', { step: 's59' });
    expect(view.steps).toEqual([
      expect.objectContaining({
        name: 's59',
        output: LARGE,
        attempts: attempts('"').map((attempt) => expect.objectContaining(attempt)),
      }),
    ]);
    expect(view.steps[0]).not.toHaveProperty('omitted');
    expect(sizes[0]).toBeLessThan(LAMBDA_BYTES);
    await expect(client.get('e-1', { step: 'S59' })).rejects.toMatchObject({
      code: 'unknown-step',
      status: 404,
      message: "execution e-1 has no step 'S59'; without ?step= it shows all of them",
    });
  });

  it('keeps its input and what a person is asked before all else', async () => {
    const open = incidentOf({ number: 3, version: 1 });
    const over = Array.from({ length: 2 }, (_, at) =>
      incidentOf({ number: at + 1, version: 1, closedAt: 1, reason: 'x'.repeat(3_000_000) }),
    );
    const { client, sizes } = await stage(
      40,
      (name) => done(name, { output: LARGE }),
      { status: 'waiting', input: LARGE },
      [...over, open],
    );
    const view = await client.get('e-1');
    expect(sizes[0]).toBeLessThan(LAMBDA_BYTES);
    expect(view.input).toEqual(LARGE);
    expect(view.incidents.map(({ number }) => number)).toEqual([3]);
    expect(view.omitted).toEqual(['incidents']);
  });
});

/** A step that waits for a person; its failure is the reason that is shown. */
const failed = (name: string, char: string): Step =>
  done(name, {
    status: 'waiting',
    attempts: attempts(char),
    failure: { code: 'x', message: char.repeat(1_000) },
    progress: char.repeat(200),
  });

describe.each([
  [300, 'of text', 'x'],
  [300, 'that count twice', '"'],
  [300, 'that count three times', '€'],
  [800, 'that count seven times', '\u0001'],
])('%d steps with twenty failures %s each', (count, _, char) => {
  let asked: Awaited<ReturnType<typeof stage>>;
  let shown: { view: ExecutionView; why: Reasons };
  beforeAll(async () => {
    asked = await stage(count, (name) => failed(name, char));
    shown = { view: await asked.client.get('e-1'), why: await asked.client.why('e-1') };
  });

  it('are answered within the limit, and why as well, with the latest of the past', () => {
    expect(Math.max(...asked.sizes)).toBeLessThan(LAMBDA_BYTES);
    const { view, why } = shown;
    expect(view.steps).toHaveLength(count);
    const cut = view.steps.filter(({ omitted }) => omitted !== undefined);
    expect(cut.length).toBeGreaterThan(0);
    expect(cut.every((step) => step.attempts.length === 0)).toBe(true);
    expect(why.steps).toHaveLength(count);
    // The past has one line for the start and one for each attempt.
    expect(why.past.length + (why.omittedPast ?? 0)).toBe(20 * count + 1);
    expect(why.past.length).toBeGreaterThan(200);
    expect(why.past.at(-1)?.at).toBeGreaterThanOrEqual(why.past[0]?.at ?? 0);
  });
});

it('what fits has all of it, and says nothing of it', async () => {
  const { client } = await stage(3, (name) => done(name, { output: { of: name } }));
  const view = await client.get('e-1');
  expect(JSON.stringify(view)).not.toContain('omitted');
  expect(view.steps.map(({ output }) => output)).toEqual([{ of: 's0' }, { of: 's1' }, { of: 's2' }]);
  expect(await client.why('e-1')).not.toHaveProperty('omittedPast');
});

describe('a value beside the table', () => {
  it('is shown as far as an answer has room, the wanted step first; the rest is named', async () => {
    const served = flow(2);
    const largeValues = memoryValues();
    const world = { ...memoryWorld(), largeValues };
    const scheduler = createScheduler(world, [served], { hash: () => 'h', newId: () => 'e-1' });
    await world.store.writePlan('h', served.plan);
    const execution = anExecution({ workflow: 'flow', plan: 'h', input: null });
    const put = async (holder: 'input' | `step.${string}`, bytes: number): Promise<ValueRef> => {
      const json = JSON.stringify({ text: 'x'.repeat(bytes) });
      const ref = { hash: largeValues.hash(json), id: holder, bytes: json.length };
      await largeValues.put(valueKeyOf(execution, holder, ref), json);
      return ref;
    };
    await world.store.create({ ...execution, inputAt: await put('input', 100_000) });
    for (const [name, bytes] of [
      ['s0', 3_000_000],
      ['s1', 4_000_000],
    ] as const) {
      const step = { ...done(name), version: 1, outputAt: await put(`step.${name}`, bytes) };
      await world.store.write({ executionId: 'e-1', step });
    }
    const get = async (query: string): Promise<ExecutionView> =>
      (await (await routes(scheduler).request(`/executions/e-1${query}`)).json()) as ExecutionView;
    const all = await get('');
    expect([all.input, all.omitted]).toEqual([{ text: 'x'.repeat(100_000) }, undefined]);
    expect(all.steps.map(({ omitted }) => omitted)).toEqual([undefined, ['output']]);
    const one = await get('?step=s1');
    expect(one.steps[0]?.output).toEqual({ text: 'x'.repeat(4_000_000) });
  });
});
