/**
 * What the events of each source have, and what tells one from another.
 *
 * Owns: the fields, from AWS's documentation. Does not own: how they are used.
 */

import type { EventShape } from './event-mapping.ts';

export interface SourceKind {
  /** The trigger's name ends with it unless it is given one. */
  readonly suffix: string;
  readonly shape: EventShape;
  /** Paths that are the same when the same event is delivered again, and together are so for no other. */
  readonly key: readonly string[];
}

/** Around every event of EventBridge. */
const envelope = (detail: EventShape): EventShape => ({
  version: {},
  id: {},
  'detail-type': {},
  source: {},
  account: {},
  time: {},
  region: {},
  resources: true,
  detail,
});

/**
 * S3 tells of an object at least once, each time with another event id; the sequencer is that of the write.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
 */
export const OBJECT_CREATED: SourceKind = {
  suffix: 'object-created',
  shape: envelope({
    version: {},
    'event-version': {},
    bucket: { name: {} },
    object: { key: {}, size: {}, etag: {}, 'version-id': {}, sequencer: {} },
    'request-id': {},
    requester: {},
    'source-ip-address': {},
    reason: {},
  }),
  key: ['$.detail.bucket.name', '$.detail.object.key', '$.detail.object.sequencer'],
};

export const EVENT: SourceKind = { suffix: 'event', shape: envelope(true), key: ['$.id'] };

/** What `onSchedule` has the schedule send. */
export const SCHEDULE: SourceKind = {
  suffix: 'schedule',
  shape: { time: {}, schedule: {} },
  key: ['$.time'],
};

/** What the starter makes of a message. */
export const MESSAGE: SourceKind = {
  suffix: 'queue',
  shape: { messageId: {}, body: true, attributes: true },
  key: ['$.messageId'],
};
