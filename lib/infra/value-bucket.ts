/**
 * The bucket of large values, which do not fit into a record of the state table.
 *
 * Owns: its protection, and who may do what with its objects. Does not own: their keys and their removal
 * (`core/records/large-values.ts`, `core/supervision/stored-values.ts`).
 *
 * A bucket that is kept has versions, without which it cannot be replicated; earlier ones are deleted after a
 * day, and an erasure removes all of them. Only audit and API may remove anything, and the audit reads no
 * value. Those two and the supervisor may list. An agent may not, so S3 answers "access denied" to it for an
 * object that does not exist.
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
        : // One data key for many objects; otherwise each read and write would call KMS.
          { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
      // A bucket that is deleted with its stack must be empty, and versions would remain.
      versioned: removalPolicy !== RemovalPolicy.DESTROY,
      lifecycleRules: [
        {
          // We never upload in parts.
          abortIncompleteMultipartUploadAfter: Duration.days(1),
          noncurrentVersionExpiration: Duration.days(1),
          expiredObjectDeleteMarker: true,
        },
      ],
      // CloudFormation deletes an empty bucket. CDK's function that would empty it has too many permissions.
      removalPolicy: onceInUse(removalPolicy),
    });
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'only roles of this deployment reach it, and the table says who did what; a log would cost more',
    });
  }

  /** Variables for functions. */
  get environment(): Readonly<Record<string, string>> {
    return { [ENV.values]: this.bucket.bucketName };
  }

  /** Lets a grantee write and read values by key. */
  grantUse(grantee: IGrantable): void {
    this.grant(grantee, ACTIONS.use);
  }

  /** Lets a grantee find out for certain that a value does not exist. */
  grantList(grantee: IGrantable): void {
    this.grantOnBucket(grantee, ACTIONS.list);
  }

  /** Lets the audit list, mark and remove what removed executions left. */
  grantAudit(grantee: IGrantable): void {
    this.grantList(grantee);
    this.grant(grantee, ACTIONS.audit);
  }

  /** Lets a grantee remove the values of an execution that is erased, in all versions. */
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

/**
 * Acknowledges the wildcard in a policy: a key contains an execution's id, unknown when the role is created.
 */
function acknowledgeObjects(grantee: IGrantable, bucket: Bucket): void {
  const { grantPrincipal } = grantee;
  if (!Construct.isConstruct(grantPrincipal)) return;
  const id = String(Stack.of(bucket).getLogicalId(bucket.node.defaultChild as never));
  Validations.of(grantPrincipal).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${id}.Arn>/*]`,
    reason: 'the objects of this one bucket; each key has the id of its execution',
  });
}
