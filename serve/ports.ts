/**
 * Creates the ports of the roles in this process: the same adapters as on AWS, over the client of one file.
 *
 * Owns: which adapter implements which port. Does not own: the adapters (`lib/aws/dynamo-*.ts`), the client
 * (`sqlite/client.ts`), the memory of executions (`known-executions.ts`). No role calls a supervisor, because
 * the process's supervisor sweeps all the time.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoBulks } from '../lib/aws/dynamo-bulks.ts';
import { dynamoLanes } from '../lib/aws/dynamo-lanes.ts';
import { dynamoMailboxes } from '../lib/aws/dynamo-mailboxes.ts';
import { dynamoErasure, dynamoInventory } from '../lib/aws/dynamo-inventory.ts';
import type { FindAtRisk } from '../lib/aws/dynamo-open.ts';
import { dynamoReceipts } from '../lib/aws/dynamo-receipts.ts';
import {
  BREAKER,
  dynamoRecords,
  RATE,
  VALUES_AUDIT,
  WORKFLOW_PAUSE,
} from '../lib/aws/dynamo-side-records.ts';
import { dynamoStore } from '../lib/aws/dynamo-store.ts';
import { createMeter, type Meter, type MeterOptions } from '../lib/aws/metrics.ts';
import { DEFAULT_WAKE_SHARDS } from '../lib/aws/names.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import { serviceLogger, tellAll } from '../lib/aws/telemetry.ts';
import type { Announcer, Clock, Ends, Log, Ports, Queue, RandomSource } from '../lib/core/ports.ts';
import type { StorageTrouble } from '../lib/core/values/server-troubles.ts';
import { defined } from '../lib/core/values/defined.ts';
import type { AuditPorts } from '../lib/supervisor/audit.ts';
import type { Values, ValuesAuditPorts } from '../lib/supervisor/audit-values.ts';
import type { Measured } from '../lib/api/health.ts';
import { knownExecutions } from './known-executions.ts';
import { MetricTotals } from './metric-totals.ts';
import { TABLE_NAME } from './sqlite/client.ts';

/** The deployment that all metrics of a process belong to. */
const DEPLOYMENT = 'steadfast-serve';
/** The dimensions of the metrics; the queue in memory has no metrics of its own. */
export const MEASURED: Measured = { service: DEPLOYMENT, by: [], queues: {} };

/** The beginning of a note about an error of the file (`worded` in `server.ts`). */
const UNKEPT_DETAIL = 'not-kept: ';

/** The longest time between a claim's read and its write; the claim may wait for a slot in between. */
const WRITTEN_WITHIN_MS = 3_000;

export type ServerPorts = Ports & AuditPorts & ValuesAuditPorts;

export interface PortParts {
  readonly client: DynamoDBClient;
  readonly findAtRisk: FindAtRisk;
  readonly values: Values;
  readonly queue: Queue;
  readonly announcer: Announcer;
  readonly ends: Ends;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly storageTrouble: () => StorageTrouble | undefined;
  readonly connectionTrouble: NonNullable<Ports['connectionTrouble']>;
  readonly issuesInParts: NonNullable<Ports['issuesInParts']>;
  readonly away: NonNullable<Ports['away']>;
  readonly workerTroubles: NonNullable<Ports['workerTroubles']>;
  readonly startedAt: number;
  readonly retentionMs?: number;
}

/** The ports that every role shares, except for the log (`withLog`). */
export function serverPorts({ client, findAtRisk, retentionMs, ...parts }: PortParts, log: Log): ServerPorts {
  const table = TABLE_NAME;
  const wakeShards = DEFAULT_WAKE_SHARDS;
  const pause = (ms: number): Promise<void> => parts.clock.sleep(ms);
  return {
    ...parts,
    waitsHere: new Map(),
    store: knownExecutions(
      dynamoStore(client, { table, wakeShards, findAtRisk, pause, log, ...defined({ retentionMs }) }),
    ),
    breakers: dynamoRecords(client, table, BREAKER),
    rates: dynamoRecords(client, table, RATE),
    lanes: dynamoLanes(client, table),
    mailboxes: dynamoMailboxes(client, { table, wakeShards }, pause),
    workflowPauses: dynamoRecords(client, table, WORKFLOW_PAUSE),
    bulks: dynamoBulks(client, table, pause),
    receipts: dynamoReceipts(client, table, wakeShards),
    inventory: dynamoInventory(client, { table, wakeShards }),
    erasure: {
      ...dynamoErasure(client, { table, wakeShards }),
      values: parts.values,
      writtenWithinMs: WRITTEN_WITHIN_MS,
    },
    largeValues: parts.values,
    valuesAudit: dynamoRecords(client, table, VALUES_AUDIT),
    log,
  };
}

const nothing = (): void => undefined;
const SILENT: Meter = {
  note: nothing,
  swept: nothing,
  open: nothing,
  audited: nothing,
  flush: nothing,
};

/** Labels the lines and metrics of each role with its name, as its function does on AWS. */
export class Telemetries {
  readonly #isQuiet: boolean;
  readonly #onLine: MeterOptions['onLine'];
  readonly #meters: Meter[] = [];
  readonly #totals = new MetricTotals();

  constructor(isQuiet: boolean, onLine?: MeterOptions['onLine']) {
    this.#isQuiet = isQuiet;
    this.#onLine = onLine;
  }

  of(fields: { readonly role: string; readonly agent?: string }): Telemetry {
    const logger = serviceLogger(fields);
    if (this.#isQuiet) {
      logger.setLogLevel('SILENT');
      return { logger, meter: SILENT };
    }
    const onLine = (line: string): void => {
      this.#totals.line(defined(fields), line);
      this.#onLine?.(line);
    };
    const meter = createMeter({ deployment: DEPLOYMENT, fields, onLine });
    this.#meters.push(meter);
    return { logger, meter };
  }

  /** Writes the counts so far. */
  flush(): void {
    for (const meter of this.#meters) meter.flush();
  }

  /** The totals since the start, for Prometheus. */
  text(): string {
    this.flush();
    return this.#totals.text();
  }
}

/** The same ports for one role, so that its notes are counted separately. */
export function withTelemetry<P extends Ports>(ports: P, { logger, meter }: Telemetry): P {
  const lines = tellAll(logger);
  // While no write succeeds, every due evaluation fails at each sweep; `unkept-writes.ts` reports that once.
  const isSaid = (detail = ''): boolean =>
    detail.startsWith(UNKEPT_DETAIL) && ports.storageTrouble?.() !== undefined;
  const log: Log = {
    note: (note, origin) => {
      meter.note(note, origin);
      if (!isSaid(note.detail)) lines.note(note, origin);
    },
  };
  return { ...ports, log };
}
