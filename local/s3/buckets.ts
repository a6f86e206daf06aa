/**
 * The buckets of the stack: stores objects in files, and sends their events to EventBridge. Does not own:
 * permissions (the gateway checks them).
 *
 * Invariants
 * - I1 an acknowledged object survives a restart, and an object is never stored in part.
 * - I2 each write has its own sequencer, and sequencers sort in the order of the writes.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { AwsAnswer } from '../gateway/aws-call.ts';
import type { BucketSpec } from '../template/stack-model.ts';
import {
  bytesOf,
  listAnswer,
  type ListedObject,
  type ObjectCall,
  objectError,
  unchunked,
} from './object-call.ts';

export interface BucketState {
  readonly logicalId: string;
  readonly name: string;
  readonly keys: readonly string[];
}

export interface BucketsPlace {
  readonly folder: string;
  readonly accountId: string;
}

interface Facts {
  readonly key: string;
  readonly contentType: string;
  readonly etag: string;
  readonly writtenAt: number;
}

const FACTS = '.json';

export class Buckets {
  readonly #specs: readonly BucketSpec[];
  readonly #bus: Pick<EventBus, 'tell'>;
  readonly #clock: Clock;
  readonly #place: BucketsPlace;
  #lastSequence = 0;

  constructor(specs: readonly BucketSpec[], bus: Pick<EventBus, 'tell'>, clock: Clock, place: BucketsPlace) {
    this.#specs = specs;
    this.#bus = bus;
    this.#clock = clock;
    this.#place = place;
  }

  list(): BucketState[] {
    return this.#specs.map(({ logicalId, bucketName: name }) => ({
      logicalId,
      name,
      keys: this.#keys(name),
    }));
  }

  /** Answers a call of the S3 API. */
  serve(
    { operation, bucket, key, range }: ObjectCall,
    body: Buffer,
    headers: IncomingHttpHeaders,
  ): AwsAnswer {
    if (this.#spec(bucket) === undefined) {
      return objectError(404, 'NoSuchBucket', `The bucket ${bucket} is not in this stack.`);
    }
    if (range !== undefined) return listAnswer(bucket, range, this.#listed(bucket));
    if (operation === 'ListObjectVersions')
      return {
        statusCode: 200,
        headers: { 'content-type': 'application/xml' },
        body: '<ListVersionsResult/>',
      };
    if (operation === 'PutObject') {
      const { etag } = this.put(bucket, key, unchunked(body, headers), headers['content-type']);
      return { statusCode: 200, headers: { etag: `"${etag}"` }, body: '' };
    }
    if (operation === 'DeleteObject') {
      this.#delete(bucket, key);
      return { statusCode: 204, headers: {}, body: '' };
    }
    const facts = this.#facts(bucket, key);
    if (facts === undefined) return objectError(404, 'NoSuchKey', 'The specified key does not exist.');
    const about = {
      etag: `"${facts.etag}"`,
      'content-type': facts.contentType,
      'last-modified': new Date(facts.writtenAt).toUTCString(),
    };
    return { statusCode: 200, headers: about, body: readFileSync(this.#file(bucket, key)) };
  }

  /** Writes an object of a bucket of the stack and announces it. */
  put(bucket: string, key: string, body: Buffer, contentType = 'application/octet-stream'): Facts {
    const etag = createHash('md5').update(body).digest('hex');
    const facts: Facts = { key, contentType, etag, writtenAt: this.#clock.now() };
    mkdirSync(join(this.#place.folder, bucket), { recursive: true });
    const file = this.#file(bucket, key);
    writeWhole(file, body);
    writeWhole(`${file}${FACTS}`, Buffer.from(JSON.stringify(facts)));
    this.#tell(bucket, 'Object Created', { key, size: body.byteLength, etag }, { reason: 'PutObject' });
    return facts;
  }

  #delete(bucket: string, key: string): void {
    const file = this.#file(bucket, key);
    if (!existsSync(file)) return;
    for (const each of [file, `${file}${FACTS}`]) rmSync(each);
    const how = { reason: 'DeleteObject', 'deletion-type': 'Permanently Deleted' };
    this.#tell(bucket, 'Object Deleted', { key }, how);
  }

  #tell(
    bucket: string,
    detailType: string,
    object: Readonly<Record<string, string | number>>,
    how: Readonly<Record<string, string>>,
  ): void {
    if (this.#spec(bucket)?.tellsEventBridge !== true) return;
    this.#lastSequence = Math.max(this.#lastSequence + 1, this.#clock.now() * 1_000);
    const sequencer = this.#lastSequence.toString(16).padStart(18, '0');
    this.#bus.tell({
      source: 'aws.s3',
      detailType,
      resources: [`arn:aws:s3:::${bucket}`],
      detail: {
        version: '0',
        'event-version': '1.0',
        bucket: { name: bucket },
        object: { ...object, sequencer },
        'request-id': randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase(),
        requester: this.#place.accountId,
        'source-ip-address': '127.0.0.1',
        ...how,
      },
    });
  }

  #spec(bucket: string): BucketSpec | undefined {
    return this.#specs.find(({ bucketName }) => bucketName === bucket);
  }

  #facts(bucket: string, key: string): Facts | undefined {
    const file = `${this.#file(bucket, key)}${FACTS}`;
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Facts) : undefined;
  }

  #keys(bucket: string): string[] {
    const folder = join(this.#place.folder, bucket);
    if (!existsSync(folder)) return [];
    return this.#allFacts(folder)
      .map(({ key }) => key)
      .sort();
  }

  #allFacts(folder: string): Facts[] {
    return readdirSync(folder)
      .filter((name) => name.endsWith(FACTS))
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Facts);
  }

  #listed(bucket: string): ListedObject[] {
    const folder = join(this.#place.folder, bucket);
    if (!existsSync(folder)) return [];
    return this.#allFacts(folder)
      .map((facts) => ({ ...facts, bytes: statSync(this.#file(bucket, facts.key)).size }))
      .sort((one, other) => bytesOf(one.key, other.key));
  }

  /** The file of a key. A key may contain characters that a file name may not. */
  #file(bucket: string, key: string): string {
    return join(this.#place.folder, bucket, createHash('sha256').update(key).digest('hex'));
  }
}

/** Writes a file under a temporary name, and renames it once it is on the disk. */
function writeWhole(file: string, body: Buffer): void {
  const draft = `${file}.draft`;
  const handle = openSync(draft, 'w');
  try {
    for (let at = 0; at < body.length; ) at += writeSync(handle, body, at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
}
