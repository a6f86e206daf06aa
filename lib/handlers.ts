/**
 * The composition root: ports → roles → Lambda handlers.
 *
 * Owns: one invocation's event and answer, and that ports are made once per process, while the function initialises. Does
 * not own: any decision, what ports are made of (`aws/ports.ts`), the function behind the API (`scheduler-handler.ts`).
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { v7 as uuidv7 } from 'uuid';
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { clock } from './aws/clock.ts';
import { type DeadLetters, deadLetters } from './aws/dead-letters.ts';
import { dynamoInventory, inventoryCalls } from './aws/dynamo-inventory.ts';
import { ENV, TRIGGER_FILE } from './aws/names.ts';
import { OpenGauge, type OpenNow, openNow } from './aws/open-now.ts';
import {
  callingPortsOf,
  CLIENT,
  fromEnvironment,
  type OwnPorts,
  PLAIN,
  portsOf,
  receiptsOf,
  retention,
  sweepEvery,
  type Telemetry,
  telemetryOf,
} from './aws/ports.ts';
import { withPlainCalls } from './aws/plain-calls.ts';
import { calledBy } from './aws/wake-bus.ts';
import type { Agent, Implementation } from './core/agent.ts';
import { sayable } from './core/errors.ts';
import { parseMessage } from './core/message.ts';
import type { Ports } from './core/ports.ts';
import { parseTrigger, type Trigger } from './core/trigger.ts';
import type { Workflow } from './core/workflow.ts';
import { handleMessage } from './roles/agent.ts';
import { audit, auditAgeMs } from './roles/audit.ts';
import { ProcessBreaker } from './roles/breaker.ts';
import { Grace } from './roles/grace.ts';
import type { Worker } from './roles/perform.ts';
import type { PlanCache } from './roles/plans.ts';
import { receiptBook } from './roles/receipts.ts';
import { createScheduler, type Scheduler } from './roles/scheduler.ts';
import { startFrom } from './roles/starter.ts';
import { takeOver, tickStay } from './roles/presence.ts';
import { type Part, tick } from './roles/supervisor.ts';
import { Turns } from './roles/turns.ts';

// zod/mini says only "Invalid input" until it is given words; 3 KB of them tell a client what was wrong and what is allowed.
z.config(en());

/** A tick ends this long before its process would be killed. */
const TICK_RESERVE_MS = 3_000;

/** One invocation: its lines carry its id, and its figures are written when it is over, whichever way. */
export async function metering<Result>(
  { logger, meter }: Telemetry,
  context: Context,
  invocation: () => Promise<Result>,
): Promise<Result> {
  logger.appendKeys({ requestId: context.awsRequestId });
  try {
    return await invocation();
  } finally {
    meter.flush();
  }
}

/** In a Lambda function at once, while initialisation is free; elsewhere (a test imports the file) when first used. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  const get = (): Value => {
    made ??= { value: make() };
    return made.value;
  };
  if (process.env['AWS_LAMBDA_FUNCTION_NAME'] !== undefined) get();
  return get;
}

export type AgentHandler = ((event: SQSEvent, context: Context) => Promise<SQSBatchResponse>) & {
  readonly worker: Worker;
};

/** The Lambda function of an agent: an SQS batch, each message on its own, those to be delivered again named. */
export function agentHandler(agent: Agent, implementation: Implementation<unknown, unknown>): AgentHandler {
  const atWork = { messages: 0 };
  const breaker = new ProcessBreaker(agent.spec.name);
  const worker: Worker = { agent, implementation, breaker, turns: new Turns(atWork) };
  const telemetry = telemetryOf({ role: 'agent', agent: agent.spec.name });
  const ports = once(() => callingPortsOf(telemetry, atWork));
  const plans: PlanCache = new Map();
  const work = async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const hardEndAt = clock.now() + context.getRemainingTimeInMillis();
    const results = await Promise.all(
      event.Records.map(async (record) => {
        atWork.messages += 1;
        const result = await handleRecord(ports(), plans, worker, record, hardEndAt, telemetry.logger);
        atWork.messages -= 1;
        return result;
      }),
    );
    return givenBack(event.Records, results);
  };
  const handler = (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    metering(telemetry, context, () => work(event, context));
  return Object.assign(handler, { worker });
}

