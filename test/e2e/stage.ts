/**
 * Runs the whole system on the local cloud, from the deployed template, with the example's outside world. If
 * a role lacks a permission, the test fails: every later request rejects with function, action and resource.
 */

import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DEEDS } from '../../examples/order-fulfilment/world.ts';
import { startWorld, type World } from '../../examples/world/server.ts';
import { dynamoRecords, PRESENCE } from '../../lib/aws/dynamo-side-records.ts';
import { ENV, type Transport } from '../../lib/aws/names.ts';
import { presenceAfter, TICK_MS } from '../../lib/core/supervision/presence.ts';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';
import type { Json } from '../../local/template/json.ts';
import { exampleAssembly } from './assembly.ts';

export interface Answer {
  readonly status: number;
  // The tests read its fields; a missing one fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
}

export interface Stage {
  readonly cloud: Cloud;
  readonly world: World;
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly startOrder: (orderId: string) => Promise<string>;
  /**
   * Waits for the end of the execution and of its follow-up, repeating the API's wait as needed. Waits queue
   * behind each other.
   */
  readonly ended: (executionId: string) => Promise<Answer['body']>;
  /** Records that a supervisor is present for this long, so that processes that read this call none. */
  readonly sayPresent: (forMs: number) => Promise<void>;
  /** The folder with a log file for each function. */
  readonly logs: string;
  readonly strike: () => Promise<void>;
}

export const order = (orderId: string): Record<string, unknown> => ({
  orderId,
  email: 'ada@example.com',
  address: '1 Main Street',
  items: [{ sku: 'tea', quantity: 2 }],
  total: 4_200,
});

const EARLY_ANSWER_MS = 100;

/** Times that replace those of the template. */
export interface Times {
  /**
   * The timeout of agents' functions. Until it has passed, a killed attempt may count as acting, so a test
   * that kills attempts waits for it.
   * @default the template's
   */
  readonly agentTimeoutS?: number | undefined;
  /**
   * How often a supervisor sweeps, and how long a called one stays.
   * @default the template's
   */
  readonly sweepEveryMs?: number | undefined;
}

export interface StageOptions extends Times {
  readonly schedules: boolean;
  /**
   * Whether to record a supervisor as always present, so that none is called, as in a busy system.
   * @default false
   */
  readonly present?: boolean;
  /**
   * How functions call AWS.
   * @default the product's default
   */
  readonly transport?: Transport;
  /** Variables for every function's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Further handlers on the API's port. */
  readonly beside?: NonNullable<CloudOptions['beside']>;
  /** An existing assembly, with its template changed. */
  readonly changed?: { readonly assembly: string; readonly change: (template: Json) => Json };
}

export const STACK = 'Steadfast-dev';
export const templateIn = (assembly: string): string => join(assembly, `${STACK}.template.json`);

/** Sets the timeout of every agent's function in the template. */
function withAgentTimeout(template: Json, seconds: number): Json {
  const copy = structuredClone(template) as unknown as { Resources: Record<string, Declared> };
  const isAgent = ({ Type, Metadata }: Declared): boolean =>
    Type === 'AWS::Lambda::Function' && /\/Agents\/[^/]+\/Function\//.test(Metadata?.['aws:cdk:path'] ?? '');
  const agents = Object.values(copy.Resources).filter(isAgent);
  if (agents.length === 0) throw new Error('no agent in the template');
  for (const { Properties } of agents) Properties['Timeout'] = seconds;
  return copy as unknown as Json;
}

/** Sets the time between two sweeps in the template, as the stack's setting does. */
function withSweepEvery(template: Json, ms: number): Json {
  const copy = structuredClone(template) as unknown as { Resources: Record<string, Declared> };
  const isSupervisor = ({ Type, Metadata }: Declared): boolean =>
    Type === 'AWS::Lambda::Function' && /\/Supervisor\/Function\//.test(Metadata?.['aws:cdk:path'] ?? '');
  const supervisors = Object.values(copy.Resources).filter(isSupervisor);
  if (supervisors.length === 0) throw new Error('no supervisor in the template');
  for (const { Properties } of supervisors) {
    Properties['Environment'] = { Variables: { ...variablesOf(Properties), [ENV.sweepEveryMs]: String(ms) } };
  }
  return copy as unknown as Json;
}

function variablesOf(properties: Declared['Properties'] | undefined): Record<string, unknown> {
  const { Variables } = Object(properties?.['Environment']) as { Variables?: Record<string, unknown> };
  return Variables ?? {};
}

interface Declared {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly Metadata?: Readonly<Record<string, string>>;
}

function rewrite(assembly: string, change: (template: Json) => Json): void {
  const template = JSON.parse(readFileSync(templateIn(assembly), 'utf8')) as Json;
  writeFileSync(templateIn(assembly), JSON.stringify(change(template)));
}

/** @param assembly a copy of one, which is changed */
export function setTimes(assembly: string, { agentTimeoutS, sweepEveryMs }: Times): void {
  if (agentTimeoutS !== undefined) rewrite(assembly, (template) => withAgentTimeout(template, agentTimeoutS));
  if (sweepEveryMs !== undefined) rewrite(assembly, (template) => withSweepEvery(template, sweepEveryMs));
}

