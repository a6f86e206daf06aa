/**
 * Large values as objects of one bucket, by S3's HTTP API.
 *
 * Owns: the requests, how often each is made, the meaning of an answer. Does not own: keys
 * (`core/records/large-values.ts`), which objects are removed (`supervisor/audit-values.ts`), the signature
 * (`signature.ts`).
 *
 * The SDK's client would make every function's bundle a third (160 KB) larger, and a cold start would read it
 * even if no large value ever occurs. Any call may be made twice: an object is written whole, under a key
 * that no other write uses.
 */

import { isTransientError, StandardRetryStrategy } from '@smithy/core/retry';
import type { AwsCredentialIdentity, Provider, RetryErrorType, SdkError } from '@smithy/types';
import type { LargeValueInventory, LargeValues, Page, StoredValue } from '../core/ports.ts';
import { clock } from './clock.ts';
import { type Answer, exchange, targetAt } from './exchange.ts';
import { ENV } from './names.ts';
import { amzDate, authorization, encodedPart, s3Place, sha256 } from './signature.ts';

/** The smallest function reaches 16 MB/s, so the largest value (16 MB) takes it one second. */
const REQUEST_TIMEOUT_MS = 10_000;
const MOST_ATTEMPTS = 3;

export interface S3Options {
  readonly bucket: string;
  /** One address for all buckets, as emulators use. @default AWS's address of this bucket */
  readonly endpoint?: string;
  readonly region: Provider<string>;
  readonly credentials: Provider<AwsCredentialIdentity>;
  /** @default 10 s for one try */
  readonly requestTimeout?: number;
  /** How many objects a page of a list has. @default as many as S3 lists at once, 1,000 */
  readonly page?: number;
}

type Method = 'GET' | 'PUT' | 'DELETE';

/**
 * S3's answer for a missing object, with `NoSuchKey`. A role that may not list gets 403 instead, naming
 * `s3:ListBucket`; if it could not read either, the 403 would name `s3:GetObject`.
 */
const NOT_THERE = 404;
const MAY_NOT_LIST = 403;
const NO_BODY = new Uint8Array();
const REMOVED_AT_A_TIME = 10;

export function s3Values(options: S3Options): LargeValues & LargeValueInventory {
  // A separate retry strategy, so that refusals by S3 use up none of the state table's retries.
  const retries = new StandardRetryStrategy(MOST_ATTEMPTS);
  const call = async (method: Method, url: Promise<URL>, body: Uint8Array = NO_BODY): Promise<Answer> => {
    const to = await url;
    return repeated(retries, () => once(options, method, to, body));
  };
  let address: Promise<string> | undefined;
  const at = async (key: string): Promise<URL> =>
    new URL(`${await (address ??= addressOf(options))}/${key.split('/').map(encodedPart).join('/')}`);
  // S3 answers the same for a missing object.
  const remove = async (key: string, version?: string): Promise<void> => {
    const url = await at(key);
    if (version !== undefined) url.searchParams.set('versionId', version);
    accepted(await call('DELETE', Promise.resolve(url)), 'DeleteObject');
  };
  return {
    hash: sha256,
    put: async (key, json) => {
      accepted(await call('PUT', at(key), Buffer.from(json)), 'PutObject');
    },
    get: async (key) => {
      const answer = await call('GET', at(key));
      if (isNotThere(answer)) return undefined;
      return accepted(answer, 'GetObject').body.toString();
    },
    list: async (prefix, cursor) => {
      const url = await at('');
      const { page = '' } = options;
      const asked = { 'list-type': '2', prefix, 'start-after': cursor ?? '', 'max-keys': String(page) };
      for (const [name, value] of Object.entries(asked)) if (value !== '') url.searchParams.set(name, value);
      return listed(accepted(await call('GET', Promise.resolve(url)), 'ListObjectsV2').body.toString());
    },
    remove: (keys) => someAtATime(keys, remove),
    // First a delete marker: S3 replicates only that to another region.
    erase: (keys) =>
      someAtATime(keys, async (key) => {
        await remove(key);
        const url = await at('');
        url.search = String(new URLSearchParams({ versions: '', prefix: key }));
        const found = accepted(await call('GET', Promise.resolve(url)), 'ListObjectVersions');
        for (const version of versionsOf(key, found.body.toString())) await remove(key, version);
      }),
  };
}

async function someAtATime(keys: readonly string[], each: (key: string) => Promise<void>): Promise<void> {
  for (let from = 0; from < keys.length; from += REMOVED_AT_A_TIME)
    await Promise.all(keys.slice(from, from + REMOVED_AT_A_TIME).map((key) => each(key)));
}

/** An SDK client's region and credentials. */
interface Client {
  readonly config: Pick<S3Options, 'region' | 'credentials'>;
}

