/**
 * The Lambda function of an agent: ports → agent → SQS batch.
 *
 * Owns: one batch and its answer. Does not own: handling a message (`agent/message.ts`), making ports
 * (`aws/ports.ts`), an invocation (`aws/invocation.ts`).
 */

import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { clock } from '../aws/clock.ts';
import { givenBack, metering, once } from '../aws/invocation.ts';
import { callingPortsOf, type Telemetry, telemetryOf } from '../aws/ports.ts';
import { ENV } from '../aws/names.ts';
import { attemptLog, correlated, tellExit } from '../aws/telemetry.ts';
import type { Agent, Implementation } from '../core/plan/agent.ts';
import { partProblem } from '../core/plan/agent-parts.ts';
import { PermanentError, refuse, sayable } from '../core/values/errors.ts';
import { type Message, parseMessage } from '../core/decisions/message.ts';
import { perSecondOf } from '../core/values/rate.ts';
import type { PlanCache } from '../engine/plans.ts';
import { lackOf, type Worker } from './author-code.ts';
import { ProcessBreaker } from './breaker.ts';
import { handleMessage } from './message.ts';
import { ProcessRate } from './process-rate.ts';
import { SingleFlight } from './single-flight.ts';

/** An agent's Lambda function, as `.handler(…)` and `remoteAgent(…)` give it: export it as `handler`. */
export interface AgentHandler {
  (event: SQSEvent, context: Context): Promise<SQSBatchResponse>;
  readonly worker: Worker;
  /** @internal */
  readonly telemetry: Telemetry;
}

/**
 * Makes the Lambda function of an agent: it handles each message of an SQS batch on its own, and names those
 * that must be delivered again.
 * @throws SteadfastError `bad-agent` for an implementation without `execute`, or with a misspelled part
 */
export function agentHandler(
  agent: Agent,
  implementation: Implementation<unknown, unknown>,
  more: Pick<Worker, 'deferredBy' | 'enter'> = {},
): AgentHandler {
  const atWork = { messages: 0 };
  const { name } = agent.spec;
  const problem = partProblem(implementation);
  if (problem !== undefined) throw refuse('bad-agent', `agent '${name}': ${problem}`);
  const breaker = new ProcessBreaker(name);
  const rate = process.env[ENV.rate];
  const telemetry = telemetryOf({ role: 'agent', agent: name });
  const lacks = lackOf(agent, implementation);
  const worker: Worker = {
    ...more,
    agent,
    implementation,
    ...(lacks === undefined ? {} : { lacks }),
    breaker,
    ...(rate === undefined ? {} : { rate: new ProcessRate(name, perSecondOf(rate)) }),
    singleFlight: new SingleFlight(atWork),
    underWay: new Set(),
    logOf: (context) => attemptLog(telemetry.logger, { ...context }),
  };
  const ports = once(() => {
    process.once('exit', (code) => tellExit(telemetry.logger, code, worker.underWay));
    return callingPortsOf(telemetry, atWork);
  }, process.env[ENV.hosted] === undefined);
  const plans: PlanCache = new Map();
  const handle: HandleRecord = (record, deadline) =>
    handleRecord(record, telemetry, async (message) => {
      const own = ports();
      const leave = await worker.enter?.();
      if (leave === undefined && worker.enter !== undefined) return 'give-back';
      atWork.messages += 1;
      try {
        return await handleMessage(own, plans, worker, message, deadline);
      } finally {
        atWork.messages -= 1;
        leave?.();
      }
    });
  const handler = (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    metering(telemetry, context, () => handleBatch(event, context, handle));
  return Object.assign(handler, { worker, telemetry });
}

type Handled = 'handled' | 'give-back';
/** @param deadline when this invocation is certainly over */
type HandleRecord = (record: SQSRecord, deadline: () => number) => Promise<Handled>;

export async function handleBatch(
  { Records }: SQSEvent,
  context: Context,
  handle: HandleRecord,
): Promise<SQSBatchResponse> {
  const beganMs = performance.now();
  const leftMs = context.getRemainingTimeInMillis();
  const deadline = (): number => clock.now() + leftMs - (performance.now() - beganMs);
  return givenBack(Records, await Promise.all(Records.map((record) => handle(record, deadline))));
}

/** Keeps a message of a newer version for the newer code; drops anything that is not a message. */
export async function handleRecord(
  { body, messageId }: SQSRecord,
  { logger }: Telemetry,
  handle: (message: Message) => Promise<Handled>,
): Promise<Handled> {
  const message = parseMessage(body);
  if (message === 'newer') return 'give-back';
  if (message === undefined) {
    logger.warn('message-malformed', { messageId });
    return 'handled';
  }
  try {
    return await handle(message);
  } catch (error) {
    const { execution: executionId, step, attempt } = message;
    const about = { executionId, step, attempt, error: sayable(error) };
    logger.warn('message-given-back', correlated(about));
    return 'give-back';
  }
}

/**
 * The handler that an agent's file exports, behind the agent's queue. If the file exports another agent's
 * handler, it does no work and reports that to every execution: otherwise it would drop every message as not
 * its own, unnoticed.
 * @param name of the file, and so of the agent
 */
export function handlerOfFile(name: string, handler: AgentHandler): AgentHandler {
  // Bundling has refused other values; this one belongs to a test.
  const { agent } = (handler.worker ?? {}) as Partial<Worker>;
  if (agent === undefined || agent.spec.name === name) return handler;
  const message = `the file of agent '${name}' exports the handler of agent '${agent.spec.name}'; nothing was done`;
  const doNothing = async (): Promise<never> => {
    throw Object.assign(new PermanentError(message), { code: 'wrong-handler' });
  };
  const any: Agent['input'] = {
    '~standard': { version: 1, vendor: 'steadfast', validate: (value) => ({ value }) },
  };
  return agentHandler(
    { ...agent, spec: { ...agent.spec, name }, input: any, output: any },
    { execute: doNothing, probe: doNothing, undo: doNothing },
  );
}
