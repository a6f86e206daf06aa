/**
 * Signs a request with AWS's Signature Version 4: a POST to `/` for the JSON protocols, or any other call.
 *
 * Owns: the signature. Does not own: the request (`direct.ts`, `s3-values.ts`, `remote/`). The
 * signing key is derived once for each day and service.
 */

import { createHmac, hash } from 'node:crypto';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface Scope {
  readonly service: string;
  readonly region: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const DAY_CHARS = 8;

export const sha256 = (text: string | Uint8Array): string => hash('sha256', text, 'hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const keys = new Map<string, Buffer>();

function signingKey({ secretAccessKey }: Credentials, day: string, { service, region }: Scope): Buffer {
  const name = `${secretAccessKey}/${day}/${region}/${service}`;
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = ['aws4_request'].reduce(
    hmac,
    [region, service].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day)),
  );
  // Keys of earlier days are useless.
  if (keys.size >= 10) keys.clear();
  keys.set(name, key);
  return key;
}

let lastDate = { second: Number.NaN, text: '' };

/** Turns `2026-11-21T20:09:17.123Z` into `20261121T200917Z`. A process signs many requests in a second. */
export function amzDate(at: number): string {
  const second = Math.floor(at / 1_000);
  if (second !== lastDate.second) {
    const text = `${new Date(at).toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '')}Z`;
    lastDate = { second, text };
  }
  return lastDate.text;
}

/** The parts of an address that a signature covers. */
export interface SignedPlace {
  readonly path: string;
  readonly query: string;
  /** @default POST */
  readonly method?: string;
}
const ROOT: SignedPlace = { path: '/', query: '' };

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** An address as it is signed: the path's parts encoded once more, the query sorted by name. */
export function signedPlace({ pathname, searchParams }: URL): SignedPlace {
  const pairs = [...searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return { path: pathname.split('/').map(encoded).join('/'), query: pairs.sort().join('&') };
}

/** The same for S3 only, which signs the path as it is sent, encoded once. */
export const s3Place = (method: string, url: URL): SignedPlace => ({
  ...signedPlace(url),
  path: url.pathname,
  method,
});

/** Encodes a part of a path as S3 requires it in request and signature. */
export const encodedPart = encoded;

/**
 * Makes the `authorization` header.
 * @param headers the signed ones: lower-case names in alphabetical order, `host` and `x-amz-date` among them
 * @param place the path and the query as they are signed, for an address other than `/` (`signedPlace`)
 */
export function authorization(
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  credentials: Credentials,
  scope: Scope,
  place: SignedPlace = ROOT,
): string {
  const date = headers['x-amz-date'] ?? '';
  const day = date.slice(0, DAY_CHARS);
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const { method = 'POST' } = place;
  const request = `${method}\n${place.path}\n${place.query}\n${lines.join('')}\n${names}\n${sha256(body)}`;
  const of = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const key = signingKey(credentials, day, scope);
  const signature = hmac(key, `${ALGORITHM}\n${date}\n${of}\n${sha256(request)}`).toString('hex');
  return `${ALGORITHM} Credential=${credentials.accessKeyId}/${of}, SignedHeaders=${names}, Signature=${signature}`;
}
