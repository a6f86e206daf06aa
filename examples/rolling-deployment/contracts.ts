/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '20s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));
export const Release = z.object({ host: Text, version: Text });

/** The load balancer executes a command once for each key. */
export const shiftTraffic = agent('shift-traffic', {
  input: z.object({ host: Text, to: z.enum(['in', 'out']) }),
  output: z.object({ shift: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/**
 * The installer installs on every request, including repeats, each time with a restart, but can be asked what
 * it did.
 */
export const installRelease = agent('install-release', {
  input: Release,
  output: z.object({ install: Text }),
  effect: 'probed',
  ...LIMITS,
});

/** A check changes nothing on the host. */
export const checkHost = agent('check-host', {
  input: Release,
  output: z.object({ check: Text }),
  effect: 'none',
  undo: 'none',
  ...LIMITS,
});

/**
 * Reads the share of requests that failed on these hosts with this release. Above the limit it fails for
 * good.
 */
export const readErrors = agent('read-errors', {
  input: z.object({ version: Text, hosts: z.array(Text), limit: z.number() }),
  output: z.object({ share: z.number() }),
  effect: 'none',
  undo: 'none',
  ...LIMITS,
});
