/**
 * How the calls of a process reach AWS: its clients, directly or through the SDK.
 *
 * Owns: how long a request may take, how often it is made, which way it takes. Does not own: the direct way
 * (`direct.ts`), the calls.
 *
 * Both ways pass on the invocation's trace and notice a wrong clock. A caller sees no difference:
 * `test/contract` and `test/aws` run on both.
 */

import { refuse } from '../core/values/errors.ts';
import { clock } from './clock.ts';
import { type ClockSkew, measured } from './clock-skew.ts';
import { direct } from './direct.ts';
import { DEFAULT_TRANSPORT, ENV, type Transport, TRANSPORTS } from './names.ts';

/**
 * A request's time limit is below the shortest lease, so that one that hangs does not cost the lease. By
 * default the SDK only warns.
 */
export const CLIENT = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
} as const;

/** @throws SteadfastError `bad-environment` */
export function transportOf(environment: Readonly<Record<string, string | undefined>>): Transport {
  const given = environment[ENV.transport] ?? DEFAULT_TRANSPORT;
  const known = TRANSPORTS.find((name) => name === given);
  if (known !== undefined) return known;
  throw refuse('bad-environment', `${ENV.transport} is '${given}'; allowed: ${TRANSPORTS.join(' and ')}`);
}

export interface TransportOptions {
  /** @default the transport that the environment names */
  readonly transport?: Transport;
  /** Gets the store's time from each answer. */
  readonly skew?: ClockSkew;
  /** @default that of `CLIENT` */
  readonly requestTimeout?: number;
}

/** Makes the client use the transport that is set. */
export function transported<Client>(
  client: Client,
  {
    transport = transportOf(process.env),
    skew,
    requestTimeout = CLIENT.requestHandler.requestTimeout,
  }: TransportOptions = {},
): Client {
  if (transport === 'direct')
    return direct(client, { requestTimeout, ...(skew === undefined ? {} : { skew }) });
  return skew === undefined ? client : measured(client, skew, clock.now);
}