/** The messages that must come again, by their ids; the others are done. */
const givenBack = (records: readonly SQSRecord[], results: readonly string[]): SQSBatchResponse => {
  const failed = records.filter((_, at) => results[at] === 'give-back');
  return { batchItemFailures: failed.map((record) => ({ itemIdentifier: record.messageId })) };
};

async function handleRecord(
  ports: Ports,
  plans: PlanCache,
  worker: Worker,
  record: SQSRecord,
  hardEndAt: number,
  logger: Logger,
): Promise<'handled' | 'give-back'> {
  const message = parseMessage(record.body);
  // A newer version's message is kept for the newer code; what is no message at all is worth nothing to anybody.
  if (message === 'newer') return 'give-back';
  if (message === undefined) {
    logger.warn('message-malformed', { messageId: record.messageId });
    return 'handled';
  }
  try {
    return await handleMessage(ports, plans, worker, message, hardEndAt);
  } catch (error) {
    const { execution: executionId, step, attempt } = message;
    logger.warn('message-given-back', { executionId, step, attempt, error: sayable(error) });
    return 'give-back';
  }
}

/** Of whoever starts executions. */
export const IDS = {
  hash: (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32),
  newId: (): string => uuidv7(),
};

interface Starting {
  readonly scheduler: Scheduler;
  readonly trigger: Trigger;
  readonly setAside: DeadLetters;
}

/** The Lambda function of a trigger: an SQS batch, each message a start. */
export function starterHandler(
  workflows: readonly Workflow[],
): (event: SQSEvent, context: Context) => Promise<SQSBatchResponse> {
  const telemetry = telemetryOf({ role: 'starter' });
  const ready = once((): Starting => {
    const trigger = parseTrigger(
      readFileSync(join(fromEnvironment('LAMBDA_TASK_ROOT'), TRIGGER_FILE), 'utf8'),
    );
    const setAside = deadLetters(new SQSClient(CLIENT), fromEnvironment(ENV.deadLetters));
    return { trigger, setAside, scheduler: createScheduler(callingPortsOf(telemetry), workflows, IDS) };
  });
  const work = async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const results = await Promise.all(
      Records.map((record) => startRecord(ready(), record, telemetry.logger)),
    );
    return givenBack(Records, results);
  };
  return (event, context) => metering(telemetry, context, () => work(event));
}

async function startRecord(
  { scheduler, trigger, setAside }: Starting,
  record: SQSRecord,
  logger: Logger,
): Promise<'handled' | 'give-back'> {
  const { messageId, body, messageAttributes } = record;
  const texts = Object.entries(messageAttributes).map(([name, value]) => [name, value.stringValue ?? '']);
  const attributes = Object.fromEntries(texts) as Record<string, string>;
  const about = { trigger: trigger.name, messageId };
  try {
    const outcome = await startFrom(scheduler, trigger, { id: messageId, body, attributes });
    if (outcome.kind === 'refused') {
      const { code, message } = outcome;
      await setAside({ body, attributes: messageAttributes, code, message });
      logger.warn('start-refused', { ...about, code });
    }
    return 'handled';
  } catch (error) {
    logger.warn('start-given-back', { ...about, error: sayable(error) });
    return 'give-back';
  }
}

/**
 * The supervisors' Lambda function. On the schedule: one tick, with as many sweeps as are worth it. Called by another role:
 * the same on all shards, for as long as something is due and no other has come. It calls nobody itself.
 */
