/**
 * Checks of an account before anything is done in it: reads alone.
 */

import { type Check, type Entry, type Finding, finding } from '../check.ts';
import type { AccountFacts } from '../ports.ts';

type Rest = Pick<Check, 'id' | 'row' | 'expected'> & Partial<Pick<Check, 'stops'>>;
const preflight = (rest: Rest, run: Check['run'], needs: Check['needs'] = ['account']): Check => ({
  phase: 'preflight',
  area: 'Account and template',
  dollars: 0,
  needs,
  ...rest,
  run,
});

/** https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html: the oldest that is still taken. */
const OLDEST_BOOTSTRAP = 6;
/** What a stack of a few agents takes at once with `agentConcurrency: 2`. */
const LEAST_CONCURRENCY = 10;
/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html */
const MOST_POLICY_BYTES = 5_120;

export const PREFLIGHT: readonly Entry[] = [
  preflight(
    { id: 'identity', row: 'The credentials are those of an account.', expected: 'an account and an ARN' },
    async ({ account }) => {
      const { account: number, arn } = await account.identity();
      return finding(/^\d{12}$/.test(number) ? [] : [`the account is '${number}'`], arn);
    },
  ),
  preflight(
    {
      id: 'bootstrap',
      stops: true,
      row: 'The region is bootstrapped.',
      expected: `version ${OLDEST_BOOTSTRAP} or later`,
    },
    ({ account }) => bootstrapped(account),
  ),
  preflight(
    {
      id: 'concurrency',
      row: 'The account has enough concurrent executions.',
      expected: `at least ${LEAST_CONCURRENCY} unreserved`,
    },
    async ({ account }) => {
      const { limit, unreserved } = await account.concurrency();
      return finding(
        unreserved >= LEAST_CONCURRENCY ? [] : [`${unreserved} of ${limit}: ask for L-B99A9384`],
        `${unreserved} of ${limit} unreserved`,
      );
    },
  ),
  preflight(
    {
      id: 'log-policies',
      row: 'The account’s log policies have room.',
      expected: `each below ${MOST_POLICY_BYTES} bytes`,
    },
    async ({ account }) => {
      const sizes = await account.logPolicies();
      const full = sizes.filter((size) => size > MOST_POLICY_BYTES - ROOM_BYTES);
      return finding(
        full.map((size) => `one has ${size} of ${MOST_POLICY_BYTES} bytes`),
        `${sizes.length} policies`,
      );
    },
  ),
  preflight(
    {
      id: 'change-set',
      stops: true,
      row: 'A change set is accepted, and replaces nothing that holds data.',
      expected: 'no table, queue, bus, topic, log group or API replaced',
    },
    async ({ deployment }) => finding(await deployment.changeSet(), 'accepted, not executed'),
    ['deployment'],
  ),
];
/** Asked before a stack is deployed, too. */
export async function bootstrapped({ bootstrap }: Pick<AccountFacts, 'bootstrap'>): Promise<Finding> {
  const version = await bootstrap();
  return finding(
    (version ?? 0) >= OLDEST_BOOTSTRAP ? [] : [`version ${version ?? 'none'}: npx cdk bootstrap`],
    `version ${version}`,
  );
}
/** What one more API adds. */
const ROOM_BYTES = 400;
