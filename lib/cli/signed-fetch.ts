/**
 * `fetch` for an API that asks who calls: requests signed for AWS (Signature Version 4), or with a bearer token.
 *
 * Owns: which requests are signed, for which service and region. Does not own: the signature itself and where credentials come
 * from (the AWS SDK: environment, profile, SSO, role), which callers an API lets in (`lib/infra/scheduler-api.ts`).
 */

import type { AwsCredentialIdentity, Provider } from '@smithy/types';
import { ApiError } from '../api/client.ts';

/** The name under which signatures for APIs behind API Gateway are made. */
const GATEWAY = 'execute-api';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop.html: where an API without a domain is. */
const GATEWAY_HOST = /^[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/;

/** The region of an API at API Gateway's own address; nothing for a domain of one's own, and for a laptop. */
export const regionOf = (url: string): string | undefined =>
  URL.canParse(url) ? GATEWAY_HOST.exec(new URL(url).hostname)?.[1] : undefined;

export interface SigningOptions {
  /**
   * The name under which the service's signatures are made.
   * @default 'execute-api'
   */
  readonly service?: string;
  /** The API's region, for example `eu-central-1`. */
  readonly region: string;
  /** @default the SDK's chain: environment, profile, SSO, role */
  readonly credentials?: AwsCredentialIdentity | Provider<AwsCredentialIdentity>;
}

/**
 * @returns a `fetch` for texts as bodies that signs each request, and rejects with ApiError `no-credentials` when there are
 *   none to sign it with
 */
export function signedFetch({ service = GATEWAY, region, credentials }: SigningOptions): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    // Loaded when first needed: a call of a laptop's API does not wait for them.
    const [{ SignatureV4 }, { Sha256 }, { defaultProvider }] = await Promise.all([
      import('@smithy/signature-v4'),
      import('@smithy/core/checksum'),
      import('@aws-sdk/credential-provider-node'),
    ]);
    const provider =
      typeof credentials === 'object' ? async () => credentials : (credentials ?? defaultProvider());
    const signer = new SignatureV4({
      service,
      region,
      credentials: await provider().catch((error: unknown) => {
        throw new ApiError('no-credentials', `there are no AWS credentials to sign with: ${String(error)}`);
      }),
      sha256: Sha256,
    });
    const query: Record<string, string[]> = {};
    for (const [name, value] of url.searchParams) (query[name] ??= []).push(value);
    const signed = await signer.sign({
      method: init.method ?? 'GET',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query,
      headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
    });
    // `fetch` sets the host itself.
    const { host: _, ...headers } = signed.headers;
    return fetch(url, { ...init, headers });
  };
}

/** @returns a `fetch` that sends the token with each request, as an API with a JWT authorizer wants it */
export function tokenFetch(token: string): typeof fetch {
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
}