export function supervisorHandler(): (event: unknown, context: Context) => Promise<{ sweeps: number }> {
  const telemetry = telemetryOf({ role: 'supervisor' });
  const { logger, meter } = telemetry;
  // A sweep looks at many at once, each of which may be about to send: what they send leaves together.
  const ports = once(() => portsOf(telemetry, { messages: Number.POSITIVE_INFINITY }));
  const plans: PlanCache = new Map();
  const grace = new Grace();
  const gauge = new OpenGauge();
  return async (event, context) => {
    const untilAt = clock.now() + context.getRemainingTimeInMillis() - TICK_RESERVE_MS;
    const sweepEveryMs = sweepEvery();
    const called = calledBy(event);
    const { presences } = ports();
    const stay =
      called === undefined
        ? tickStay(presences, ports(), untilAt)
        : await takeOver(presences, ports(), called, { untilAt, sweepEveryMs });
    if (stay === undefined) return { sweeps: 0 };
    const part = partOf(event);
    const leave = receiptBook(receiptsOf(ports()), ports());
    const options = { untilAt, sweepEveryMs, part, grace, leave, stay };
    // Beside the first sweeps, which it does not hold up; a tick's alone, of which there is one every minute.
    const counted = called === undefined && gauge.isDue() ? countOpen(ports()) : undefined;
    const sweeps = await tick(ports(), plans, options);
    const due = sweeps.reduce((sum, sweep) => sum + sweep.due, 0);
    const open = await counted;
    if (open !== undefined) meter.open(open);
    if (counted !== undefined || due > 0) gauge.counted(due > 0 ? undefined : open);
    const failed = sweeps.reduce((sum, sweep) => sum + sweep.failed, 0);
    const oldestOverdueMs = Math.max(0, ...sweeps.map((sweep) => sweep.oldestOverdueMs));
    // Called ones must not hide that no tick comes any more.
    meter.swept({ made: called === undefined ? sweeps.length : 0, oldestOverdueMs, failed });
    meter.flush();
    logger.info(called === undefined ? 'tick' : 'called', { ...part, sweeps: sweeps.length, due, failed });
    return { sweeps: sweeps.length };
  };
}

/** Of what is kept of a tick's time for its end. */
const COUNT_WITHIN_MS = 1_000;

/** What cannot be counted in time is left out, and nothing else is lost with it. */
const countOpen = ({ table: { client, name, agents }, log }: OwnPorts): Promise<OpenNow | undefined> =>
  Promise.race([
    openNow(client, name, agents, clock.now()).catch((error: unknown) => {
      log.note({ what: 'count-failed', detail: sayable(error) });
      return undefined;
    }),
    clock.sleep(COUNT_WITHIN_MS).then(() => undefined),
  ]);

/** Where nothing is said, as in a template of an earlier release. */
const AUDIT_PAGES = 1_000;
/** Of a run's time; the rest is for the pages under way. */
const AUDIT_SHARE = 0.9;

/** The Lambda function of the audit: one run, a piece of the pass through the table. */
export function auditHandler(): (event: unknown, context: Context) => Promise<{ scanned: number }> {
  const telemetry = telemetryOf({ role: 'audit' });
  const ports = once(() => {
    const own = portsOf(telemetry);
    const { name, shards } = own.table;
    const client = withPlainCalls(new DynamoDBClient(CLIENT), process.env, PLAIN, inventoryCalls());
    const inventory = dynamoInventory(client, { table: name, watchShards: shards });
    return { ...own, receipts: receiptsOf(own), inventory };
  });
  return (_event, context) =>
    metering(telemetry, context, async () => {
      const { receipt, removed } = await audit(ports(), {
        untilAt: clock.now() + context.getRemainingTimeInMillis() * AUDIT_SHARE,
        maxPages: Number(process.env[ENV.auditPages] ?? AUDIT_PAGES),
        passEveryMs: Number(process.env[ENV.auditEveryMs] ?? 0),
        ...retention(),
      });
      const { pass, segments } = receipt;
      telemetry.meter.audited({ removed, ageMs: auditAgeMs(receipt, clock.now()) });
      telemetry.logger.info('audited', { ...pass, whole: segments === undefined });
      return { scanned: pass.scanned };
    });
}

/** Whoever rings without saying which part it wants, as by hand, gets one supervisor for all shards. */
function partOf(event: unknown): Part {
  const { part, of } = (event ?? {}) as { readonly part?: unknown; readonly of?: unknown };
  const isPart = Number.isInteger(part) && Number.isInteger(of) && Number(part) >= 0;
  return isPart && Number(part) < Number(of) ? { part: Number(part), of: Number(of) } : { part: 0, of: 1 };
}