export async function setStage({
  schedules,
  agentTimeoutS,
  sweepEveryMs,
  transport,
  changed,
  present = false,
  beside = {},
  environment = {},
}: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-'));
  const assembly = join(folder, 'cdk.out');
  cpSync(changed?.assembly ?? (await exampleAssembly()), assembly, { recursive: true });
  if (changed !== undefined) rewrite(assembly, changed.change);
  setTimes(assembly, { agentTimeoutS, sweepEveryMs });
  let refuse: (reason: Error) => void = () => undefined;
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  refused.catch(() => undefined);
  const world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    fresh: true,
    port: 0,
    schedules,
    beside,
    environment: {
      WORLD_URL: world.url,
      ...environment,
      ...(transport === undefined ? {} : { [ENV.transport]: transport }),
    },
    onDenied: ({ message }) => refuse(new Error(message)),
  });
  const sayPresent = (forMs: number): Promise<void> => writePresence(cloud, forMs);
  if (present) await sayPresent(PRESENT_MS);
  const request: Stage['request'] = async (method, path, body, headers = {}) => {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const sent = fetch(`${cloud.apiUrl}${path}`, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await Promise.race([refused, sent]);
    const answered = await answer.text();
    return { status: answer.status, body: parsed(answered), text: answered };
  };
  // Only one waits at a time: each takes a process of the scheduler, and beyond a few, waits are refused and
  // repeated.
  let turn: Promise<unknown> = Promise.resolve();
  return {
    cloud,
    world,
    request,
    sayPresent,
    logs: join(folder, 'data', 'logs'),
    startOrder: async (orderId) => {
      const start = { input: order(orderId), idempotencyKey: orderId };
      const { body, text } = await unbusy(() =>
        request('POST', '/workflows/order-fulfilment/executions', start),
      );
      if (body?.executionId === undefined) throw new Error(`${orderId} is not started: ${text}`);
      return body.executionId;
    },
    ended: (executionId) => {
      const end = turn.then(() => endOf(request, executionId));
      turn = end.catch(() => undefined);
      return end;
    },
    strike: async () => {
      const denials = cloud.control.denials().map(({ message }) => message);
      await cloud.stop();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
      // Also problems that no request showed: a log that may not be written, a supervisor that nobody waited
      // for.
      if (changed === undefined && denials.length > 0) throw new Error(denials.join('\n'));
    },
  };
}

const TRIES = 20;
/** Repeats a request while a busy API does not answer in time, as a client does. @returns the last answer */
export async function unbusy(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask();
  for (let at = 1; at < TRIES && answer.status >= 500; at += 1) {
    await pause(EARLY_ANSWER_MS);
    answer = await ask();
  }
  return answer;
}

/** Shorter than Jest's limit, so that the error can say what the test waited for. */
const HANGS_AFTER_MS = 400_000;

/**
 * Rejects with a message of what it waited for if this takes too long. @param said the state known by then
 */
export async function inTime<T>(what: Promise<T>, said: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs: ${said()}`)), HANGS_AFTER_MS);
  });
  return await Promise.race([what, hung]).finally(() => clearTimeout(timer));
}

async function endOf(request: Stage['request'], executionId: string): Promise<Answer['body']> {
  let last = 'never answered';
  const ended = async (): Promise<Answer['body']> => {
    for (;;) {
      const { status, body, text } = await request('GET', `/executions/${executionId}?wait=20s`);
      if (status === 200 && body.endedAt !== undefined && body.wakeAt === undefined) return body;
      last = `${status} ${text}`;
      await pause(EARLY_ANSWER_MS);
    }
  };
  return await inTime(ended(), () => `the end of ${executionId}, ${last}`);
}

/**
 * Starts an order, with the same key until there is an answer, because the answering process may be killed.
 */
export async function startStubbornly({ startOrder }: Stage, orderId: string): Promise<string> {
  const started = async (): Promise<string> => {
    for (;;) {
      // Refused, or not answered.
      const id = await startOrder(orderId).catch(() => undefined);
      if (id !== undefined) return id;
    }
  };
  return await inTime(started(), () => `the start of ${orderId}`);
}

/** The effects of these executions in the outside world's ledger. */
export async function ledgerOf({ world }: Stage, ids: readonly string[]): Promise<never[]> {
  const answer = await fetch(`${world.url}/ledger`);
  const { entries } = (await answer.json()) as { entries: { readonly executionId?: string }[] };
  return entries.filter(({ executionId }) => ids.includes(executionId ?? '')) as never[];
}

/** Slightly less than the longest presence that a supervisor may promise; a longer one is ignored. */
export const PRESENT_MS = 2 * TICK_MS - 5_000;

async function writePresence({ gatewayUrl, resources }: Cloud, forMs: number): Promise<void> {
  const table = [...resources.values()].find(({ type }) => type === 'AWS::DynamoDB::GlobalTable');
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: gatewayUrl, region: 'us-east-1', credentials });
  const presences = dynamoRecords(client, table?.physicalName ?? '', PRESENCE);
  const untilAt = Date.now() + forMs;
  for (let result = 'conflict'; result === 'conflict'; ) {
    const stored = await presences.read();
    result = await presences.write(presenceAfter(stored ?? { version: 0 }, randomUUID(), untilAt));
  }
  client.destroy();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
