/**
 * The measured deployment: the template of `bench/workflows` on a fresh local cloud, and its clients.
 *
 * Owns: starting and ending it, and detecting the end of an execution. Does not own: the counting
 * (`meter.ts`).
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoRecords, PRESENCE } from '../../lib/aws/dynamo-side-records.ts';
import { ENV, type Transport } from '../../lib/aws/names.ts';
import { presenceAfter, TICK_MS } from '../../lib/core/supervision/presence.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { type Meter, meterOf, roleOf } from './meter.ts';

export interface StageOptions {
  /** The most messages that one invocation of an agent takes (`agentSettings.batchSize`). */
  readonly batchSize: number;
  /** The most processes of each function, … */
  readonly processes: number;
  /** … and of each agent's function, if that number differs. */
  readonly agentProcesses?: number;
  /** Whether the supervisor's clock runs. */
  readonly schedules: boolean;
  /** Whether all agents share one function. @default false */
  readonly oneHost?: boolean;
  /** How functions call AWS. @default the transport that they use without a setting */
  readonly transport?: Transport;
  /** Whether DynamoDB reports its units, which takes processor time for every call. @default true */
  readonly capacity?: boolean;
}

export interface Stage {
  readonly cloud: Cloud;
  readonly meter: Meter;
  /** Starts an execution. @returns its id */
  readonly start: (workflow: string, input: unknown) => Promise<string>;
  /** The time at which the execution's end was announced. */
  readonly ended: (executionId: string) => Promise<number>;
  /** Waits until nothing is in progress. */
  readonly quiet: (struck?: number) => Promise<void>;
  readonly strike: () => Promise<void>;
}

const FOLDERS = ['bench/workflows'];
const CLIENT = new Agent({ keepAlive: true });
const POLL_EVERY_MS = 5;
/** Nothing measured here takes this long, not even a hundred thousand executions that are due at once. */
const END_WITHIN_MS = 3_600_000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function setStage(options: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-bench-'));
  const outdir = join(folder, 'cdk.out');
  const { assembly, stackName } = await synthesize({
    outdir,
    folders: FOLDERS,
    validation: false,
    ...(options.oneHost === true ? { hosting: 'shared' } : {}),
  });
  tune(join(assembly, `${stackName}.template.json`), options);
  let logBytes = 0;
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    fresh: true,
    port: 0,
    schedules: options.schedules,
    concurrencyPerFunction: options.processes,
    ...(options.transport === undefined ? {} : { environment: { [ENV.transport]: options.transport } }),
    onLog: ({ line }) => {
      // CloudWatch adds this many bytes to every event.
      logBytes += Buffer.byteLength(line) + 26;
    },
  });
  // Without a clock only the test makes sweeps: as in a busy system, where nothing calls a supervisor.
  const leave = options.schedules ? undefined : await keepPresent(cloud);
  const ends = endsOf(cloud);
  const strike = async (): Promise<void> => {
    ends.stop();
    leave?.();
    await cloud.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    cloud,
    meter: meterOf(cloud, () => logBytes, options.capacity ?? true),
    start: (workflow, input) => start(cloud, workflow, input),
    ended: ends.of,
    quiet: (struck = 0) => quiet(cloud, struck),
    strike,
  };
}

/**
 * Shorter than a tick's promise: a supervisor that finds an equally good promise leaves the work to the one
 * that made it.
 */
const PROMISED_MS = TICK_MS - 15_000;

/**
 * Announces repeatedly that a supervisor is at work: otherwise roles call one.
 * @returns a function that stops the announcements
 */
export async function keepPresent({ gatewayUrl, resources }: Cloud): Promise<() => void> {
  const table = [...resources.values()].find(({ type }) => type === 'AWS::DynamoDB::GlobalTable');
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBClient({ endpoint: gatewayUrl, region: 'us-east-1', credentials });
  const records = dynamoRecords(client, table?.physicalName ?? '', PRESENCE);
  const say = async (): Promise<void> => {
    const stored = (await records.read()) ?? { version: 0 };
    await records.write(presenceAfter(stored, randomUUID(), Date.now() + PROMISED_MS));
  };
  await say();
  // The next announcement makes up for a failed one.
  const saying = setInterval(() => void say().catch(() => undefined), PROMISED_MS / 3);
  return () => {
    clearInterval(saying);
    client.destroy();
  };
}

/** The schedules of the supervisors: two at the same minute. */
export const clocksOf = ({ cloud: { control } }: Stage): string[] =>
  control
    .schedules()
    .map(({ name }) => name)
    .filter((name) => name.toLowerCase().includes('supervisor'));

/** Triggers the supervisors' clock; ends when they expect nothing more, or the next tick is near. */
export async function tick(stage: Stage): Promise<void> {
  await Promise.all(clocksOf(stage).map((name) => stage.cloud.control.tick(name)));
}

