/**
 * Grants to principals that are not roles of this account: services, other accounts, their roles.
 *
 * Invariant: each grant has an effect, or is refused with a remedy. The CDK itself would silently do nothing.
 */

import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Lets a grantee send to a queue: by the role's policy or, for others, by the queue's own. */
export function grantSending(grantee: IGrantable, queue: IQueue): Grant {
  refuseAnybody(grantee);
  const grant = Grant.addToPrincipalOrResource({
    grantee,
    actions: ['sqs:SendMessage'],
    resourceArns: [queue.queueArn],
    resource: queue,
  });
  return grant;
}

/**
 * Refuses a service without a condition. It acts for any caller in any account, so a queue would accept all
 * of them.
 */
function refuseAnybody({ grantPrincipal }: IGrantable): void {
  const { principalJson, conditions } = grantPrincipal.policyFragment;
  const isAnybody = 'Service' in principalJson || (principalJson['AWS'] ?? []).includes('*');
  if (!isAnybody || Object.keys(conditions).length > 0) return;
  const who = JSON.stringify(principalJson);
  throw new Error(
    `grantSend: ${who} acts for any account. Give it a condition, such as new ServicePrincipal('sns.amazonaws.com', { conditions: { ArnEquals: { 'aws:SourceArn': topic.topicArn } } })`,
  );
}

const OWN_ACCOUNT_ONLY =
  'an HTTP API has no policy of its own, so only roles and users of its account can be granted calls. Let it assume a role of this stack, or use an authorizer of tokens (docs/SECURITY.md)';

/**
 * Lets a grantee call an HTTP API.
 * @throws Error for a grantee for which it would have no effect: a service, an account, or a role of another
 * account as far as both are known
 */
export function grantCalls(grantee: IGrantable, resourceArn: string, api: Construct): Grant {
  const { principalAccount } = grantee.grantPrincipal;
  const { account } = Stack.of(api);
  const areKnown = principalAccount !== undefined && !Token.isUnresolved([principalAccount, account]);
  if (areKnown && principalAccount !== account)
    throw new Error(
      `${api.node.path}: the grantee is of account ${principalAccount}, the API of ${account}: ${OWN_ACCOUNT_ONLY}`,
    );
  const grant = Grant.addToPrincipal({
    grantee,
    actions: ['execute-api:Invoke'],
    resourceArns: [resourceArn],
  });
  if (grant.success) return grant;
  throw new Error(
    `${api.node.path}: ${String(grantee.grantPrincipal)} would be granted nothing: ${OWN_ACCOUNT_ONLY}`,
  );
}
