/**
 * Adds the caller to an application's requests: a bearer token, or Signature Version 4. It works in Node and
 * in browsers.
 *
 * Does not own: which callers an API accepts (`infra/scheduler-api.ts`).
 *
 * The signature is our own, because the client loads no other package and must fit into 10 KB: the SDK's has
 * 30 KB, aws4fetch 7 KB. The tests compare it with the SDK's.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */

import { ApiError } from './client.ts';

/** Adds the caller to each request. */
export type Authorization = (send: typeof fetch) => typeof fetch;

type Provided<Value> = Value | (() => Value | Promise<Value>);

/** @throws ApiError `no-credentials` if the function returns none */
async function provided<Value extends object | string>(value: Provided<Value>, none: string): Promise<Value> {
  try {
    return await (typeof value === 'function' ? value() : value);
  } catch (error) {
    throw new ApiError('no-credentials', `${none}: ${String(error)}`);
  }
}

/**
 * Sends a token with every call, for a JWT authorizer or a server with tokens. If the function fails, the
 * call rejects with `no-credentials`.
 * @param token a token, or a function that is called before each request, because tokens expire
 * @example
 * export const client = createClient({ url: 'https://orders.example', authorization: bearer('the token') });
 */
export const bearer =
  (token: Provided<string>): Authorization =>
  (send) =>
  async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${await provided(token, 'there is no token to send')}`);
    return send(input, { ...init, headers });
  };

/**
 * Credentials in the form of the AWS SDK's providers: `fromNodeProviderChain()`,
 * `fromCognitoIdentityPool(…)`.
 */
export interface AwsCredentials {
  /** The public half of the key. */
  readonly accessKeyId: string;
  /** The secret half of the key. */
  readonly secretAccessKey: string;
  /** Only for credentials that expire. */
  readonly sessionToken?: string;
}

/** The settings of signatures for an API whose authorizer is IAM. */
export interface AwsSignatureOptions {
  /** For example 'eu-central-1'. */
  readonly region: string;
  /**
   * The name of the service in the signature.
   * @default 'execute-api', for APIs behind API Gateway
   */
  readonly service?: string;
  /** The credentials, or a function that is called before each request, because credentials expire. */
  readonly credentials: Provided<AwsCredentials>;
}

/**
 * Signs each request for an API behind IAM, or for a service of AWS. A body must be text. If `credentials` is
 * a function that fails, the call rejects with `no-credentials`.
 * @example
 * const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret' };
 * export const authorization = awsSignature({ region: 'eu-central-1', credentials });
 */
export const awsSignature =
  ({ region, service = 'execute-api', credentials }: AwsSignatureOptions): Authorization =>
  (send) =>
  async (input, init = {}) => {
    const url = new URL(input as string);
    const { sessionToken, ...keys } = await provided(
      credentials,
      'there are no AWS credentials to sign with',
    );
    const headers = new Headers(init.headers);
    headers.set('host', url.host);
    headers.set('x-amz-date', new Date().toISOString().replaceAll(/[-:]|\.\d+/g, ''));
    if (sessionToken !== undefined) headers.set('x-amz-security-token', sessionToken);
    const body = typeof init.body === 'string' ? init.body : '';
    const value = await signatureOf({ url, method: init.method ?? 'GET', headers, body }, keys, {
      region,
      service,
    });
    headers.set('authorization', value);
    // `fetch` sets the host itself.
    headers.delete('host');
    return send(input, { ...init, headers });
  };

const ALGORITHM = 'AWS4-HMAC-SHA256';

interface Signed {
  readonly url: URL;
  readonly method: string;
  /** All of them are signed, including `host` and `x-amz-date`. */
  readonly headers: Headers;
  readonly body: string;
}

async function signatureOf(
  { url, method, headers, body }: Signed,
  { accessKeyId, secretAccessKey }: Pick<AwsCredentials, 'accessKeyId' | 'secretAccessKey'>,
  { region, service }: Required<Pick<AwsSignatureOptions, 'region' | 'service'>>,
): Promise<string> {
  const date = headers.get('x-amz-date') ?? '';
  const scope = [date.slice(0, 8), region, service, 'aws4_request'];
  // The platform sorts the headers, and writes their names in lower case.
  const given = [...headers];
  const names = given.map(([name]) => name).join(';');
  const lines = given.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`).join('');
  const query = [...url.searchParams]
    .map((pair) => pair.map(encoded).join('='))
    .toSorted(byCode)
    .join('&');
  const path = url.pathname.split('/').map(encoded).join('/');
  const request = [method, path, query, lines, names, hex(await sha256(body))].join('\n');
  const text = [ALGORITHM, date, scope.join('/'), hex(await sha256(request))].join('\n');
  let key = bytes(`AWS4${secretAccessKey}`);
  for (const part of [...scope, text]) key = await hmac(key, part);
  return `${ALGORITHM} Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names}, Signature=${hex(key)}`;
}

/** Compares ASCII texts. */
const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const hex = (of: Uint8Array): string => [...of].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const sha256 = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes(text)));

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const hash = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, hash, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytes(text)));
}

/** Encodes by RFC 3986, which encodes more characters than `encodeURIComponent`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
