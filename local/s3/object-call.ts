/**
 * Owns: what one S3 call is, off its method, path and headers; its body without the signing around it; S3's
 * errors. Pure. Owns not: the objects (buckets.ts).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AwsAnswer } from '../gateway/aws-call.ts';

export interface ObjectCall {
  /** `unknown` for what is not emulated: lists, copies, uploads in parts, settings of buckets. */
  readonly operation: 'PutObject' | 'GetObject' | 'HeadObject' | 'DeleteObject' | 'unknown';
  readonly bucket: string;
  readonly key: string;
}

const OPERATIONS: Readonly<Record<string, ObjectCall['operation']>> = {
  PUT: 'PutObject',
  GET: 'GetObject',
  HEAD: 'HeadObject',
  DELETE: 'DeleteObject',
};
/**
 * The SDK's own note of the operation; anything else in the query asks for something else than the object.
 */
const PLAIN_QUERY = /^(?:x-id=[A-Za-z]+)?$/;

/**
 * The bucket is the first part of the path: at an address without a name the SDK
 * does not put it before the host.
 */
export function readObjectCall(method: string, url: string, headers: IncomingHttpHeaders): ObjectCall {
  const [path = '', query = ''] = url.split('?');
  const [, bucket = '', ...parts] = path.split('/');
  const key = decoded(parts.join('/'));
  const isPlain = PLAIN_QUERY.test(query) && headers['x-amz-copy-source'] === undefined;
  const operation = isPlain && bucket !== '' && key !== '' ? OPERATIONS[method] : undefined;
  return { operation: operation ?? 'unknown', bucket, key };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A stream is sent in chunks, each with its length before it and perhaps a
 * signature: `5;…\r\nhello\r\n0\r\n…`.
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
  const text = message.replace(/[&<>]/g, (each) => MARKUP[each] ?? each);
  return {
    statusCode,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${text}</Message></Error>`,
  };
}
