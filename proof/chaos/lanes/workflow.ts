/**
 * A workflow with a lane, rounds, large values, accepted work and a fair share, all at once.
 *
 * Owns: the workflow of `npm run chaos -- --workflows lanes`. Does not own: what goes wrong (`plan.ts`), what
 * must be true afterwards (`observed.ts`).
 */

import { concat, eq, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { chargeCard, notifyCustomer, reserveStock, scheduleShipping } from './contracts.ts';

export { chargeCard, notifyCustomer, reserveStock, scheduleShipping };

/** More tries than kills and troubles can use up, so that an unplanned end is a finding. */
const FIRST = { delay: '500ms', maxDelay: '2s' } as const;
const PATIENCE = { recovery: [retry(12, FIRST)], retryUndo: retry(20, FIRST) } as const;

export const AT_MOST = 2;

const Input = z.object({ subject: z.string(), account: z.string(), tenant: z.string(), pages: z.number() });

/** Passes values of 60 KB from step to step. */
export const laned = workflow(
  'laned',
  {
    input: Input,
    within: '30m',
    fairBy: ({ tenant }) => tenant,
    concurrency: { key: ({ account }) => account, limit: AT_MOST, waitWithin: '25m' },
  },
  (w) => {
    const { subject, pages } = w.input;
    const pay = w.step('pay', chargeCard, { orderId: concat(subject, '/pay') }, PATIENCE);
    const rounds = w.repeat(
      'pages',
      reserveStock,
      { orderId: concat(subject, '/page'), page: 1, of: pages, text: pay.output.text },
      {
        until: (last) => eq(last.hasMore, false),
        next: (last, given) => ({ orderId: given.orderId, page: last.page, of: given.of, text: last.text }),
        maxRounds: 10,
        recovery: [retry(6, FIRST)],
      },
    );
    const job = w.step(
      'job',
      scheduleShipping,
      { orderId: concat(subject, '/job'), text: rounds.output.last.text },
      PATIENCE,
    );
    const last = w.step(
      'last',
      notifyCustomer,
      { orderId: concat(subject, '/last'), text: job.output.text },
      PATIENCE,
    );
    return { last: last.output.id };
  },
);
