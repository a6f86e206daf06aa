/**
 * Two releases at once, as in every deployment: what the release before wrote is read and goes on; what a
 * later one wrote is refused, says so, and is kept as it is.
 *
 * `test/fixtures/release-0.1` is what the code of that release wrote: items and messages of
 * executions in many states. It is never edited. A change that makes this test fail would strand
 * executions under way: read both forms.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Context, SQSEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { routes } from '../../lib/api/routes.ts';
import {
  executionItem,
  executionOf,
  questionOf,
  isExecutionItem,
  isQuestionItem,
  isStepItem,
  type Item,
  planOf,
  stepItem,
  stepOf,
} from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { parseMessage } from '../../lib/core/decisions/message.ts';
import { human, retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { agentHandler } from '../../lib/agent/handler.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { createScheduler } from '../../lib/scheduler/start.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';

interface Written {
  readonly now: number;
  readonly executionId: string;
  readonly plan: Item;
  readonly items: readonly Item[];
  readonly messages: readonly { readonly agent: string; readonly delayMs: number; readonly body: string }[];
}

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'release-0.1');
const written = (name: string): Written =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Written;

const pay = anAgent('pay');
/** The same workflow as it is now: with one more step, which executions under way do not have. */
const order = workflow('order', { input: anyObject, within: '1h' }, (w) => {
  const paid = w.step('paid', pay, {}, { recovery: [retry(2, { first: '1s' })] });
  const shipped = w.step(
    'shipped',
    anAgent('ship', { effect: 'probed' }),
    {},
    { recovery: [human()], after: [paid] },
  );
  w.step('child-ended', pay, {}, { after: [shipped] });
  return {};
}) as Workflow;

/** Puts records into the store as they are: it takes only the next version of each. */
async function restore(h: Harness, { now, executionId, plan, items, messages }: Written): Promise<void> {
  h.clock.advanceTo(now);
  const execution = executionOf(items.find(isExecutionItem)!);
  await h.store.writePlan(execution.plan, planOf(plan));
  const upTo = async <Rec extends { version: number; writeId: string }>(
    record: Rec,
    put: (record: Rec) => Promise<unknown>,
  ): Promise<void> => {
    for (let version = 1; version < record.version; version += 1)
      await put({ ...record, version, writeId: `old-${version}` });
    await put(record);
  };
  await upTo(execution, (one) =>
    one.version === 1 ? h.store.create(one) : h.store.write({ executionId, execution: one }),
  );
  for (const item of items.filter(isStepItem))
    await upTo(stepOf(item), (step) => h.store.write({ executionId, step }));
  for (const item of items.filter(isQuestionItem))
    await upTo(questionOf(item), (question) => h.store.write({ executionId, question }));
  for (const { agent, delayMs, body } of messages) {
    const message = parseMessage(body);
    if (message === undefined || message === 'newer') throw new Error(`not readable: ${body}`);
    h.sent.push({ agent, delayMs, message });
  }
}

const undone: string[] = [];
const done = async (): Promise<object> => ({ ok: 'yes' });
const undo = async (ctx: { step: string }): Promise<void> => void undone.push(ctx.step);

function roles(): Harness {
  undone.length = 0;
  const probe = async () => ({ verdict: 'done' as const, output: { ok: 'found' } });
  return harness(order, { pay: { execute: done, undo }, ship: { execute: done, undo, probe } });
}

