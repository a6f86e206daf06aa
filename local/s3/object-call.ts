/**
 * Reads an S3 call from its method, path and headers, decodes a chunked body, and writes S3's errors and
 * lists. Pure. Does not own: the objects (buckets.ts).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AwsAnswer } from '../gateway/aws-call.ts';

export interface ObjectCall {
  /** `unknown` for a call that is not emulated: copies, uploads in parts, settings of buckets. */
  readonly operation:
    | 'PutObject'
    | 'GetObject'
    | 'HeadObject'
    | 'DeleteObject'
    | 'ListObjectsV2'
    | 'ListObjectVersions'
    | 'unknown';
  readonly bucket: string;
  readonly key: string;
  /** The range of a list. */
  readonly range?: ListRange;
}

export interface ListRange {
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
}

export interface ListedObject {
  readonly key: string;
  readonly etag: string;
  readonly writtenAt: number;
  readonly bytes: number;
}

const MOST_LISTED = 1_000;
/** Supported parameters of a list; lists by folder or by continuation token are not supported. */
const LIST_NAMES: ReadonlySet<string> = new Set(['list-type', 'max-keys', 'prefix', 'start-after', 'x-id']);

const OPERATIONS: Readonly<Record<string, ObjectCall['operation']>> = {
  PUT: 'PutObject',
  GET: 'GetObject',
  HEAD: 'HeadObject',
  DELETE: 'DeleteObject',
};
/**
 * A query with only the operation's name, as the SDK adds it. With any other query, the call is not a plain
 * object call.
 */
const PLAIN_QUERY = /^(?:x-id=[A-Za-z]+)?$/;

/**
 * Reads a call. The bucket is the first part of the path, because the SDK does not put it into a host name
 * that is an IP address.
 */
export function readObjectCall(method: string, url: string, headers: IncomingHttpHeaders): ObjectCall {
  const [path = '', query = ''] = url.split('?');
  const [, bucket = '', ...parts] = path.split('/');
  const key = decoded(parts.join('/'));
  const range = method === 'GET' && bucket !== '' && key === '' ? rangeIn(query) : undefined;
  if (range !== undefined) return { operation: 'ListObjectsV2', bucket, key, range };
  // Earlier versions are not stored, so this list is always empty.
  if (method === 'GET' && key === '' && /^versions=(?:&prefix=[^&]*)?$/.test(query))
    return { operation: 'ListObjectVersions', bucket, key };
  const isPlain = PLAIN_QUERY.test(query) && headers['x-amz-copy-source'] === undefined;
  const operation = isPlain && bucket !== '' && key !== '' ? OPERATIONS[method] : undefined;
  return { operation: operation ?? 'unknown', bucket, key };
}

function rangeIn(query: string): ListRange | undefined {
  const asked = new URLSearchParams(query);
  if (asked.get('list-type') !== '2' || [...asked.keys()].some((name) => !LIST_NAMES.has(name)))
    return undefined;
  return {
    prefix: asked.get('prefix') ?? '',
    after: asked.get('start-after') ?? '',
    limit: Math.min(MOST_LISTED, Number(asked.get('max-keys') ?? MOST_LISTED)),
  };
}

/** @param all objects, sorted by the bytes of their keys */
export function listAnswer(
  bucket: string,
  { prefix, after, limit }: ListRange,
  all: readonly ListedObject[],
): AwsAnswer {
  const found = all.filter(({ key }) => key.startsWith(prefix) && (after === '' || bytesOf(key, after) > 0));
  const page = found.slice(0, limit);
  const contents = page.map(
    ({ key, etag, writtenAt, bytes }) =>
      `<Contents><Key>${marked(key)}</Key><LastModified>${new Date(writtenAt).toISOString()}</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${bytes}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  );
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><Prefix>${marked(prefix)}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${limit}</MaxKeys><IsTruncated>${found.length > page.length}</IsTruncated>${contents.join('')}</ListBucketResult>`;
  return { statusCode: 200, headers: { 'content-type': 'application/xml' }, body };
}

/** Compares keys in the order of S3. */
export const bytesOf = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

const marked = (text: string): string => text.replace(/[&<>]/g, (each) => MARKUP[each] ?? each);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Decodes the body of a stream, sent in chunks with a length and perhaps a signature before each:
 * `5;…\r\nhello\r\n0\r\n…`.
 */
export function unchunked(body: Buffer, headers: IncomingHttpHeaders): Buffer {
  if (!String(headers['x-amz-content-sha256'] ?? '').startsWith('STREAMING-')) return body;
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at);
    const length = Number.parseInt(body.toString('latin1', at, end), 16);
    if (end < 0 || !(length > 0)) break;
    parts.push(body.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(parts);
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** An error in S3's form. */
export function objectError(statusCode: number, code: string, message: string): AwsAnswer {
  const text = marked(message);
  return {
    statusCode,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${text}</Message></Error>`,
  };
}
