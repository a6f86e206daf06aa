/** The rows of `permissions.ts` about the bucket of large values. */

import type { Row } from './permissions.ts';

/** Permissions for values that are too large for a record. */
export const VALUES = (who: string): Row[] => [
  {
    who,
    actions: ['s3:GetObject', 's3:PutObject'],
    on: 'objects of bucket',
    because: 'values that are too large for a record, before the record is written and when it is read',
  },
];

const LISTING = (who: string): Row => ({
  who,
  actions: ['s3:ListBucket'],
  on: 'bucket',
  because: 'without it S3 says "forbidden" of an object that is not there',
});

export const AUDIT_OF_VALUES: readonly Row[] = [
  {
    who: 'audit',
    actions: ['s3:ListBucket'],
    on: 'bucket',
    because: 'which large values there are',
  },
  {
    who: 'audit',
    actions: ['s3:DeleteObject', 's3:PutObject'],
    on: 'objects of bucket',
    because: 'marks what executions that are gone have left, and removes it 35 days later',
  },
];

export const ERASURE_OF_VALUES: readonly Row[] = [
  LISTING('scheduler'),
  LISTING('supervisor'),
  {
    who: 'scheduler',
    actions: ['s3:ListBucketVersions'],
    on: 'bucket',
    because: 'which versions of its values an execution that is erased has left',
  },
  {
    who: 'scheduler',
    actions: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
    on: 'objects of bucket',
    because: 'removes the values of an execution that is erased, in all their versions',
  },
];

const CALLERS = [
  'authorise-card',
  'charge-card',
  'reserve-stock',
  'schedule-shipping',
  'notify-customer',
  'steadfast-bulk',
  'scheduler',
  'supervisor',
];
/** Rows that may stay unused, because the example has no large value, and none that is 35 days old. */
export const VALUES_MAY_BE_IDLE: readonly Row[] = [
  ...CALLERS.flatMap(VALUES),
  ...AUDIT_OF_VALUES,
  ...ERASURE_OF_VALUES,
];
