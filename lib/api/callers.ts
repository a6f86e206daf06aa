/**
 * The caller, as API Gateway's authorizer names it.
 *
 * Owns: reading it from the request's context, and the refusal of names that callers give themselves. Does
 * not own: who may call (`lib/infra/scheduler-api.ts`), the use of a caller (`core/values/caller.ts`).
 *
 * Payload format 2.0: `requestContext.authorizer` has `iam.userArn` from the authorizer for IAM, and
 * `jwt.claims` from the one for tokens, both checked by the gateway
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
 * With your own authorizer, or none, there is no caller. No header and no body is read: only the gateway
 * writes the context.
 */

import type { Context } from 'hono';
import { type Caller, isCallerName, MAX_CALLER_CHARS } from '../core/values/caller.ts';
import { refuse } from '../core/values/errors.ts';
import { AS_HEADER } from './client.ts';

/** The account and the issuer of the local cloud, which no deployed API can have. */
const LOCAL_USER = /^arn:aws:iam::000000000000:user\/(.+)$/;
const LOCAL_ISSUER = 'local';

interface Authorizer {
  readonly iam?: { readonly userArn?: unknown };
  readonly jwt?: { readonly claims?: { readonly iss?: unknown; readonly sub?: unknown } };
}

/**
 * The caller of a request, as a field to record; empty if the gateway names none.
 * @throws SteadfastError `bad-request` if a header gives a name; `bad-caller` if the name cannot be recorded
 */
export function callerOf(c: Context): { readonly by?: Caller } {
  if (c.req.header(AS_HEADER) !== undefined) {
    throw refuse(
      'bad-request',
      `header ${AS_HEADER} (--as) is for an API on this machine; here the API's authorizer names the caller`,
    );
  }
  const env = c.env as { requestContext?: { authorizer?: Authorizer } } | undefined;
  const by = vouchedFor(env?.requestContext?.authorizer ?? {});
  if (by === undefined) return {};
  if (isCallerName(by.name)) return { by };
  throw refuse(
    'bad-caller',
    `the caller cannot be recorded: at most ${MAX_CALLER_CHARS} printable ASCII characters are allowed, but the ${by.kind === 'iam' ? 'ARN has' : 'issuer and the subject of the token have'} ${by.name.length}, or other characters`,
  );
}

function vouchedFor({ iam, jwt }: Authorizer): Caller | undefined {
  const arn = iam?.userArn;
  if (typeof arn === 'string' && arn !== '') {
    const name = LOCAL_USER.exec(arn)?.[1];
    return name === undefined ? { kind: 'iam', name: arn } : { kind: 'local', name };
  }
  const { iss, sub } = jwt?.claims ?? {};
  if (typeof iss !== 'string' || typeof sub !== 'string' || iss === '' || sub === '') return undefined;
  if (iss === LOCAL_ISSUER) return { kind: 'local', name: sub };
  // An issuer is a URL and has no space, so the first space ends it even if the subject has some.
  return iss.includes(' ') ? undefined : { kind: 'jwt', name: `${iss} ${sub}` };
}
