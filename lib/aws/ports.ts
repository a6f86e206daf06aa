/**
 * Makes the ports of one process of a function: environment → clients → ports.
 *
 * Owns: reading the environment, which adapter implements which port. Does not own: how calls are made
 * (`transport.ts`), when the ports are made, and for which role (`agent/handler.ts`).
 */

import type { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { refuse } from '../core/values/errors.ts';
import type { Ports, Presences, Receipts } from '../core/ports.ts';
import { agentQueues } from './agent-queues.ts';
import { clock } from './clock.ts';
import { ClockSkew } from './clock-skew.ts';
import { dynamoBulks } from './dynamo-bulks.ts';
import { dynamoErasure } from './dynamo-inventory.ts';
import { dynamoLanes } from './dynamo-lanes.ts';
import { dynamoLists, noLists } from './dynamo-lists.ts';
import { dynamoMailboxes } from './dynamo-mailboxes.ts';
import { dynamoReceipts } from './dynamo-receipts.ts';
import { BREAKER, dynamoRecords, OPEN_WAITS, PRESENCE, RATE, WORKFLOW_PAUSE } from './dynamo-side-records.ts';
import { unlistedStore } from './dynamo-store.ts';
import { eventBus } from './event-bus.ts';
import { freshId } from './fresh-id.ts';
import { createMeter, type Meter } from './metrics.ts';
import { type DetailBy, DEFAULT_SWEEP_EVERY_MS, DEFAULT_WAKE_SHARDS, ENV } from './names.ts';
import { type AtWork, sqsQueue } from './sqs-queue.ts';
import { valuesIn } from './s3-values.ts';
import { serviceLogger, tellAll } from './telemetry.ts';
import { CLIENT, transported } from './transport.ts';
import { wakeBus } from './wake-bus.ts';
import { defined } from '../core/values/defined.ts';

/** @throws SteadfastError `no-environment` */
export function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw refuse(
      'no-environment',
      `the environment variable ${name} is not set; the Steadfast construct sets it`,
    );
  }
  return value;
}

export interface Telemetry {
  readonly logger: Logger;
  readonly meter: Meter;
}

/** @param fields of every line: the function's role, and for an agent its name */
export function telemetryOf(fields: { readonly role: string; readonly agent?: string }): Telemetry {
  const deployment = process.env[ENV.deployment] ?? 'local';
  return { logger: serviceLogger(fields), meter: createMeter({ deployment, fields, by: metricsBy() }) };
}

/** The names under which CloudWatch has this deployment's metrics. */
export function measured(): { service: string; by: DetailBy[]; queues: Record<string, string> } {
  const urls = [...agentQueues(process.env)];
  const queues = urls.map(([agent, url]) => [agent, url.slice(url.lastIndexOf('/') + 1)] as const);
  return {
    service: fromEnvironment(ENV.deployment),
    by: [...metricsBy()],
    queues: Object.fromEntries(queues),
  };
}

const metricsBy = (): ReadonlySet<DetailBy> =>
  new Set((process.env[ENV.metricsBy] ?? '').split(',').filter((one) => one !== '') as DetailBy[]);

export const retention = (): { readonly retentionMs?: number } => {
  const text = process.env[ENV.retentionMs];
  return text === undefined ? {} : { retentionMs: Number(text) };
};
/** Calls `make` with the release that the environment names; returns undefined if it names none. */
export function releaseHere<Made>(make: (release: string) => Made): Made | undefined {
  const release = process.env[ENV.release];
  return release === undefined ? undefined : make(release);
}
export const sweepEvery = (): number => Number(process.env[ENV.sweepEveryMs] ?? DEFAULT_SWEEP_EVERY_MS);
export const wakeShards = (): number => Number(process.env[ENV.wakeShards] ?? DEFAULT_WAKE_SHARDS);

