/**
 * Exports the return values of the package's functions, as each agent's file exports its handler. In a
 * project that emits declarations (`composite`), the compiler needs an exported name for each of their types.
 * Projects of `npm run adopt` compile it; nothing runs it.
 */

import { App } from 'aws-cdk-lib/core';
import {
  accepted,
  agent,
  and,
  cannotTell,
  concat,
  done,
  eq,
  exists,
  failed,
  hmacSha256,
  askPerson,
  length,
  notDone,
  onEvent,
  onMessage,
  onObjectCreated,
  onSchedule,
  onWebhook,
  orElse,
  PermanentError,
  required,
  remoteAgent,
  retry,
  running,
  secret,
  skipped,
  succeeded,
  TransientError,
  useAgent,
  withInput,
  workflow,
  type WorkflowBuilder,
} from 'steadfast';
import { Steadfast, SteadfastStack, Workflows } from 'steadfast/cdk';
import { awsSignature, bearer, createClient } from 'steadfast/client';
import { crashEverywhere, externalWorld, startCloud, startServer, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Order = z.object({ order: z.string(), note: z.optional(z.string()), lines: z.array(z.string()) });
type Order = z.infer<typeof Order>;

export const charge = agent('charge', { input: Order, output: Order, effect: 'idempotent', undo: 'none' });
export const handler = charge.handler({ execute: async (_ctx, input) => input });
export const remote = remoteAgent(charge, { url: 'https://example.org' });
export const verdicts = [done({ a: 1 }), notDone(), running(), cannotTell(), accepted()] as const;
export const recovery = [retry(3), withInput({ order: 'x' }), useAgent(charge), askPerson()] as const;
export const thrown = [new PermanentError('x'), new TransientError('x')] as const;

export const pay = workflow(
  'pay',
  { input: Order, within: '1h' },
  (w) => w.step('one', charge, w.input).output,
);
export const steps = (w: WorkflowBuilder<Order>) => {
  const one = w.step('one', charge, w.input);
  const two = w.step('two', charge, w.input, { mayFail: true });
  const three = w.step('three', charge, w.input, { when: eq(w.input.order, 'x') });
  return {
    one,
    two,
    three,
    wait: w.wait('wait', { for: '1m' }),
    callback: w.callback('callback', { within: '1m', output: Order }),
    approval: w.approval('approval', { within: '1m' }),
    child: w.child('child', pay, w.input),
    list: w.map('list', charge, w.input.lines, (item) => ({ order: item, lines: [] })),
    rounds: w.repeat('rounds', charge, w.input, { until: (last) => eq(last.order, 'x'), maxRounds: 3 }),
    late: w.onFailure('late', charge, w.input),
    failure: w.failure,
    input: w.input,
    note: w.input.note,
    words: [concat('a', one.output.order), length(w.input.lines), orElse(w.input.note, 'x')],
    there: required(w.input.note),
    conditions: [and(exists(w.input.note)), succeeded(one), failed(two), skipped(three)],
  };
};

export const tick = onSchedule(pay, { schedule: 'rate(1 hour)', input: { order: 'x', lines: [] } });
export const message = onMessage(pay);
export const event = onEvent(pay, { pattern: { source: ['x'] }, input: { order: '$.id', lines: [] } });
export const verify = hmacSha256({ header: 'x-signature', secret: secret('KEY') });
export const webhook = onWebhook(pay, { verify, input: { order: '$.body.id', lines: [] } });
export const object = onObjectCreated(pay, { bucket: 'x', input: { order: '$.key', lines: [] } });

export const client = createClient<{ pay: typeof pay }>({ url: 'http://127.0.0.1:1' });
export const { start, run, waitForEnd, get, ...others } = client;
export const started = async () => ({ ...(await start('pay', { input: { order: 'x', lines: [] } })) });
export const overview = async () => ({ health: await client.health(), is: await client.overview() });
const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b' });
export const callers = [bearer('x'), awsSignature({ region: 'eu-west-1', credentials })];

export const trial = testWorkflow(pay, { agents: [handler] });
export const trialRun = async () => {
  const own = await trial.start({ order: 'x', lines: [] });
  return { own, end: await own.waitForEnd(), why: await own.why(), calls: trial.calls() };
};
export const world = externalWorld();
export const crashed = () => crashEverywhere(pay, { agents: [handler], input: { order: 'x', lines: [] } });
export const cloud = async () => ({ ...(await startCloud()) });
export const server = async () => ({ ...(await startServer({ workflows: [pay], agents: [handler] })) });

export const workflows = Workflows.fromFolder('workflows');
export const stack = new SteadfastStack(new App(), 'Stack', { workflows });
export const steadfast = new Steadfast(stack, 'Steadfast', { workflows });
export const { address, agents, audit, monitoring, scheduler, stateTable, supervisor } = steadfast;
export const { triggers, valueBucket, wakeUps } = steadfast;
export const parts = [steadfast.agent('charge'), steadfast.trigger('x')];
