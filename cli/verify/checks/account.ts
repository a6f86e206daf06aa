/** Checks an account and the stack in it. All checks only read, except the teardown. */

import { type Finding, finding, type Run } from '../check.ts';
import type { AccountFacts } from '../ports.ts';

/**
 * The oldest version of the bootstrap stack that the CDK accepts:
 * https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
 */
const OLDEST_BOOTSTRAP = 6;
/** The concurrent executions that a small stack needs with `agentConcurrency: 2`. */
const LEAST_CONCURRENCY = 10;
/**
 * The longest resource policy:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html
 */
const MOST_POLICY_BYTES = 5_120;
/** The bytes that one more API adds to the policy. */
const ROOM_BYTES = 400;

export const ACCOUNT: Readonly<Record<string, Run>> = {
  identity: async ({ account }) => {
    const { account: number, arn } = await account.identity();
    return finding(/^\d{12}$/.test(number) ? [] : [`the account is '${number}'`], arn);
  },
  bootstrap: ({ account }) => bootstrapped(account),
  concurrency: async ({ account }) => {
    const { limit, unreserved } = await account.concurrency();
    const few = unreserved < LEAST_CONCURRENCY;
    return finding(
      few ? [`${unreserved} of ${limit}: ask for L-B99A9384`] : [],
      `${unreserved} of ${limit} unreserved`,
    );
  },
  'log-policies': async ({ account }) => {
    const sizes = await account.logPolicies();
    const full = sizes.filter((size) => size > MOST_POLICY_BYTES - ROOM_BYTES);
    return finding(
      full.map((size) => `one has ${size} of ${MOST_POLICY_BYTES} bytes`),
      `${sizes.length} policies`,
    );
  },
  drift: async ({ stack }) => finding(await stack.drifted(), 'nothing has drifted'),
  subscribers: async ({ stack }) => {
    const count = await stack.subscribers();
    const none = 'nobody is subscribed to the alarms’ topic: set alarmTopic or alarmEmail';
    return finding(count > 0 ? [] : [none], `${count} subscribed`);
  },
  teardown: async ({ tearDown }) => {
    const left = await tearDown();
    return finding(
      left.map((arn) => `${arn} is still there`),
      'nothing has the tag',
    );
  },
};

/** Checks whether the account is bootstrapped, also before a stack is deployed. */
export async function bootstrapped({ bootstrap }: Pick<AccountFacts, 'bootstrap'>): Promise<Finding> {
  const version = await bootstrap();
  const isOld = (version ?? 0) < OLDEST_BOOTSTRAP;
  return finding(isOld ? [`version ${version ?? 'none'}: npx cdk bootstrap`] : [], `version ${version}`);
}
