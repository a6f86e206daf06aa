/**
 * The ports of `verify` on an AWS account.
 *
 * Owns: the answers that only an account can give, and the list of those that a stack without verify's
 * workflows cannot give. Does not own: facts about the stack (`stack-facts.ts`), how a call is made
 * (`../aws/calls.ts`).
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { type Answer, type Calls, inXml, textIn, unlessGone } from '../aws/calls.ts';
import { idsIn } from '../aws/stack-resources.ts';
import { readObject } from '../dev/project.ts';
import { CliError, CLOCK, EXIT } from '../io.ts';
import { signedFetch } from '../signed-fetch.ts';
import type { AccountFacts, Ports } from './ports.ts';
import { portsOver } from './probes.ts';
import { stackFacts } from './stack-facts.ts';

export interface AwsOptions {
  readonly calls: Calls;
  readonly stack: string;
  readonly runId: string;
  /** Deletes the stack; absent if `verify` did not make it. */
  readonly tearDown?: Ports['tearDown'];
}

const NO_PROBES = 'only in the stack of verify: --throwaway deploys one';

export async function awsPorts({ calls, stack, runId, tearDown }: AwsOptions): Promise<Ports> {
  const outputs = await outputsOf(calls, stack);
  const { ApiUrl: url } = outputs;
  if (url === undefined)
    throw new CliError('no-stack', `the stack '${stack}' has no output ApiUrl`, EXIT.failed);
  const beganAt = CLOCK.now();
  const api = createClient({ url, fetch: signedFetch({ region: calls.region }) });
  const workflows = await api.workflows().catch(() => []);
  const hasCanary = workflows.some(({ workflow }) => workflow === 'steadfast-canary');
  const queueUrls = (): Promise<readonly string[]> => idsIn(calls, stack, 'AWS::SQS::Queue');
  return {
    ...portsOver({ calls, api, runId, outputs, queueUrls }),
    lacks: {
      ...(outputs['VerifyEffects'] === undefined ? { probes: NO_PROBES } : {}),
      ...(hasCanary ? {} : { canary: 'the stack has no canary: set canary' }),
      ...(tearDown === undefined ? { deployment: NO_PROBES } : {}),
    },
    account: accountFacts(calls),
    stack: stackFacts(calls, CLOCK, stack),
    logs: async (texts) => linesOf(calls, await idsIn(calls, stack, 'AWS::Logs::LogGroup'), texts, beganAt),
    tearDown: tearDown ?? (async () => []),
  };
}

/**
 * Reads outputs: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
export async function outputsOf(calls: Calls, StackName: string): Promise<Readonly<Record<string, string>>> {
  const [outputs = ''] = inXml(await calls.form('DescribeStacks', { StackName }), 'Outputs');
  return Object.fromEntries(
    inXml(outputs, 'member').map((one) => [textIn(one, 'OutputKey'), textIn(one, 'OutputValue')]),
  );
}

/** The CDK's default qualifier: https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html */
const QUALIFIER = 'hnb659fds';

/** The SSM parameter with the version of the bootstrap stack that the CDK uses for this folder. */
export function bootstrapIn(root: string): string {
  const file = join(root, 'cdk.json');
  const { context } = existsSync(file) ? readObject(file) : {};
  const given = (Object(context) as Answer)['@aws-cdk/core:bootstrapQualifier'];
  return `/cdk-bootstrap/${typeof given === 'string' ? given : QUALIFIER}/version`;
}

export const accountFacts = (calls: Calls, root = process.cwd()): AccountFacts => ({
  identity: async () => {
    const xml = await calls.form('GetCallerIdentity', {}, 'sts');
    return { account: textIn(xml, 'Account'), arn: textIn(xml, 'Arn') };
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

/**
 * The most lines that are read:
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
 */
const MOST_LINES = 100;
async function linesOf(
  calls: Calls,
  groups: readonly string[],
  texts: readonly string[],
  startTime: number,
): Promise<readonly string[]> {
  const filterPattern = texts.map((text) => `?"${text.replaceAll('"', '\\"')}"`).join(' ');
  const lines: string[] = [];
  for (const logGroupName of groups) {
    const ask = (nextToken: string | undefined) =>
      calls.json('logs', 'FilterLogEvents', { logGroupName, filterPattern, startTime, nextToken });
    for await (const { events } of calls.pages(ask, 'nextToken')) {
      for (const { message = '' } of (events ?? []) as readonly { readonly message?: string }[])
        lines.push(message);
      if (lines.length >= MOST_LINES) return lines.slice(0, MOST_LINES);
    }
  }
  return lines;
}
