/**
 * What the agents of this folder take and give: all that an agent's function needs of the workflows.
 *
 * The limits are short so that you can see a recovery on a laptop. Real clouds take minutes:
 * raise `timeout` and `within` then.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '4s', claimWithin: '5s', timeout: '6s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));
/** Where it belongs, and what it rests on: the cloud removes nothing that something else uses. */
const place = { environment: Text, region: Text, type: Text, uses: z.array(Text) };
const Made = z.object({ id: Text });

/** The network service makes one part for each key. */
export const createNetworkPart = agent('create-network-part', {
  input: z.object(place),
  output: Made,
  effect: 'idempotent',
  ...LIMITS,
});

/**
 * The compute service makes as many as it is asked for, and knows them by their
 * tag. Machines come with disks. A database takes it a while: it accepts the request, and is asked.
 */
export const createResource = agent('create-resource', {
  input: z.object({ ...place, machines: z.int().check(z.nonnegative()) }),
  output: Made,
  effect: 'probed',
  acceptedWithin: '10m',
  ...LIMITS,
});

/** Names are there once in the world, not once a region. */
export const claimName = agent('claim-name', {
  input: z.object({ ...place, name: Text }),
  output: Made,
  effect: 'idempotent',
  ...LIMITS,
});

/** Asks whether the site answers, and changes nothing. */
export const checkSite = agent('check-site', {
  input: z.object({ environment: Text, region: Text }),
  output: Made,
  effect: 'none',
  ...LIMITS,
});
