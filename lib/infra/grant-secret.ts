/**
 * Lets a grantee read one secret of Systems Manager or Secrets Manager by its name.
 *
 * Owns: the action and the ARN, the refusal without a name. Does not own: the right to use your own key that
 * encrypts the secret.
 */

import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { SecretPlace } from '../core/values/signed-by.ts';

interface Wanted {
  readonly secret: SecretPlace;
  /** The part of the deployment that reads it, for the refusal. */
  readonly whose: string;
  readonly orElse?: string;
}

/** Grants the right to read only this secret. @throws Error if no setting names its place */
export function grantSecret(
  scope: Construct,
  grantee: IGrantable,
  { secret: { env, parameter, secretsManager }, whose, orElse = '' }: Wanted,
): Grant {
  const { partition, region, account } = Stack.of(scope);
  if (parameter === undefined && secretsManager === undefined)
    throw new Error(
      `${whose}: nothing says where the secret ${env} lies: write secret('${env}', { parameter: '/…' }) or { secretsManager: '…' }${orElse}`,
    );
  const [action, service, resource] =
    parameter === undefined
      ? // AWS appends six characters to the name.
        ['secretsmanager:GetSecretValue', 'secretsmanager', `secret:${secretsManager}-??????`]
      : ['ssm:GetParameter', 'ssm', `parameter/${parameter.replace(/^\//, '')}`];
  const arn = `arn:${partition}:${service}:${region}:${account}:${resource}`;
  return Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [arn] });
}
