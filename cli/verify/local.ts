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
import { alarmIn } from './alarm-names.ts';
import { CannotAnswer } from './check.ts';
import { type AlarmPort, type Fault, type FaultPort, type Ports, rawOf, type Settings } from './ports.ts';
import { type Outputs, probesOf } from './probes.ts';
import { type Resource, settingsOf } from './template-settings.ts';

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
  signature: 'the local cloud verifies no signature',
  deployment: 'the local cloud runs no CloudFormation',
  release: 'the local cloud runs no CloudFormation',
  redrive: 'the local cloud moves no dead letters',
  time: 'it takes longer than a local cloud is worth',
};

export async function localPorts({ apiUrl, logs, runId }: LocalOptions): Promise<Ports> {
  const control = controlOf(apiUrl);
  const { gatewayUrl, outputs } = (await control('GET', '')) as {
    readonly gatewayUrl: string;
    readonly outputs: Readonly<Record<string, string>>;
  };
  const calls = new Calls({ region: REGION, endpoint: gatewayUrl, credentials: CREDENTIALS, clock: CLOCK });
  const settings = settingsOf((await control('GET', 'resources')) as readonly Resource[]);
  const beganAt = CLOCK.now();
  const probes = probesOf(calls, outputs as unknown as Outputs, (expression) => tick(control, expression));
  const hasProbes = outputs['VerifyEffects'] !== undefined;
  return {
    lacks: {
      ...LACKS,
      ...(hasProbes ? {} : { probes: 'the stack has none of the workflows of verify' }),
      ...(logs === undefined ? { logs: 'another process has the logs of this local cloud' } : {}),
    },
    clock: CLOCK,
    runId,
    api: createClient({ url: apiUrl }),
    begun: new Map(),
    raw: async (method, path, { headers = {} } = {}) =>
      rawOf(await fetch(`${apiUrl}${path}`, { method, headers })),
    settings: async () => settings,
    account: unanswered('the account'),
    deployment: unanswered('a deployment'),
    probes,
    logs: async (texts) => [
      ...(await denials(control, texts)),
      ...(logs === undefined ? [] : linesIn(logs, texts)),
    ],
    metric: (name) => metricSum(calls, metricOf(settings, name), beganAt),
    tableMetric: (name) => metricSum(calls, tableMetricOf(settings, name), beganAt),
    alarms: alarmsOf(control, () => probes.take(outputs['VerifyAlarms'] ?? '')),
    faults: faultsOf(control),
  };
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

function alarmsOf(control: Control, take: () => Promise<readonly string[]>): AlarmPort {
  const all = async () => (await control('GET', 'alarms')) as readonly Record<'name' | 'state', string>[];
  const named = async (text: string) =>
    alarmIn(
      (await all()).map(({ name }) => name),
      text,
    );
  return {
    raise: async (text) => {
      const name = (await named(text)) ?? text;
      for (const state of ['OK', 'ALARM'])
        await control('POST', `alarms/${encodeURIComponent(name)}/set`, { state });
    },
    state: async (text) => {
      const name = await named(text);
      return (await all()).find((alarm) => alarm.name === name)?.state ?? 'none';
    },
    news: async () => (await take()).map(alarmNamed),
  };
}

/** The name of the alarm that a message of a topic is about. */
export function alarmNamed(body: string): string {
  const { Message = '{}' } = JSON.parse(body) as { readonly Message?: string };
  return (JSON.parse(Message) as { readonly AlarmName?: string }).AlarmName ?? 'none';
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

/** A metric as CloudWatch asks for it. */
interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[];
}

/** One of the deployment's own. */
export function metricOf({ functions }: Settings, MetricName: string): Metric {
  const deployment = functions
    .map(({ variables }) => variables[ENV.deployment])
    .find((one) => one !== undefined);
  const Dimensions = [{ Name: METRICS_DIMENSION, Value: deployment ?? '' }];
  return { Namespace: METRICS_NAMESPACE, MetricName, Dimensions };
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html */
export const tableMetricOf = ({ table }: Settings, MetricName: string): Metric => ({
  Namespace: 'AWS/DynamoDB',
  MetricName,
  Dimensions: [{ Name: 'TableName', Value: table.name }],
});

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html */
export async function metricSum(calls: Calls, Metric: Metric, sinceMs: number): Promise<number | undefined> {
  const minuteS = 60;
  const { MetricDataResults } = await calls.json('monitoring', 'GetMetricData', {
    StartTime: Math.floor(sinceMs / 60_000) * minuteS,
    EndTime: Math.ceil(CLOCK.now() / 60_000) * minuteS + minuteS,
    MetricDataQueries: [{ Id: 'sum', MetricStat: { Metric, Period: minuteS, Stat: 'Sum' } }],
  });
  const [result] = (MetricDataResults ?? []) as readonly { readonly Values?: readonly number[] }[];
  const { Values = [] } = result ?? {};
  return Values.length === 0 ? undefined : Values.reduce((sum, value) => sum + value, 0);
}

const GROUPS = { rule: 'schedules', mapping: 'mappings', concurrency: 'functions' } as const;

/** The end of a fault is with the cloud: it comes also when this process does not. */
function faultsOf(control: Control): FaultPort {
  const group = ({ kind, id }: Fault): string => {
    return `${GROUPS[kind]}/${encodeURIComponent(id)}`;
  };
  return {
    make: async (fault) => {
      await control('POST', `${group(fault)}/disable`, { forMs: fault.forMs });
    },
    end: async (fault) => {
      await control('POST', `${group(fault)}/enable`);
    },
    // Those of an earlier run end by themselves, and nothing here knows them.
    endAll: async () => 0,
  };
}

type Unanswered = Ports['account'] & Ports['deployment'];

/** A port of which nothing can be asked; checks that need it are not run. */
export function unanswered(what: string): Unanswered {
  const refuse = (): never => {
    throw new CannotAnswer(`nothing here can be asked about ${what}`);
  };
  return new Proxy({} as Unanswered, { get: () => refuse });
}
