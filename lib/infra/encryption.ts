/**
 * A key of your own for everything at rest: table, bucket, queues, logs, the alarms' topic.
 *
 * Owns: who may use the key, and for what. Does not own: the key, its rotation, its deletion.
 *
 * The key's policy allows services that act by themselves (logs, alarms); roles allow functions. The policy
 * of an imported key cannot be changed here, so its owner must allow the services.
 */

import { Grant, type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { ArnFormat, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

const USE = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/**
 * The services through which a role may use the key, so that a role decrypts nothing else under a shared key.
 * The key belongs to one region, so the region is not named.
 * https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
const THROUGH = { StringLike: { 'kms:ViaService': ['dynamodb.*', 's3.*', 'sqs.*'] } };

/**
 * Lets a grantee use the key to read and write table and bucket, and to send and receive messages. A grantee
 * without a policy in this account is named in the key's policy, which is impossible for an imported key. A
 * sending service calls the key by itself.
 */
export function grantUse(key: IKey, grantee: IGrantable): Grant {
  const isService = 'Service' in grantee.grantPrincipal.policyFragment.principalJson;
  return Grant.addToPrincipalOrResource({
    grantee,
    actions: USE,
    resourceArns: [key.keyArn],
    resource: key,
    resourceSelfArns: ['*'],
    ...(isService ? {} : { conditions: THROUGH }),
  });
}

/** Lets CloudWatch write encrypted logs, by a principal with region and partition, and publish alarms. */
export function allowServices(key: IKey, scope: Construct): void {
  const stack = Stack.of(scope);
  const logGroups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${stack.region}.${stack.urlSuffix}`)],
      actions: ['kms:Decrypt', 'kms:Describe*', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    }),
  );
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      resources: ['*'],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
}

/** Lets EventBridge send to encrypted queues. */
export function allowEvents(key: IKey, scope: Construct): void {
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
      resources: ['*'],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
}
