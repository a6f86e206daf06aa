/**
 * The ports of `verify` over an AWS account.
 *
 * Owns: what each port calls, and what a stack without the workflows of verify cannot answer. Does not own:
 * faults (`aws-faults.ts`), settings (`account-settings.ts`), how a call is made (`../aws/calls.ts`).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { type Answer, type Calls, inXml, plainOf, unlessGone } from '../aws/calls.ts';
import { readObject } from '../dev/project.ts';
import { CliError, CLOCK, EXIT } from '../io.ts';
import { signedFetch } from '../signed-fetch.ts';
import { accountSettings } from './account-settings.ts';
import { alarmIn } from './alarm-names.ts';
import { AwsFaults } from './aws-faults.ts';
import { alarmNamed, metricOf, metricSum, tableMetricOf, unanswered } from './local.ts';
import {
  type AccountFacts,
  type AlarmPort,
  type DeploymentPort,
  type Ports,
  rawOf,
  type Settings,
} from './ports.ts';
import { type Outputs, probesOf } from './probes.ts';

export interface AwsOptions {
  readonly calls: Calls;
  readonly stack: string;
  readonly region: string;
  readonly runId: string;
  /** Absent for a stack that is not of verify. */
  readonly deployment?: DeploymentPort;
  /** Whether that can go back to the release before. */
  readonly hasRelease?: boolean;
}

const NO_PROBES = 'only in the stack of verify: --throwaway deploys one';

export async function awsPorts(options: AwsOptions): Promise<Ports> {
  const { calls, stack, region, runId, deployment, hasRelease = false } = options;
  const outputs = await outputsOf(calls, stack);
  const { ApiUrl: url, VerifyEnder: roleArn } = outputs;
  if (url === undefined)
    throw new CliError('no-stack', `the stack '${stack}' has no output ApiUrl`, EXIT.failed);
  const fetcher = signedFetch({ region });
  const beganAt = CLOCK.now();
  let settings: Promise<Settings> | undefined;
  const settingsNow = (): Promise<Settings> => (settings ??= accountSettings(calls, stack));
  const probes = probesOf(calls, outputs as unknown as Outputs, () => Promise.resolve(false));
  return {
    lacks: {
      ...(outputs['VerifyEffects'] === undefined ? { probes: NO_PROBES } : {}),
      ...(roleArn === undefined ? { faults: NO_PROBES, concurrency: NO_PROBES } : {}),
      ...(deployment === undefined ? { deployment: NO_PROBES } : {}),
      ...(hasRelease ? {} : { release: '--from contains no previous release' }),
    },
    clock: CLOCK,
    runId,
    api: createClient({ url, fetch: fetcher }),
    begun: new Map(),
    raw: async (method, path, { signed = false, headers = {} } = {}) =>
      rawOf(await (signed ? fetcher : fetch)(`${url.replace(/\/$/, '')}${path}`, { method, headers })),
    settings: settingsNow,
    account: accountFacts(calls),
    deployment: deployment ?? unanswered('a deployment'),
    probes,
    logs: async (texts) => linesOf(calls, await settingsNow(), texts, beganAt),
    metric: async (name) => metricSum(calls, metricOf(await settingsNow(), name), beganAt),
    tableMetric: async (name) => metricSum(calls, tableMetricOf(await settingsNow(), name), beganAt),
    alarms: alarmsOf(calls, settingsNow, () => probes.take(outputs['VerifyAlarms'] ?? '')),
    faults: roleArn === undefined ? NO_FAULTS : new AwsFaults(calls, CLOCK, stack, { roleArn }),
  };
}

const NO_FAULTS: Ports['faults'] = {
  make: () => Promise.reject(new CliError('no-faults', NO_PROBES, EXIT.failed)),
  end: async () => {},
  endAll: async () => 0,
};

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html */
export async function outputsOf(
  calls: Calls,
  StackName: string,
): Promise<Readonly<Record<string, string | undefined>>> {
  const [outputs = ''] = inXml(await calls.form('DescribeStacks', { StackName }), 'Outputs');
  return Object.fromEntries(
    inXml(outputs, 'member').map((member) => {
      const of = (name: string): string => plainOf(inXml(member, name)[0] ?? '');
      return [of('OutputKey'), of('OutputValue')];
    }),
  );
}

