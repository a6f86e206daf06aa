/**
 * Workflows in which failure is part of the plan: what may fail, what replaces it, who gets a mail.
 *
 * Owns: the workflows of `npm run chaos -- --workflows failure`. Does not own: what goes wrong (`plan.ts`),
 * what must be true afterwards (`audit.ts`).
 *
 * The example's agents do all the work, because the behaviour of their services matters: payment and carrier
 * act on every request; warehouse and mail answer a known key from memory, and refuse other parameters under
 * it. The outside world identifies work by `orderId`.
 */

import { concat, failed, orElse, required, retry, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';
import {
  chargeCard,
  notifyCustomer,
  reserveStock,
  scheduleShipping,
} from '../../../examples/order-fulfilment/workflow.ts';

const Name = z.string().check(z.minLength(1));
const Subject = z.object({ subject: Name });

/** More tries than kills and troubles can use up, so that an unplanned end is a finding. */
const FIRST = { delay: '500ms', maxDelay: '2s' } as const;
const PATIENCE = { recovery: [retry(12, FIRST)], retryUndo: retry(20, FIRST) } as const;
/** The recovery of a step that cannot be undone. */
const INSISTENT = { recovery: [retry(12, FIRST)] } as const;

const ITEMS = [{ sku: 'unit', quantity: 1 }];
const EMAIL = 'service@customers.example';

/** A mail that is declined refunds nothing; an order that fails is reported, once. */
export const order = workflow('order', { input: Subject, within: '30m' }, (w) => {
  const orderId = w.input.subject;
  const pay = w.step('pay', chargeCard, { orderId, amount: 1_000 }, PATIENCE);
  const ship = w.step(
    'ship',
    scheduleShipping,
    { orderId, reservationId: pay.output.chargeId, address: 'here' },
    PATIENCE,
  );
  w.step(
    'mail',
    notifyCustomer,
    { orderId, email: EMAIL, trackingNumber: ship.output.trackingNumber },
    {
      ...INSISTENT,
      mayFail: true,
    },
  );
  w.onFailure('tell', notifyCustomer, { orderId, email: EMAIL, reason: w.failure.message }, INSISTENT);
  return { shipment: ship.output.shipmentId };
});

/** A taxi instead of the car, once it is certain that there is no car. */
export const holiday = workflow('holiday', { input: Subject, within: '30m' }, (w) => {
  const { subject } = w.input;
  const of = (what: string) => concat(subject, '/', what);
  const pay = w.step('pay', chargeCard, { orderId: of('pay'), amount: 2_000 }, PATIENCE);
  const flight = w.step(
    'flight',
    scheduleShipping,
    { orderId: of('flight'), reservationId: 'seat', address: 'there' },
    PATIENCE,
  );
  const car = w.step(
    'car',
    reserveStock,
    { orderId: of('car'), items: ITEMS },
    {
      ...PATIENCE,
      after: [flight],
      mayFail: true,
    },
  );
  const taxi = w.step(
    'taxi',
    scheduleShipping,
    { orderId: of('taxi'), reservationId: required(car.failure.code), address: 'there' },
    {
      ...PATIENCE,
      after: [pay],
      when: failed(car),
    },
  );
  w.onFailure(
    'tell',
    notifyCustomer,
    { orderId: subject, email: EMAIL, reason: w.failure.message },
    INSISTENT,
  );
  return { ride: orElse(car.output.reservationId, orElse(taxi.output.shipmentId, 'none')) };
});

const Site = z.object({ subject: Name, region: Name });

/** A group of steps with one outcome, in one region. */
export const site = workflow('site', { input: Site, within: '30m' }, (w) => {
  const { subject, region } = w.input;
  const place = concat(subject, '/', region);
  const network = w.step('network', reserveStock, { orderId: place, items: ITEMS }, PATIENCE);
  const cluster = w.step(
    'cluster',
    scheduleShipping,
    { orderId: place, reservationId: network.output.reservationId, address: region },
    PATIENCE,
  );
  return { cluster: cluster.output.shipmentId };
});

/** In the north, again there unless it is declined, then in the south; never in two regions at once. */
export const launch = workflow('launch', { input: Subject, within: '1h' }, (w) => {
  const { subject } = w.input;
  const up = w.child(
    'up',
    site,
    { subject, region: 'north' },
    {
      recovery: [retry(1, FIRST), withInput({ subject, region: 'south' })],
    },
  );
  w.step(
    'announce',
    notifyCustomer,
    { orderId: subject, email: EMAIL, trackingNumber: up.output.cluster },
    INSISTENT,
  );
  w.onFailure(
    'tell',
    notifyCustomer,
    { orderId: subject, email: EMAIL, reason: w.failure.message },
    INSISTENT,
  );
  return { cluster: up.output.cluster };
});

/** A host that fails its check is given back, and the others stay. The check is one that costs money. */
export const deployHost = workflow('deploy-host', { input: z.object({ host: Name }), within: '1h' }, (w) => {
  const orderId = w.input.host;
  const drain = w.step('drain', reserveStock, { orderId, items: ITEMS }, PATIENCE);
  const deploy = w.step(
    'deploy',
    scheduleShipping,
    { orderId, reservationId: drain.output.reservationId, address: 'rack' },
    PATIENCE,
  );
  w.step('check', chargeCard, { orderId, amount: 1 }, { ...PATIENCE, after: [deploy] });
});

export const rollout = workflow(
  'rollout',
  { input: z.object({ subject: Name, hosts: z.array(Name) }), within: '2h' },
  (w) => {
    const hosts = w.map('hosts', deployHost, w.input.hosts, (host) => ({ host }), {
      mayFail: '5%',
      concurrency: 40,
    });
    w.onFailure(
      'tell',
      notifyCustomer,
      { orderId: w.input.subject, email: EMAIL, reason: w.failure.message },
      INSISTENT,
    );
    return { hosts: hosts.output.total, failed: hosts.output.failed };
  },
);
