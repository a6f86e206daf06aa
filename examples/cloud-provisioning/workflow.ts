/**
 * Cloud provisioning: an environment of 18 steps in one region, and in another
 * if the first has no room for it.
 *
 * Owns: the agents' contracts and the two workflows. Does not own: how an agent does its work
 * (`agents/`), the cloud (`world.ts`).
 *
 * The limits are short so that you can see a recovery on a laptop. Real clouds take minutes:
 * raise `timeout` and `within` then.
 */

import { agent, concat, eq, type Input, retry, type StepHandle, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '4s', pickup: '5s', timeout: '6s', settle: '1s' } as const;
/** Waits for a service that throttles or is away. A quota is neither, and is not waited for. */
const PATIENT = {
  recovery: [retry(6, { first: '300ms', max: '5s' })],
  undo: retry(12, { first: '300ms', max: '5s' }),
} as const;
const ASKING = { recovery: PATIENT.recovery } as const;

const Text = z.string().check(z.minLength(1));
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
  accepts: '10m',
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

const Machines = z.int().check(z.positive());
const Site = z.object({ environment: Text, region: Text, machines: Machines, replica: z.boolean() });

type Part = StepHandle<{ id: string }>;
const idsOf = (parts: readonly Part[]) => parts.map(({ output }) => output.id);

/** One environment in one region. */
export const buildRegion = workflow('build-region', { input: Site, within: '1h' }, (w) => {
  const { environment, region, machines } = w.input;
  const here = { environment, region } as const;
  const part = (type: string, ...uses: readonly Part[]): Part =>
    w.step(type, createNetworkPart, { ...here, type, uses: idsOf(uses) }, PATIENT);
  const resource = (type: string, size: Input<number>, ...uses: readonly Part[]): Part =>
    w.step(type, createResource, { ...here, type, machines: size, uses: idsOf(uses) }, PATIENT);
  const claim = (type: string, ...uses: readonly Part[]): Part =>
    w.step(
      type,
      claimName,
      { ...here, type, name: concat(environment, '.example'), uses: idsOf(uses) },
      PATIENT,
    );

  const network = part('network');
  const subnetA = part('subnet-a', network);
  const subnetB = part('subnet-b', network);
  const gateway = part('gateway', network);
  const routes = part('routes', gateway, subnetA, subnetB);
  const firewall = part('firewall', network);
  const address = part('address');
  const bucket = resource('bucket', 0);
  const database = resource('database', 1, subnetA, firewall, bucket);
  const replica = w.step(
    'replica',
    createResource,
    { ...here, type: 'replica', machines: 1, uses: idsOf([database, subnetB]) },
    { ...PATIENT, when: eq(w.input.replica, true) },
  );
  const cache = resource('cache', 1, subnetA, firewall);
  const cluster = resource('cluster', 0, routes, firewall);
  const webPool = resource('web-pool', machines, cluster, subnetA);
  const jobPool = resource('job-pool', machines, cluster, subnetB);
  const balancer = resource('balancer', 0, address, webPool);
  const certificate = claim('certificate');
  const record = claim('record', balancer, certificate);
  w.step('check', checkSite, here, { ...ASKING, after: [record, database, replica, cache, jobPool] });
  return { region, record: record.output.id };
});

const Order = z.object({
  environment: Text,
  /** Where it is to be, and where else it may be. */
  region: Text,
  otherwise: Text,
  machines: Machines,
  replica: z.boolean(),
});
export type Order = z.infer<typeof Order>;

const options = { input: Order, within: '6h', search: ['environment'] } as const;
export const cloudProvisioning = workflow('cloud-provisioning', options, (w) => {
  const { environment, region, otherwise, machines, replica } = w.input;
  const site = w.child(
    'site',
    buildRegion,
    { environment, region, machines, replica },
    {
      // Once more where it is wanted, unless a quota refused it for good; then elsewhere.
      recovery: [
        retry(1, { first: '500ms' }),
        withInput({ environment, region: otherwise, machines, replica }),
      ],
    },
  );
  return { region: site.output.region, record: site.output.record };
});
