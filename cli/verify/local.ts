/**
 * The ports of `verify` over a local cloud, through its addresses alone: it may run in another process.
 *
 * Owns: what a local cloud cannot answer, and why. Does not own: the cloud (`local/`), how one is started
 * (`local-stack.ts`).
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { METRICS_DIMENSION, METRICS_NAMESPACE, ENV } from '../../lib/aws/names.ts';
import { Calls } from '../aws/calls.ts';
import { CliError, CLOCK, EXIT } from '../io.ts';
import { type Ports, type QueueFacts, rawOf } from './ports.ts';
import { type Outputs, probesOf } from './probes.ts';

export interface LocalOptions {
  readonly apiUrl: string;
  /** The folder with a file for each function's lines; absent: they cannot be read. */
  readonly logs?: string;
  readonly runId: string;
}

const REGION = 'us-east-1';
const CREDENTIALS = { accessKeyId: 'verify', secretAccessKey: 'verify' };
const LACKS: Ports['lacks'] = {
  account: 'the local cloud is not an account',
  stack: 'the local cloud runs no CloudFormation',
  signature: 'the local cloud verifies no signature',
  deployment: 'the local cloud runs no CloudFormation',
};

/** As the local cloud's control gives it. */
interface Resource {
  readonly type: string;
  readonly physicalName: string;
  readonly ref: string;
  readonly properties: {
    readonly RedrivePolicy?: { readonly deadLetterTargetArn: string };
    readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  };
}

export async function localPorts({ apiUrl, logs, runId }: LocalOptions): Promise<Ports> {
  const control = controlOf(apiUrl);
  const { gatewayUrl, outputs } = (await control('GET', '')) as {
    readonly gatewayUrl: string;
    readonly outputs: Readonly<Record<string, string>>;
  };
  const calls = new Calls({ region: REGION, endpoint: gatewayUrl, credentials: CREDENTIALS, clock: CLOCK });
  const resources = (await control('GET', 'resources')) as readonly Resource[];
  const deployment = resources
    .map(({ properties }) => properties.Environment?.Variables?.[ENV.deployment])
    .find((one) => one !== undefined);
  const beganAt = CLOCK.now();
  const hasProbes = outputs['VerifyEffects'] !== undefined;
  return {
    lacks: {
      ...LACKS,
      ...(hasProbes
        ? {}
        : { probes: 'the stack has none of the workflows of verify', canary: 'it may have no canary' }),
      ...(logs === undefined ? { logs: 'another process has the logs of this local cloud' } : {}),
    },
    clock: CLOCK,
    runId,
    api: createClient({ url: apiUrl }),
    begun: new Map(),
    raw: async (path) => rawOf(await fetch(`${apiUrl}${path}`)),
    account: unanswered('the account'),
    stack: unanswered('CloudFormation'),
    queues: async () => resources.filter(({ type }) => type === 'AWS::SQS::Queue').map(queueOf),
    probes: probesOf(calls, outputs as unknown as Outputs, (expression) => tick(control, expression)),
    logs: async (texts) => [
      ...(await denials(control, texts)),
      ...(logs === undefined ? [] : linesIn(logs, texts)),
    ],
    metric: (name) => metricSum(calls, deployment, name, beganAt),
    tearDown: () => Promise.reject(new CliError('local', 'the local cloud runs no CloudFormation')),
  };
}

function queueOf({ physicalName, ref, properties: { RedrivePolicy } }: Resource): QueueFacts {
  const deadLetters = RedrivePolicy?.deadLetterTargetArn.split(':').at(-1);
  return { name: physicalName, url: ref, ...(deadLetters === undefined ? {} : { deadLetters }) };
}

type Control = (method: string, path: string, body?: unknown) => Promise<unknown>;

const controlOf =
  (apiUrl: string): Control =>
  async (method, path, body) => {
    const answer = await fetch(`${apiUrl}/_local/${path}`, {
      method,
      ...(method === 'GET'
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
    }).catch(() => undefined);
    if (answer === undefined)
      throw new CliError('no-answer', `no local cloud answers at ${apiUrl}`, EXIT.noAnswer);
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    throw new CliError('local', `${method} /_local/${path}: ${text.trim()}`, EXIT.failed);
  };

/** @returns whether a schedule of this kind is there */
async function tick(control: Control, expression: string): Promise<boolean> {
  const all = (await control('GET', 'schedules')) as readonly {
    readonly name: string;
    readonly expression: string;
  }[];
  const due = all.filter((each) => each.expression === expression);
  for (const { name } of due) await control('POST', `schedules/${encodeURIComponent(name)}/tick`);
  return due.length > 0;
}

const MOST_LINES = 100;
function linesIn(folder: string, texts: readonly string[]): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log') && !name.startsWith('_'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => texts.some((text) => line.includes(text)))
    .slice(0, MOST_LINES);
}

/** What the policies of the template refused, in AWS's words. */
async function denials(control: Control, texts: readonly string[]): Promise<string[]> {
  const all = (await control('GET', 'denials')) as readonly { readonly message: string }[];
  return texts.includes('AccessDenied') ? all.map(({ message }) => message) : [];
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html */
export async function metricSum(
  calls: Calls,
  deployment: string | undefined,
  MetricName: string,
  sinceMs: number,
): Promise<number | undefined> {
  const minuteS = 60;
  const Dimensions = [{ Name: METRICS_DIMENSION, Value: deployment ?? '' }];
  const Metric = { Namespace: METRICS_NAMESPACE, MetricName, Dimensions };
  const { MetricDataResults } = await calls.json('monitoring', 'GetMetricData', {
    StartTime: Math.floor(sinceMs / 60_000) * minuteS,
    EndTime: Math.ceil(CLOCK.now() / 60_000) * minuteS + minuteS,
    MetricDataQueries: [{ Id: 'sum', MetricStat: { Metric, Period: minuteS, Stat: 'Sum' } }],
  });
  const [result] = (MetricDataResults ?? []) as readonly { readonly Values?: readonly number[] }[];
  const { Values = [] } = result ?? {};
  return Values.length === 0 ? undefined : Values.reduce((sum, value) => sum + value, 0);
}

/** A port of which nothing can be asked: a check that needs it is not run. */
function unanswered(what: string): Ports['account'] & Ports['stack'] {
  const refuse = (): never => {
    throw new CliError('local', `nothing here can be asked about ${what}`);
  };
  return new Proxy({} as Ports['account'] & Ports['stack'], { get: () => refuse });
}
