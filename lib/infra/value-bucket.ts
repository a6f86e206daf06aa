/**
 * The bucket of large values: what is too large for a record of the state table.
 *
 * Owns: its protection, and who may do what with its objects. Does not own: their keys and their end
 * (`core/records/large-values.ts`, `core/supervision/stored-values.ts`).
 *
 * One that is kept has versions, without which no bucket can be replicated; an earlier one goes after a day,
 * and an erasure removes all of them. No role but audit and API may remove anything, and the audit reads no
 * value. Those two and the supervisor may list; to an agent S3 says of an object that is not there that it
 * may not list.
 */

import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { onceInUse } from './removal.ts';

const ACTIONS = {
  use: ['s3:GetObject', 's3:PutObject'],
  audit: ['s3:DeleteObject', 's3:PutObject'],
  erase: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
  list: ['s3:ListBucket'],
  listVersions: ['s3:ListBucketVersions'],
} as const;

export interface ValueBucketProps {
  readonly removalPolicy: RemovalPolicy;
  /** @default - a key of S3's, which costs nothing */
  readonly encryptionKey?: IKey;
}

/** The bucket of values that are too large for the table. */
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
      // One that goes with its stack must be empty then, and a version would be left.
      versioned: removalPolicy !== RemovalPolicy.DESTROY,
      lifecycleRules: [
        {
          // None of ours: an object is written whole.
          abortIncompleteMultipartUploadAfter: Duration.days(1),
          noncurrentVersionExpiration: Duration.days(1),
          expiredObjectDeleteMarker: true,
        },
      ],
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

  /** Knowing of a value that it is not there, for certain. */
  grantList(grantee: IGrantable): void {
    this.grantOnBucket(grantee, ACTIONS.list);
  }

  /** Listing all, marking and removing what executions that are gone have left. */
  grantAudit(grantee: IGrantable): void {
    this.grantList(grantee);
    this.grant(grantee, ACTIONS.audit);
  }

  /** Removing the values of an execution that is erased, in all their versions. */
  grantErase(grantee: IGrantable): void {
    this.grantList(grantee);
    this.grantOnBucket(grantee, ACTIONS.listVersions);
    this.grant(grantee, ACTIONS.erase);
  }

  private grantOnBucket(grantee: IGrantable, actions: readonly string[]): void {
    Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [this.bucket.bucketArn] });
  }

  private grant(grantee: IGrantable, actions: readonly string[]): void {
    const { bucketArn } = this.bucket;
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
