/**
 * The outside world of a deployment: load balancer, installer, monitor, and the metrics of the requests.
 *
 * Owns: which services deduplicate (the balancer) and which do not (the installer), and the content of their
 * entries. Does not own: how a service works (`../world`), whether the totals are right (`audit.ts`).
 *
 *   npx tsx examples/rolling-deployment/world.ts
 *     [--port 4537] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

export interface FleetEntry extends Entry {
  readonly service: 'balancer' | 'installer' | 'monitor' | 'metrics';
  /** `shift-back` and `roll-back` undo a `shift` and an `install`. */
  readonly kind: 'shift' | 'shift-back' | 'install' | 'roll-back' | 'check' | 'error' | 'repeat' | 'misuse';
  readonly host: string;
  /** Only for a shift: whether the host gets requests. */
  readonly to?: 'in' | 'out';
  readonly version?: string;
}

const Text = z.string().check(z.minLength(1));

export const DEEDS: readonly Deed[] = [
  {
    service: 'balancer',
    kind: 'shift',
    action: 'shift',
    oncePerKey: true,
    data: z.object({ host: Text, to: z.enum(['in', 'out']) }),
    about: 'host',
    undo: { kind: 'shift-back', action: 'shift-back' },
  },
  {
    service: 'installer',
    kind: 'install',
    action: 'install',
    data: z.object({ host: Text, version: Text }),
    about: 'host',
    // Each roll-back restarts the host, so that doubles show.
    undo: { kind: 'roll-back', action: 'roll-back', repeats: true },
  },
  {
    service: 'monitor',
    kind: 'check',
    action: 'check',
    data: z.object({ host: Text, version: Text }),
    about: 'host',
  },
  {
    // The share of requests that fail on a host with a release, by its version.
    service: 'metrics',
    kind: 'error',
    action: 'fail',
    data: z.object({ host: Text, share: z.number().check(z.minimum(0), z.maximum(1)) }),
    about: 'host',
  },
];
export const PLACE = { deeds: DEEDS, port: 4537 } as const;

await serveIfMain(import.meta.url, PLACE);
