/**
 * Cloud provisioning: an environment of 18 steps in one region, or in another region if the first has no room
 * for it.
 *
 * Owns: the two workflows. Does not own: the agents' contracts (`contracts.ts`), how an agent does its
 * work (`agents/`), the cloud (`world.ts`).
 */

import { concat, eq, type Input, retry, type StepHandle, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { checkSite, claimName, createNetworkPart, createResource, Text } from './contracts.ts';

/**
 * Retries for a service that throttles or is unavailable. An exceeded quota is a permanent failure and is not
 * retried.
 */
const PATIENT = {
  recovery: [retry(6, { delay: '300ms', maxDelay: '5s' })],
  retryUndo: retry(12, { delay: '300ms', maxDelay: '5s' }),
} as const;
const ASKING = { recovery: PATIENT.recovery } as const;

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
  /** The preferred region, and the other regions that are allowed. */
  region: Text,
  otherwise: Text,
  machines: Machines,
  replica: z.boolean(),
});
export type Order = z.infer<typeof Order>;

const options = { input: Order, within: '6h', tags: ['environment'] } as const;
export const cloudProvisioning = workflow('cloud-provisioning', options, (w) => {
  const { environment, region, otherwise, machines, replica } = w.input;
  const site = w.child(
    'site',
    buildRegion,
    { environment, region, machines, replica },
    {
      // Tries the preferred region again, unless a quota refused it for good; then other regions.
      recovery: [
        retry(1, { delay: '500ms' }),
        withInput({ environment, region: otherwise, machines, replica }),
      ],
    },
  );
  return { region: site.output.region, record: site.output.record };
});
