/**
 * The bucket of large values: what is too large for a record of the state table.
 *
 * Owns: its protection, and who may do what with its objects. Does not own: their keys and their end
 * (`core/records/large-values.ts`, `core/supervision/stored-values.ts`).
 *
 * It has no versions: what the audit or a person removes is gone. No role but the audit may remove anything,
 * and it reads no value. Who reads may list as well: without that S3 answers for an object that is not there
 * as for one that is forbidden, and a lost value would look like a fault.
 */

import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Duration, type RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { onceInUse } from './removal.ts';

const ACTIONS = {
  use: ['s3:GetObject', 's3:PutObject'],
  audit: ['s3:DeleteObject', 's3:PutObject'],
  erase: ['s3:DeleteObject'],
  list: ['s3:ListBucket'],
} as const;

export interface ValueBucketProps {
  readonly removalPolicy: RemovalPolicy;
  /** @default - a key of S3's, which costs nothing */
  readonly encryptionKey?: IKey;
}

export class ValueBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { removalPolicy, encryptionKey }: ValueBucketProps) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      ...(encryptionKey === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : // One data key for many objects: else each read and write would be a call of KMS.
          { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
      // None of ours: an object is written whole.
      lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      // CloudFormation deletes an empty one. CDK's function that would empty it may do too much.
      removalPolicy: onceInUse(removalPolicy),
    });
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'only roles of this deployment reach it, and the table says who did what; a log would cost more',
    });
  }

  /** What functions must find in their environment. */
  get environment(): Readonly<Record<string, string>> {
    return { [ENV.values]: this.bucket.bucketName };
  }

  /** Writing and reading values by key. */
  grantUse(grantee: IGrantable): void {
    this.grant(grantee, ACTIONS.use);
  }

  /** Listing all, marking and removing what executions that are gone have left. */
  grantAudit(grantee: IGrantable): void {
    this.grant(grantee, ACTIONS.audit);
  }

  /** Removing the values of an execution that is erased. */
  grantErase(grantee: IGrantable): void {
    this.grant(grantee, ACTIONS.erase);
  }

  private grant(grantee: IGrantable, actions: readonly string[]): void {
    const { bucketArn } = this.bucket;
    Grant.addToPrincipal({ grantee, actions: [...ACTIONS.list], resourceArns: [bucketArn] });
    Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [`${bucketArn}/*`] });
    acknowledgeObjects(grantee, this.bucket);
  }
}

/** A key has an execution's id, which nobody knows when the role is made. */
function acknowledgeObjects(grantee: IGrantable, bucket: Bucket): void {
  const { grantPrincipal } = grantee;
  if (!Construct.isConstruct(grantPrincipal)) return;
  const id = String(Stack.of(bucket).getLogicalId(bucket.node.defaultChild as never));
  Validations.of(grantPrincipal).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${id}.Arn>/*]`,
    reason: 'the objects of this one bucket; each key has the id of its execution',
  });
}