/** The bucket that the environment names; undefined if none. */
export function valuesIn(
  environment: Readonly<Record<string, string | undefined>>,
  { config: { region, credentials } }: Client,
): (LargeValues & LargeValueInventory) | undefined {
  const bucket = environment[ENV.values] ?? '';
  if (bucket === '') return undefined;
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'];
  return s3Values({ bucket, region, credentials, ...(endpoint ? { endpoint } : {}) });
}

async function addressOf({ bucket, endpoint, region }: S3Options): Promise<string> {
  if (endpoint !== undefined) return `${endpoint.replace(/\/$/, '')}/${bucket}`;
  const place = await region();
  return `https://${bucket}.s3.${place}.${place.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`;
}

async function repeated(retries: StandardRetryStrategy, ask: () => Promise<Answer>): Promise<Answer> {
  let token = await retries.acquireInitialRetryToken('s3');
  for (;;) {
    let failed: { readonly error: unknown; readonly answer?: Answer };
    try {
      const answer = await ask();
      if (answer.statusCode < 500 && answer.statusCode !== 429) {
        retries.recordSuccess(token);
        return answer;
      }
      failed = { error: refusal(answer, 'S3'), answer };
    } catch (error) {
      failed = { error };
    }
    const errorType = typeOf(failed);
    // Rejects if there must be no more attempts; otherwise waits until the next one is due.
    const next =
      errorType === undefined
        ? undefined
        : await retries
            .refreshRetryTokenForRetry(token, { error: failed.error as SdkError, errorType })
            .catch(() => undefined);
    if (next === undefined) throw failed.error;
    token = next;
  }
}

function typeOf({
  error,
  answer,
}: {
  readonly error: unknown;
  readonly answer?: Answer;
}): RetryErrorType | undefined {
  if (answer !== undefined)
    return answer.statusCode === 503 || answer.statusCode === 429 ? 'THROTTLING' : 'TRANSIENT';
  return isTransientError(error as SdkError) || isBroken(error) ? 'TRANSIENT' : undefined;
}

const BROKEN: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const isBroken = (error: unknown): boolean => BROKEN.has(Object(error).code);

function accepted(answer: Answer, operation: string): Answer {
  if (answer.statusCode < 300) return answer;
  throw refusal(answer, operation);
}

/** The error names no key: a key contains an execution's id. */
const refusal = (answer: Answer, operation: string): Error => {
  const code = codeIn(answer) ?? `HTTP ${answer.statusCode}`;
  return Object.assign(new Error(`${operation} of a large value: ${code}`), {
    name: code,
    $metadata: { httpStatusCode: answer.statusCode },
  });
};

const startOf = ({ body }: Answer): string => body.subarray(0, 2_000).toString();

const codeIn = (answer: Answer): string | undefined =>
  /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(startOf(answer))?.[1];

const isNotThere = (answer: Answer): boolean =>
  answer.statusCode === NOT_THERE
    ? codeIn(answer) === 'NoSuchKey'
    : answer.statusCode === MAY_NOT_LIST && /<Message>[^<]* s3:ListBucket /.test(startOf(answer));

async function once(
  { region, credentials, requestTimeout = REQUEST_TIMEOUT_MS }: S3Options,
  method: Method,
  url: URL,
  body: Uint8Array,
): Promise<Answer> {
  const known = await credentials();
  const signed = {
    host: url.host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': amzDate(clock.now()),
    ...(known.sessionToken === undefined ? {} : { 'x-amz-security-token': known.sessionToken }),
  };
  const scope = { service: 's3', region: await region() };
  const headers = {
    ...signed,
    authorization: authorization(signed, body, known, scope, s3Place(method, url)),
    'content-length': body.byteLength,
  };
  return await exchange(targetAt('S3', method, url), headers, body, requestTimeout);
}

/** Reads a page of a list. Our keys have no character that XML must escape. */
function listed(xml: string): Page<StoredValue> {
  const items = [...xml.matchAll(/<Contents>([^]*?)<\/Contents>/g)].map(([, one = '']) => ({
    key: within(one, 'Key'),
    storedAt: Date.parse(within(one, 'LastModified')),
    bytes: Number(within(one, 'Size')),
  }));
  const last = items.at(-1);
  return within(xml, 'IsTruncated') === 'true' && last !== undefined
    ? { items, cursor: last.key }
    : { items };
}

/** The versions of one key, without delete markers. */
const versionsOf = (key: string, xml: string): string[] =>
  [...xml.matchAll(/<Version>([^]*?)<\/Version>/g)].flatMap(([, one = '']) =>
    within(one, 'Key') === key ? [within(one, 'VersionId')] : [],
  );

const within = (xml: string, tag: string): string =>
  new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1] ?? '';