/** https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html: the CDK's own qualifier. */
const QUALIFIER = 'hnb659fds';

/** Where the version of the bootstrap stack is that the CDK would use in a folder. */
export function bootstrapIn(root: string): string {
  const file = join(root, 'cdk.json');
  const { context } = existsSync(file) ? readObject(file) : {};
  const given = (Object(context) as Answer)['@aws-cdk/core:bootstrapQualifier'];
  return `/cdk-bootstrap/${typeof given === 'string' ? given : QUALIFIER}/version`;
}

export const accountFacts = (calls: Calls, root = process.cwd()): AccountFacts => ({
  identity: async () => {
    const xml = await calls.form('GetCallerIdentity', {}, 'sts');
    const of = (name: string): string => plainOf(inXml(xml, name)[0] ?? '');
    return { account: of('Account'), arn: of('Arn') };
  },
  bootstrap: async () => {
    const found = await unlessGone(calls.json('ssm', 'GetParameter', { Name: bootstrapIn(root) }));
    if (found === undefined) return undefined;
    return Number((Object(found['Parameter']) as { readonly Value?: string }).Value);
  },
  concurrency: async () => {
    const found = await calls.rest('lambda', 'GetAccountSettings', 'GET', '/2016-08-19/account-settings/');
    const limits = Object(found['AccountLimit']) as Readonly<Record<string, number>>;
    return {
      limit: Number(limits['ConcurrentExecutions']),
      unreserved: Number(limits['UnreservedConcurrentExecutions']),
    };
  },
  logPolicies: async () => {
    const { resourcePolicies } = await calls.json('logs', 'DescribeResourcePolicies', {});
    return ((resourcePolicies ?? []) as readonly { readonly policyDocument?: string }[]).map(
      ({ policyDocument = '' }) => Buffer.byteLength(policyDocument),
    );
  },
});

/** https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html */
const MOST_LINES = 100;
async function linesOf(
  calls: Calls,
  { functions }: Settings,
  texts: readonly string[],
  startTime: number,
): Promise<readonly string[]> {
  const filterPattern = texts.map((text) => `?"${text.replaceAll('"', '\\"')}"`).join(' ');
  const lines: string[] = [];
  for (const { logGroup: logGroupName } of functions) {
    if (logGroupName === '' || lines.length >= MOST_LINES) continue;
    const ask = (nextToken: string | undefined) =>
      calls.json('logs', 'FilterLogEvents', { logGroupName, filterPattern, startTime, nextToken });
    for await (const { events } of calls.pages(ask, 'nextToken')) {
      for (const { message = '' } of (events ?? []) as readonly { readonly message?: string }[])
        lines.push(message);
      if (lines.length >= MOST_LINES) break;
    }
  }
  return lines.slice(0, MOST_LINES);
}

function alarmsOf(
  calls: Calls,
  settings: () => Promise<Settings>,
  take: () => Promise<readonly string[]>,
): AlarmPort {
  const named = async (text: string): Promise<string> => {
    const names = (await settings()).alarms.map(({ name }) => name);
    const found = alarmIn(names, text);
    if (found !== undefined) return found;
    throw new CliError('no-alarm', `no alarm of the stack has '${text}' in its name`, EXIT.failed);
  };
  return {
    // It is evaluated again within a minute, which takes the state back.
    raise: async (text) => {
      const AlarmName = await named(text);
      const StateReason = 'steadfast verify: does it reach its subscribers?';
      for (const StateValue of ['OK', 'ALARM'])
        await calls.json('monitoring', 'SetAlarmState', { AlarmName, StateValue, StateReason });
    },
    state: async (text) => {
      const { MetricAlarms } = await calls.json('monitoring', 'DescribeAlarms', {
        AlarmNames: [await named(text)],
      });
      const [alarm] = (MetricAlarms ?? []) as readonly { readonly StateValue?: string }[];
      return alarm?.StateValue ?? 'none';
    },
    news: async () => (await take()).map(alarmNamed),
  };
}