/** Sets in the template the only two properties that `agentSettings` would set. */
function tune(file: string, { batchSize, agentProcesses }: StageOptions): void {
  const template = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
  };
  for (const [logicalId, { Type, Properties }] of Object.entries(template.Resources)) {
    if (Type === 'AWS::Lambda::EventSourceMapping') Properties['BatchSize'] = batchSize;
    const isAgent = Type === 'AWS::Lambda::Function' && roleOf(logicalId) === 'agent';
    if (isAgent && agentProcesses !== undefined) Properties['ReservedConcurrentExecutions'] = agentProcesses;
  }
  writeFileSync(file, JSON.stringify(template));
}

/**
 * Starts an execution. The client's processor time is measured too, and `fetch` would use four times as much.
 */
async function start(cloud: Cloud, workflow: string, input: unknown): Promise<string> {
  const sent = request(`${cloud.apiUrl}/workflows/${workflow}/executions`, { method: 'POST', agent: CLIENT });
  sent.end(JSON.stringify({ input }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answer = await text(response);
  const { executionId } = JSON.parse(answer) as { readonly executionId?: string };
  if (executionId === undefined) throw new Error(`a start was answered ${answer}`);
  return executionId;
}

interface Ends {
  readonly of: (executionId: string) => Promise<number>;
  readonly stop: () => void;
}

type Event = ReturnType<Cloud['control']['events']>[number];
interface Ended {
  readonly executionId?: string;
  readonly status?: string;
}

interface Waiting {
  readonly resolve: (endedAt: number) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Reads the bus, because requests to the API would be counted. One reader serves all waiting callers, because
 * its work would be measured.
 */
function endsOf(cloud: Cloud): Ends {
  const known = new Map<string, number>();
  const waiting = new Map<string, Waiting>();
  let last: string | undefined;
  let broken: Error | undefined;
  const fail = (reason: Error): void => {
    broken ??= reason;
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  const hear = ({ at: endedAt, detail }: Event): void => {
    const { executionId, status } = detail as Partial<Ended>;
    // News about a risk or a question has no status.
    if (executionId === undefined || status === undefined || known.has(executionId)) return;
    // A failed execution is cheap and quick, so no figure may include one.
    if (status !== 'succeeded') return fail(new Error(`execution ${executionId} ended as ${status}`));
    known.set(executionId, endedAt);
    waiting.get(executionId)?.resolve(endedAt);
    waiting.delete(executionId);
  };
  const look = (): void => {
    const events = cloud.control.events();
    const heard = events.findLastIndex(({ id }) => id === last);
    if (heard < 0 && last !== undefined)
      fail(new Error('more ends at once than the bus keeps: some were not heard of'));
    for (const event of events.slice(heard + 1)) hear(event);
    last = events.at(-1)?.id;
  };
  const timer = setInterval(look, POLL_EVERY_MS);
  return {
    of: async (executionId) => {
      const endedAt = known.get(executionId);
      if (endedAt !== undefined) return endedAt;
      if (broken !== undefined) throw broken;
      return await within(END_WITHIN_MS, `execution ${executionId} did not end`, ({ resolve, reject }) =>
        waiting.set(executionId, { resolve, reject }),
      );
    },
    stop: () => clearInterval(timer),
  };
}

function within(ms: number, otherwise: string, wait: (waiting: Waiting) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(otherwise)), ms);
    const ended =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        clearTimeout(limit);
        settle(value);
      };
    wait({ resolve: ended(resolve), reject: ended(reject) });
  });
}

/** The longest time that anything can be in progress once all executions have ended: a supervisor's tick. */
const QUIET_WITHIN_MS = 120_000;

/** Waits, because the last write of an execution comes after its announcement. */
export async function quiet({ control }: Cloud, struck: number): Promise<void> {
  const giveUpAt = performance.now() + QUIET_WITHIN_MS;
  for (;;) {
    await pause(50);
    const queues = control
      .queues()
      .filter(({ visible, inFlight, delayed }) => visible + inFlight + delayed > 0);
    const busy = control
      .functions()
      .filter(({ processes }) => processes.some(({ state }) => state === 'busy'));
    const dead = queues.find(({ name }) => name.toLowerCase().includes('deadletter'));
    if (dead !== undefined) throw new Error(`a message is in ${dead.name}: an agent has failed`);
    const moving = queues.reduce(
      (sum, { visible, inFlight, delayed }) => sum + visible + inFlight + delayed,
      0,
    );
    const left = queues.reduce((sum, { inFlight }) => sum + inFlight, 0);
    if (moving - Math.min(left, struck) + busy.length === 0) return;
    const what = [...queues.map(({ name }) => name), ...busy.map(({ logicalId }) => logicalId)];
    if (performance.now() > giveUpAt) throw new Error(`there is no end of work in ${what.join(', ')}`);
  }
}
