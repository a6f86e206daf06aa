/**
 * Compares the concurrent executions that a deployment may take with the account's limit.
 *
 * Owns: the sum, and the messages about it at synthesis. Does not own: the settings. The account is unknown
 * at that time, so a sum that is too large is a warning; it is refused only if no account with that limit
 * could provide it.
 */

import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Annotations, Aspects, CfnResource, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { AgentFunction } from './deployed-agent.ts';
import type { StartQueue } from './start-queue.ts';

/**
 * The executions that must stay unreserved:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
const UNRESERVED = 100;
const USUAL_LIMIT = 1_000;

export interface Takers {
  readonly agents: ReadonlyMap<string, AgentFunction>;
  readonly triggers: ReadonlyMap<string, StartQueue>;
  /** The account's limit. @default that of an account that is not new and has not asked for more */
  readonly account?: number | undefined;
}

/** Computes the sum when the app is synthesised, because triggers may be added until then. */
export function warnOfConcurrency(scope: Construct, takers: Takers): void {
  let warned = false;
  Aspects.of(scope).add({
    visit: (node) => {
      if (node !== scope || warned) return;
      warned = true;
      warn(scope, takers);
    },
  });
  scope.node.addValidation({ validate: () => beyondAccount(setAside(scope), takers.account ?? USUAL_LIMIT) });
}

function warn(scope: Construct, { agents, triggers, account = USUAL_LIMIT }: Takers): void {
  const reserved = setAside(scope);
  if (reserved > 0) {
    Annotations.of(scope).addInfoV2(
      'steadfast:reserved',
      `${reserved} concurrent function runs are reserved: the account must allow ${reserved + UNRESERVED} or more in this region (aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions)`,
    );
  }
  const takers = [...agents.values(), ...triggers.values()];
  const most = takers.reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0);
  if (most <= account) return;
  const each = Math.max(2, Math.floor((account - UNRESERVED) / takers.length));
  Validations.of(scope).addWarning(
    'steadfast:concurrency',
    `${agents.size} agents and ${triggers.size} triggers may run ${most} functions at the same time, and the account allows ${account}: during a backlog the API and the supervisor would be throttled. Set agentConcurrency to ${each} or less, reserve some (schedulerConcurrency, supervisorConcurrency), or have the account's limit raised and set accountConcurrency`,
  );
}

function setAside(scope: Construct): number {
  const functions = scope.node
    .findAll()
    .filter((node) => CfnResource.isCfnResource(node) && node.cfnResourceType === 'AWS::Lambda::Function');
  return functions.reduce((sum, each) => sum + ((each as CfnFunction).reservedConcurrentExecutions ?? 0), 0);
}

const beyondAccount = (reserved: number, account: number): string[] =>
  reserved === 0 || reserved + UNRESERVED <= account
    ? []
    : [
        `${reserved} concurrent executions are reserved, and ${UNRESERVED} of the account's ${account} (accountConcurrency) must stay unreserved; have the limit raised to ${reserved + UNRESERVED} or more, or reserve fewer (supervisorConcurrency, schedulerConcurrency, reservedConcurrency of an agent)`,
      ];
