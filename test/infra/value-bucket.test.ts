/** The bucket of large values in the template. */

import { Key } from 'aws-cdk-lib/aws-kms';
import { Stack } from 'aws-cdk-lib/core';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { FOUND } from './fixture.ts';
import { FATES, makeApp, makeStack, Reader, statementsIn } from './template.ts';

const BUCKET = 'AWS::S3::Bucket';

test.each([
  ['dev', 'Delete', 'Delete', undefined],
  ['prod', 'RetainExceptOnCreate', 'Retain', { Status: 'Enabled' }],
] as const)(
  'of %s is private, encrypted, keeps an earlier version for a day, and has the table’s fate',
  (stage, end, replaced, versions) => {
    const [bucket] = new Reader(makeStack({ removalPolicy: FATES[stage] })).ofType(BUCKET);
    expect([bucket?.DeletionPolicy, bucket?.UpdateReplacePolicy]).toEqual([end, replaced]);
    expect(bucket?.Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      LifecycleConfiguration: {
        Rules: [
          {
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
            NoncurrentVersionExpiration: { NoncurrentDays: 1 },
            ExpiredObjectDeleteMarker: true,
            Status: 'Enabled',
          },
        ],
      },
    });
    // A bucket without versions cannot be replicated later; one with versions cannot be removed with its
    // stack.
    expect(bucket?.Properties['VersioningConfiguration']).toEqual(versions);
  },
);

test('refuses what is not encrypted on its way', () => {
  const [policy] = new Reader(makeStack()).ofType('AWS::S3::BucketPolicy');
  expect(statementsIn(policy!)).toMatchObject([
    { Effect: 'Deny', Action: 's3:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
  ]);
});

test('has the stack’s key, one data key for many objects', () => {
  const stack = new Stack(makeApp(), 'Test');
  const encryptionKey = new Key(stack, 'Key') as IKey;
  const steadfast = new Steadfast(stack, 'Steadfast', { workflows: FOUND, encryptionKey });
  expect(steadfast.valueBucket).toBeDefined();
  const [bucket] = new Reader(stack).ofType(BUCKET);
  expect(bucket?.Properties['BucketEncryption']).toMatchObject({
    ServerSideEncryptionConfiguration: [
      {
        BucketKeyEnabled: true,
        ServerSideEncryptionByDefault: {
          SSEAlgorithm: 'aws:kms',
          KMSMasterKeyID: { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] },
        },
      },
    ],
  });
});

test('is named to every function', () => {
  const reader = new Reader(makeStack());
  const [bucket] = reader.ofType(BUCKET);
  for (const path of ['Scheduler', 'Supervisor', 'Audit', 'Agents/pay'])
    expect(reader.environmentOf(path)['STEADFAST_VALUES']).toEqual({ Ref: bucket?.id });
});

test('is not there if it is not wanted', () => {
  const without = new Reader(makeStack({ largeValues: false }));
  expect(without.ofType(BUCKET)).toEqual([]);
  expect(JSON.stringify(without.all)).not.toMatch(/s3:|STEADFAST_VALUES/);
});
