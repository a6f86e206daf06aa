/**
 * The ports of `verify` over an AWS account.
 *
 * Owns: what each port calls, and what a stack without the workflows of verify cannot answer. Does not own:
 * what the stack is (`stack-facts.ts`), how a call is made (`../aws/calls.ts`).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { ENV } from '../../lib/aws/names.ts';
import { type Answer, type Calls, inXml, plainOf, unlessGone } from '../aws/calls.ts';
import { readObject } from '../dev/project.ts';
import { CliError, CLOCK, EXIT } from '../io.ts';
import { signedFetch } from '../signed-fetch.ts';
import { metricSum } from './local.ts';
import { type AccountFacts, type Ports, rawOf } from './ports.ts';
import { type Outputs, probesOf } from './probes.ts';
import { idsOf, queueOf, stackFacts } from './stack-facts.ts';

export interface AwsOptions {
  readonly calls: Calls;
  readonly stack: string;
  readonly region: string;
  readonly runId: string;
  /** Absent for a stack that is not of verify. */
  readonly tearDown?: Ports['tearDown'];
}

const NO_PROBES = 'only in the stack of verify: --throwaway deploys one';

export async function awsPorts({ calls, stack, region, runId, tearDown }: AwsOptions): Promise<Ports> {
  const outputs = await outputsOf(calls, stack);
  const { ApiUrl: url } = outputs;
  if (url === undefined)
    throw new CliError('no-stack', `the stack '${stack}' has no output ApiUrl`, EXIT.failed);
  const fetcher = signedFetch({ region });
  const beganAt = CLOCK.now();
  let functions: Promise<readonly FunctionFacts[]> | undefined;
  const functionsNow = () => (functions ??= functionsOf(calls, stack));
  const api = createClient({ url, fetch: fetcher });
  const { items } = await api.workflows().then(
    (found) => ({ items: found }),
    () => ({ items: [] }),
  );
  const hasCanary = items.some(({ workflow }) => workflow === 'steadfast-canary');
  return {
    lacks: {
      ...(outputs['VerifyEffects'] === undefined ? { probes: NO_PROBES } : {}),
      ...(hasCanary ? {} : { canary: 'the stack has no canary: set canary' }),
      ...(tearDown === undefined ? { deployment: NO_PROBES } : {}),
    },
    clock: CLOCK,
    runId,
    api,
    begun: new Map(),
    raw: async (path) => rawOf(await fetch(`${url.replace(/\/$/, '')}${path}`)),
    account: accountFacts(calls),
    stack: stackFacts(calls, CLOCK, stack),
    queues: async () =>
      Promise.all((await idsOf(calls, stack, 'AWS::SQS::Queue')).map((queue) => queueOf(calls, queue))),
    probes: probesOf(calls, outputs as unknown as Outputs, () => Promise.resolve(false)),
    logs: async (texts) => linesOf(calls, await functionsNow(), texts, beganAt),
    metric: async (name) =>
      metricSum(calls, (await functionsNow()).find((one) => one.deployment)?.deployment, name, beganAt),
    tearDown: tearDown ?? (() => Promise.reject(new CliError('no-stack', NO_PROBES, EXIT.failed))),
  };
}

interface FunctionFacts {
  readonly logGroup: string;
  /** By which its metrics are found. */
  readonly deployment?: string;
}

/** https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html */
async function functionsOf(calls: Calls, stack: string): Promise<readonly FunctionFacts[]> {
  const found: FunctionFacts[] = [];
  // One after the other: Lambda throttles its control plane.
  for (const name of await idsOf(calls, stack, 'AWS::Lambda::Function')) {
    const path = `/2015-03-31/functions/${encodeURIComponent(name)}/configuration`;
    const { LoggingConfig, Environment } = await calls.rest(
      'lambda',
      'GetFunctionConfiguration',
      'GET',
      path,
    );
    const { LogGroup = '' } = Object(LoggingConfig) as { readonly LogGroup?: string };
    const { Variables = {} } = Object(Environment) as { readonly Variables?: Record<string, string> };
    const deployment = Variables[ENV.deployment];
    found.push({ logGroup: LogGroup, ...(deployment === undefined ? {} : { deployment }) });
  }
  return found;
}

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
  functions: readonly FunctionFacts[],
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
