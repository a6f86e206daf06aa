/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflows.
 *
 * The limits are short so that you can see a recovery on a laptop. Real clouds take minutes: there, raise
 * `timeout` and `within`.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '4s', claimWithin: '5s', timeout: '6s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));
/**
 * The resource's place, and the resources that it uses: the cloud refuses to remove anything that is in use.
 */
const place = { environment: Text, region: Text, type: Text, uses: z.array(Text) };
const Made = z.object({ id: Text });

/** The network service creates one part for each key. */
export const createNetworkPart = agent('create-network-part', {
  input: z.object(place),
  output: Made,
  effect: 'idempotent',
  ...LIMITS,
});

/**
 * The compute service creates one resource per request, including repeats, and finds them by their tag.
 * Machines come with disks. A database takes a while: the service accepts the request, and probes ask for the
 * result.
 */
export const createResource = agent('create-resource', {
  input: z.object({ ...place, machines: z.int().check(z.nonnegative()) }),
  output: Made,
  effect: 'probed',
  acceptedWithin: '10m',
  ...LIMITS,
});

/** Names are unique across all regions. */
export const claimName = agent('claim-name', {
  input: z.object({ ...place, name: Text }),
  output: Made,
  effect: 'idempotent',
  ...LIMITS,
});

/** Asks whether the site answers; changes nothing. */
export const checkSite = agent('check-site', {
  input: z.object({ environment: Text, region: Text }),
  output: Made,
  effect: 'none',
  ...LIMITS,
});
