/**
 * The outside world of an environment: a cloud with network, compute and name services, in four regions.
 *
 * Owns: which services deduplicate (network, names) and which do not (compute), the quotas, and which
 * removals are refused. Does not own: how a service works (`../world`).
 *
 *   npx tsx examples/cloud-provisioning/world.ts
 *     [--port 4542] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry, Ledger } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

export interface CloudEntry extends Entry {
  readonly kind:
    | 'part'
    | 'resource'
    | 'disk'
    | 'name'
    | 'check'
    | keyof typeof TAKES_BACK
    | 'repeat'
    | 'misuse';
  readonly environment?: string;
  readonly region?: string;
  readonly type?: string;
  readonly uses?: readonly string[];
  readonly machines?: number;
  readonly name?: string;
  /** Only for a disk: the machines it belongs to. */
  readonly attachedTo?: string;
}

const TAKES_BACK = { removal: 'part', deletion: 'resource', wipe: 'disk', surrender: 'name' } as const;

/** How many machines an account may have in a region, across all its environments. */
export const QUOTAS: Readonly<Record<string, number>> = { north: 50_000, south: 50_000, east: 6, west: 6 };

const Text = z.string().check(z.minLength(1));
const place = { environment: Text, region: Text, type: Text, uses: z.array(Text) };
const Resource = z.object({ ...place, machines: z.int().check(z.nonnegative()) });
const Name = z.object({ ...place, name: Text });

/** The resources that were created and still exist. */
export function standing(entries: readonly CloudEntry[]): readonly CloudEntry[] {
  const gone = new Set(entries.flatMap(({ kind, of }) => (kind in TAKES_BACK ? [of] : [])));
  const made: readonly string[] = Object.values(TAKES_BACK);
  return entries.filter(({ kind, id }) => made.includes(kind) && !gone.has(id));
}

const standingIn = (ledger: Ledger): readonly CloudEntry[] =>
  standing(ledger.entries as readonly CloudEntry[]);

const inUse = ({ id }: Entry, ledger: Ledger): string | undefined => {
  const user = standingIn(ledger).find(({ uses = [] }) => uses.includes(id));
  return user === undefined ? undefined : `${id} is used by ${user.id} (${user.type})`;
};

/** How many answers each database has had; the first ones say that it is still being created. */
const answered = new WeakMap<Entry, number>();
const UNREADY_ANSWERS = 2;

function stateOf(entry: Entry): 'creating' | 'ready' {
  if ((entry as CloudEntry).type !== 'database') return 'ready';
  const count = (answered.get(entry) ?? 0) + 1;
  answered.set(entry, count);
  return count > UNREADY_ANSWERS ? 'ready' : 'creating';
}

const unknown = (region: unknown): string | undefined =>
  Object.hasOwn(QUOTAS, String(region)) ? undefined : `there is no region '${String(region)}'`;

/** The resources that a new one uses must exist. */
function missing(uses: readonly string[], ledger: Ledger): string | undefined {
  const there = new Set(standingIn(ledger).map(({ id }) => id));
  const absent = uses.find((id) => !there.has(id));
  return absent === undefined ? undefined : `there is no ${absent}`;
}

function overQuota({ region, machines }: z.infer<typeof Resource>, ledger: Ledger): string | undefined {
  if (machines === 0) return undefined;
  const own = standingIn(ledger).filter((entry) => entry.region === region);
  const all = own.reduce((sum, entry) => sum + (entry.machines ?? 0), machines);
  const quota = QUOTAS[region] ?? 0;
  return all <= quota
    ? undefined
    : `the quota of '${region}' is ${quota} machines, and these would be ${all}`;
}

const taken = ({ type, name }: z.infer<typeof Name>, ledger: Ledger): string | undefined =>
  standingIn(ledger).some((entry) => entry.kind === 'name' && entry.type === type && entry.name === name)
    ? `'${name}' has a ${type} already`
    : undefined;

export const DEEDS: readonly Deed[] = [
  {
    service: 'network',
    kind: 'part',
    action: 'create',
    oncePerKey: true,
    data: z.object(place),
    about: 'environment',
    undo: { kind: 'removal', action: 'delete', refuses: inUse },
    refuses: ({ region, uses }, ledger) => unknown(region) ?? missing(uses as string[], ledger),
  },
  {
    service: 'compute',
    kind: 'resource',
    action: 'create',
    data: Resource,
    about: 'environment',
    undo: { kind: 'deletion', action: 'delete', refuses: inUse },
    refuses: (data, ledger) => {
      const resource = data as z.infer<typeof Resource>;
      return unknown(resource.region) ?? missing(resource.uses, ledger) ?? overQuota(resource, ledger);
    },
    shows: (entry) => ({ state: stateOf(entry) }),
    // A disk comes with its machines, and stays when they are removed.
    brings: ({ id, ...entry }) =>
      (entry as CloudEntry).machines === 0 ? [] : [{ kind: 'disk', machines: 0, uses: [], attachedTo: id }],
  },
  {
    service: 'compute',
    kind: 'disk',
    action: 'create',
    data: z.object(place),
    about: 'environment',
    undo: {
      kind: 'wipe',
      action: 'delete',
      refuses: (disk, ledger) => {
        const { attachedTo } = disk as CloudEntry;
        const machine = standingIn(ledger).find(({ id }) => id === attachedTo);
        return machine === undefined ? undefined : `${disk.id} is attached to ${machine.id}`;
      },
    },
  },
  {
    service: 'names',
    kind: 'name',
    action: 'claim',
    oncePerKey: true,
    data: Name,
    about: 'environment',
    undo: { kind: 'surrender', action: 'surrender', refuses: inUse },
    refuses: (data, ledger) => {
      const name = data as z.infer<typeof Name>;
      return missing(name.uses, ledger) ?? taken(name, ledger);
    },
  },
  {
    service: 'site',
    kind: 'check',
    action: 'check',
    data: z.object({ environment: Text, region: Text }),
    about: 'environment',
    refuses: ({ environment, region }, ledger) =>
      standingIn(ledger).some(
        (entry) => entry.type === 'record' && entry.environment === environment && entry.region === region,
      )
        ? undefined
        : 'nothing answers',
  },
];
export const PLACE = { deeds: DEEDS, port: 4542 } as const;

await serveIfMain(import.meta.url, PLACE);