describe('what the release before wrote', () => {
  it('is here in every state that it could be in', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(
      ['asking', 'begun', 'compensating', 'retrying', 'succeeded', 'under-work', 'unknown'].map(
        (name) => `${name}.json`,
      ),
    );
  });

  it.each([
    ['begun', 'succeeded', []],
    ['under-work', 'succeeded', []],
    ['retrying', 'succeeded', []],
    ['unknown', 'succeeded', []],
    ['compensating', 'canceled', ['paid']],
  ])('and left %s is carried on to its end: %s', async (name, status, expectedUndone) => {
    const h = roles();
    const left = written(name);
    await restore(h, left);
    const { execution, steps } = await h.run(left.executionId);
    expect(execution.status).toBe(status);
    expect(undone).toEqual(expectedUndone);
    // The plan it started with: nothing was announced.
    expect(Object.keys(steps).sort()).toEqual(['paid', 'shipped']);
  });

  it('and left with a question to a person takes the answer', async () => {
    const h = roles();
    const left = written('asking');
    await restore(h, left);
    await resolveIncident(h.scheduler, left.executionId, {
      incident: 1,
      choice: 'retry',
      nothingHappened: true,
    });
    expect((await h.run(left.executionId)).execution.status).toBe('succeeded');
  });

  it('and had ended is shown, and does nothing more', async () => {
    const h = roles();
    const left = written('succeeded');
    await restore(h, left);
    const response = await routes(h.scheduler).request(`/executions/${left.executionId}`);
    expect([response.status, ((await response.json()) as { status: string }).status]).toEqual([
      200,
      'succeeded',
    ]);
    expect(h.sent).toEqual([]);
  });

  it('reads back as it was: nothing in it is unknown to the code of today', () => {
    for (const file of readdirSync(FOLDER)) {
      const { executionId, items } = written(file.replace('.json', ''));
      for (const item of items.filter(isExecutionItem))
        expect(executionItem(executionOf(item), 4)).toMatchObject(item);
      // The record, not the item: the history of a step that was done at once follows from
      // the rest, and is left out today.
      for (const item of items.filter(isStepItem))
        expect(stepOf(stepItem(executionId, stepOf(item)))).toEqual(stepOf(item));
    }
  });
});

describe('what a later release wrote', () => {
  const table = mockClient(DynamoDBClient);
  afterAll(() => table.restore());
  const { executionId, items, plan, messages } = written('begun');
  const newer = (item: Item): Item => ({ ...item, v: { N: '3' }, novelty: { S: 'x' } });
  const said = /version 3; this code reads up to 2: deploy the newer code/;
  const body = messages[0]!.body;

  beforeEach(() => {
    table.reset();
    table.on(QueryCommand).resolves({ Items: items.map(newer) });
    table.on(GetItemCommand).resolves({ Item: newer(items[0]!) });
  });

  it('is refused as an item of any kind, saying what to do', () => {
    const step = written('under-work').items.find(isStepItem)!;
    const incident = written('asking').items.find(isQuestionItem)!;
    expect(() => executionOf(newer(items[0]!))).toThrow(said);
    expect(() => stepOf(newer(step))).toThrow(said);
    expect(() => questionOf(newer(incident))).toThrow(said);
    expect(() => planOf(newer(plan))).toThrow(said);
  });

  /** The agent's real function, with a table that has the item of a later release. */
  async function deliver(text: string): Promise<unknown> {
    const before = { ...process.env };
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      STEADFAST_TABLE: 't',
      STEADFAST_BUS: 'b',
      STEADFAST_WAKE_BUS: 'w',
      // The other way has no mock.
      STEADFAST_TRANSPORT: 'sdk',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
    });
    const handler = agentHandler(pay as never, { execute: done, undo } as never);
    const event = { Records: [{ messageId: 'm-1', body: text }] } as SQSEvent;
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 60_000 } as unknown as Context;
    const answer = await handler(event, context);
    process.env = before;
    return answer;
  }
  const givenBack = { batchItemFailures: [{ itemIdentifier: 'm-1' }] };

  it('as a message is given back, for the later code', async () => {
    expect(await deliver(JSON.stringify({ ...JSON.parse(body), v: 2, more: 1 }))).toEqual(givenBack);
    expect(table.calls()).toEqual([]);
  });

  it('as an item is left alone by an agent, and its message is given back', async () => {
    expect(await deliver(body)).toEqual(givenBack);
    expect(table.commandCalls(PutItemCommand)).toEqual([]);
  });

  it('as an item is answered by the API with what to do', async () => {
    const store = dynamoStore(new DynamoDBClient({ region: 'us-east-1' }), {
      table: 't',
      wakeShards: 1,
      pause: async () => undefined,
    });
    const settings = { hash: (text: string) => text, newId: () => 'e' };
    const scheduler = createScheduler({ ...memoryWorld({ seed: 1 }), store }, [order], settings);
    const response = await routes(scheduler).request(`/executions/${executionId}`);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([503, 'newer-item']);
    expect(error.message).toMatch(said);
    expect(table.commandCalls(PutItemCommand)).toEqual([]);
  });
});
