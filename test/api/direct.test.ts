/**
 * Direct invocations of the scheduler's function: the caller in the event is ignored, because the client
 * writes the event.
 */

import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { handle } from 'hono/aws-lambda';
import { createClient } from 'steadfast/client';
import * as z from 'zod/mini';
import { schedulerHandler } from '../../lib/api/handler.ts';
import { routes } from '../../lib/api/routes.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { ENV } from '../../lib/aws/names.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { harness } from '../engine/harness.ts';

const flow = workflow('flow', { input: z.object({}), within: '3h' }, (w) => {
  w.approval('ok', { within: '1h', by: 'another' });
}) as Workflow;
const open = workflow('flow', { input: z.object({}), within: '3h' }, (w) => {
  w.approval('ok', { within: '1h' });
}) as Workflow;

interface Invoked {
  readonly FunctionName: string;
  readonly Payload: string;
}

/** Invokes the function of this workflow as Lambda does. */
function invoking(served: Workflow) {
  const handler = handle(routes(harness(served, {}).scheduler));
  const invoked: Invoked[] = [];
  const invoke = async (input: Invoked): Promise<{ Payload: Uint8Array }> => {
    invoked.push(input);
    const answer = await handler(JSON.parse(input.Payload) as never, {} as never);
    return { Payload: new TextEncoder().encode(JSON.stringify(answer)) };
  };
  return { invoked, client: createClient({ lambda: { client: { invoke }, functionName: 'scheduler' } }) };
}

it('a client calls the function as it would call the API', async () => {
  const { client, invoked } = invoking(open);
  const { executionId } = await client.start('flow', { input: {}, idempotencyKey: 'a b' });
  expect(await client.get(executionId, { step: 'ok' })).toMatchObject({ executionId, status: 'waiting' });
  expect((await client.list({ workflow: 'flow', limit: 1 })).items).toMatchObject([{ executionId }]);
  await client.questions.approve(executionId, 'ok', { comment: '“yes”' });
  expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
  expect(new Set(invoked.map(({ FunctionName }) => FunctionName))).toEqual(new Set(['scheduler']));
  expect(client.url).toBe('https://lambda/scheduler');
});

it('what needs a person is refused: nobody vouches for who calls', async () => {
  await expect(invoking(flow).client.start('flow', { input: {} })).rejects.toMatchObject({
    code: 'unknown-caller',
    status: 403,
  });
});

const failing = (result: unknown) => {
  const invoke = async (): Promise<{ Payload: Uint8Array }> => {
    if (result instanceof Error) throw result;
    return { Payload: new TextEncoder().encode(JSON.stringify(result)) };
  };
  return createClient({ lambda: { client: { invoke }, functionName: 'scheduler' }, retryForMs: 0 });
};
const refused = (httpStatusCode: number): Error =>
  Object.assign(new Error('Lambda says why'), { $metadata: { httpStatusCode } });

it.each([
  ['no right to invoke it', refused(403), 'forbidden'],
  ['no such function', refused(404), 'not-steadfast'],
  ['too many calls', refused(429), 'too-many-calls'],
  ['a failure of Lambda', refused(500), 'unavailable'],
  ['an end of the function without an answer', { errorMessage: 'Task timed out' }, 'unavailable'],
  ['no connection', new Error('connect ECONNREFUSED'), 'no-answer'],
])('%s is an error with a code', async (_, result, code) => {
  await expect(failing(result).health()).rejects.toMatchObject({ name: 'ApiError', code });
});

/** An event with a caller's ARN that cannot be recorded: code that used it would refuse the call. */
const EVENT = {
  version: '2.0',
  rawPath: '/workflows/nope/executions',
  rawQueryString: '',
  headers: { 'content-type': 'application/json' },
  requestContext: { http: { method: 'POST' }, authorizer: { iam: { userArn: 'x'.repeat(700) } } },
  body: '{"input":{}}',
} as unknown as APIGatewayProxyEventV2;

it.each([
  [undefined, 'bad-caller'],
  ['true', 'unknown-workflow'],
])('with %s in the environment the function believes a caller or none', async (direct, code) => {
  const before = { ...process.env };
  Object.assign(process.env, {
    [ENV.table]: 't',
    [ENV.bus]: 'b',
    [ENV.wakeBus]: 'w',
    [ENV.queues]: 'http://127.0.0.1:1/q-',
    [ENV.deployment]: 'd',
    AWS_REGION: 'eu-central-1',
    ...(direct === undefined ? {} : { [ENV.direct]: direct }),
  });
  try {
    const context = { getRemainingTimeInMillis: () => 1_000 } as Context;
    const answer = (await schedulerHandler([])(EVENT, context)) as { readonly body: string };
    expect((JSON.parse(answer.body) as { error: { code: string } }).error.code).toBe(code);
  } finally {
    process.env = before;
  }
});
