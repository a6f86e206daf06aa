/**
 * A `fetch` that signs requests for AWS with the credentials of the command line's user.
 *
 * Owns: finding the credentials (by the AWS SDK: environment, profile, SSO, role) and the region of an
 * address. Does not own: the signature (`api/authorization.ts`), which callers an API accepts
 * (`infra/scheduler-api.ts`).
 */

import type { AwsCredentialIdentity, Provider } from '@smithy/types';
import { awsSignature } from '../lib/api/authorization.ts';

/**
 * The host of an API without a custom domain:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop.html
 */
const GATEWAY_HOST = /^[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/;

/** The region in an address of API Gateway; undefined for a custom domain or a laptop. */
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
 * @returns a `fetch` for text bodies that signs each request, and rejects with ApiError `no-credentials`
 * without credentials
 */
export const signedFetch = ({ credentials = ofTheSdk(), ...scope }: SigningOptions): typeof fetch =>
  awsSignature({ ...scope, credentials })(fetch);

/**
 * Loads the SDK when first needed, because calls to a laptop's API do not need it. Credentials are reused
 * until they are about to expire.
 */
function ofTheSdk(): Provider<AwsCredentialIdentity> {
  let found: Promise<Provider<AwsCredentialIdentity>> | undefined;
  return async () => {
    found ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) => defaultProvider());
    return (await found)();
  };
}
