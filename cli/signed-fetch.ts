/**
 * `fetch` for APIs that ask for AWS's signature, with the credentials of the command line's user.
 *
 * Owns: where credentials come from (the AWS SDK: environment, profile, SSO, role), which region an address
 * is in. Does not own:
 * the signature (`api/authorization.ts`), which callers an API lets in (`infra/scheduler-api.ts`).
 */

import type { AwsCredentialIdentity, Provider } from '@smithy/types';
import { awsSignature } from '../lib/api/authorization.ts';

/**
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop.html:
 * where an API without a domain is.
 */
const GATEWAY_HOST = /^[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/;

/** The region of an API at API Gateway's own address; nothing for a domain of one's own, and for a laptop. */
export const regionOf = (url: string): string | undefined =>
  URL.canParse(url) ? GATEWAY_HOST.exec(new URL(url).hostname)?.[1] : undefined;

export interface SigningOptions {
  /** @default 'execute-api' */
  readonly service?: string;
  /** The API's region, for example `eu-central-1`. */
  readonly region: string;
  /** @default the SDK's chain: environment, profile, SSO, role */
  readonly credentials?: AwsCredentialIdentity | Provider<AwsCredentialIdentity>;
}

/**
 * @returns a `fetch` for texts as bodies that signs each request, and rejects with ApiError
 * `no-credentials` when there are
 *   none to sign it with
 */
export const signedFetch = ({ credentials = ofTheSdk(), ...scope }: SigningOptions): typeof fetch =>
  awsSignature({ ...scope, credentials })(fetch);

/**
 * Loaded when first needed: a call of a laptop's API does not wait for it. Asked again
 * only before what it gave is over.
 */
function ofTheSdk(): Provider<AwsCredentialIdentity> {
  let found: Promise<Provider<AwsCredentialIdentity>> | undefined;
  return async () => {
    found ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) => defaultProvider());
    return (await found)();
  };
}