/** Lets the roles that read the whole table make further ports, which no agent's bundle then contains. */
interface StateTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  readonly shards: number;
  readonly agents: readonly string[];
}
export type OwnPorts = Ports & {
  readonly table: StateTable;
  readonly presences: Presences;
  readonly events: EventBridgeClient;
};

/**
 * The ports of a role that calls a supervisor if none would sweep in time: all except supervisor and audit.
 */
export function callingPortsOf(telemetry: Telemetry, atWork?: AtWork): OwnPorts {
  const own = portsOf(telemetry, atWork);
  const call = wakeBus(own.events, fromEnvironment(ENV.wakeBus));
  return { ...own, wakeUps: { ...own.presences, call, known: { untilAt: 0 } } };
}

/** The ports of a role that starts executions for callers, or obeys their commands. */
export function startingPortsOf(telemetry: Telemetry): OwnPorts {
  const own = callingPortsOf(telemetry);
  const { client, name } = own.table;
  return {
    ...own,
    workflowPauses: dynamoRecords(client, name, WORKFLOW_PAUSE),
    bulks: dynamoBulks(client, name, (ms) => clock.sleep(ms)),
  };
}

/** The ports of the role that answers callers: those of a start, the lists, and waiting for an end. */
export function listingPortsOf(telemetry: Telemetry): OwnPorts {
  const own = startingPortsOf(telemetry);
  const { client, name, shards } = own.table;
  const lists = dynamoLists(client, { table: name, wakeShards: shards, log: own.log });
  const most = process.env[ENV.openWaits];
  const waits = {
    ...dynamoRecords(client, name, OPEN_WAITS),
    ...(most === undefined ? {} : { most: Number(most) }),
  };
  const values = valuesIn(process.env, client);
  const erasure = { ...dynamoErasure(client, { table: name, wakeShards: shards }), ...defined({ values }) };
  return { ...own, store: { ...own.store, ...lists }, waits, erasure };
}

export const receiptsOf = ({ table: { client, name, shards } }: OwnPorts): Receipts =>
  dynamoReceipts(client, name, shards);

/** The same ports, with the log lines and the metrics of another agent of this process. */
export const namedAs = (ports: OwnPorts, { logger, meter }: Telemetry): OwnPorts => ({
  ...ports,
  log: tellAll(logger, meter),
});

export function portsOf({ logger, meter }: Telemetry, atWork?: AtWork): OwnPorts {
  const queues = agentQueues(process.env);
  const shards = wakeShards();
  const table = fromEnvironment(ENV.table);
  const log = tellAll(logger, meter);
  const skew = new ClockSkew(log, clock.correct, clock.steps);
  const dynamo = transported(new DynamoDBClient(CLIENT), { skew });
  const events = transported(new EventBridgeClient(CLIENT));
  const pause = (ms: number): Promise<void> => clock.sleep(ms);
  const largeValues = valuesIn(process.env, dynamo);
  return {
    ...(largeValues === undefined ? {} : { largeValues }),
    store: {
      ...unlistedStore(dynamo, { table, wakeShards: shards, ...retention(), pause, log }),
      ...noLists,
    },
    table: { client: dynamo, name: table, shards, agents: [...queues.keys()] },
    breakers: dynamoRecords(dynamo, table, BREAKER),
    rates: dynamoRecords(dynamo, table, RATE),
    lanes: dynamoLanes(dynamo, table),
    mailboxes: dynamoMailboxes(dynamo, { table, wakeShards: shards }, pause),
    queue: sqsQueue(transported(new SQSClient(CLIENT)), queues, {
      ...(atWork === undefined ? {} : { atWork }),
      isFair: process.env[ENV.fair] !== undefined,
    }),
    announcer: eventBus(events, fromEnvironment(ENV.bus)),
    events,
    presences: dynamoRecords(dynamo, table, PRESENCE),
    clock,
    random: { id: freshId, number: () => Math.random() },
    log,
  };
}
