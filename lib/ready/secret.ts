/**
 * A secret's value: from the environment if it is set there, else from Systems Manager or Secrets Manager.
 *
 * Owns: the read, and how long a value is cached. Does not own: the permission to read it, which the
 * construct grants for this name alone (`infra/deployed-agent.ts`), how it is sent (`work.ts`).
 *
 * S17 No error and no log contains a value: texts about a secret give its name.
 */

import { TransientError } from '../core/values/errors.ts';
import type { SecretPlace } from '../core/values/signed-by.ts';
import { signed } from '../remote/http.ts';
import { endpointOf } from './aws-endpoint.ts';
import type { AbortSignalLike } from '../core/plan/agent.ts';
import { send } from './send.ts';

/** How long a value is cached. After a rotation, a service may accept the previous value for that long. */
const KEPT_MS = 300_000;
const MOST_BYTES = 262_144;

const kept = new Map<string, { readonly value: string; readonly untilAt: number }>();

const nameOf = (secret: SecretPlace): string =>
  JSON.stringify([secret.parameter, secret.secretsManager, secret.field]);

/**
 * Drops the cached value after the service refused it, so that the next read fetches it; true if there was
 * one.
 */
export const forget = (secret: SecretPlace): boolean => kept.delete(nameOf(secret));

/** @throws TransientError: nothing was sent */
export async function secretValue(secret: SecretPlace, signal: AbortSignalLike): Promise<string> {
  const own = process.env[secret.env];
  if (own !== undefined && own !== '') return own.trim();
  const known = kept.get(nameOf(secret));
  if (known !== undefined && known.untilAt > Date.now()) return known.value;
  const value = (await read(secret, signal)).trim();
  kept.set(nameOf(secret), { value, untilAt: Date.now() + KEPT_MS });
  return value;
}

async function read(secret: SecretPlace, signal: AbortSignalLike): Promise<string> {
  const { parameter, secretsManager, field } = secret;
  if (parameter !== undefined) {
    const call = { Name: parameter, WithDecryption: true };
    const found = await ask('ssm', 'AmazonSSM.GetParameter', call, secret, signal);
    return textIn((found as { Parameter?: { Value?: unknown } }).Parameter?.Value, secret);
  }
  if (secretsManager === undefined) throw unread(secret, `the environment variable ${secret.env} is not set`);
  const target = 'secretsmanager.GetSecretValue';
  const found = await ask('secretsmanager', target, { SecretId: secretsManager }, secret, signal);
  const text = textIn((found as { SecretString?: unknown }).SecretString, secret);
  if (field === undefined) return text;
  try {
    return textIn((JSON.parse(text) as Readonly<Record<string, unknown>>)[field], secret);
  } catch {
    throw unread(secret, `it is not JSON with a text '${field}'`);
  }
}

function textIn(value: unknown, secret: SecretPlace): string {
  if (typeof value === 'string' && value !== '') return value;
  throw unread(secret, 'it holds no text');
}

const unread = ({ env, parameter, secretsManager }: SecretPlace, why: string): TransientError =>
  Object.assign(
    new TransientError(
      `nothing was sent: the secret ${parameter ?? secretsManager ?? env} cannot be read: ${why}`,
    ),
    { code: 'no-secret' },
  );

async function ask(
  service: 'ssm' | 'secretsmanager',
  target: string,
  call: object,
  secret: SecretPlace,
  signal: AbortSignalLike,
): Promise<unknown> {
  const { url, region } = endpointOf(service) ?? {};
  if (url === undefined || region === undefined)
    throw unread(secret, `neither the environment variable ${secret.env} is set nor AWS_REGION`);
  const body = JSON.stringify(call);
  const plain = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const headers = await signed({ url, headers: plain, body, service, region });
  const out = {
    method: 'POST',
    url,
    headers,
    body,
    signal,
    maxBytes: MOST_BYTES,
    reach: 'here',
  } as const;
  const result = await send(out);
  if (result.kind !== 'answered') throw unread(secret, result.code);
  const answer = typeof result.body === 'string' ? undefined : parsed(result.body);
  if (result.status === 200 && answer !== undefined) return answer;
  const { __type: type } = Object(answer) as { readonly __type?: unknown };
  const name = /[A-Za-z]{1,60}$/.exec(typeof type === 'string' ? type : '')?.[0];
  throw unread(secret, `${service} answered ${result.status}${name === undefined ? '' : ` ${name}`}`);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
