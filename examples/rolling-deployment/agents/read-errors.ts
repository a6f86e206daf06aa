/**
 * The check after a batch: reads the share of its requests that failed, and permanently rejects a batch above
 * the limit. It is a query, without effect. If the metrics cannot be read, the check is retried, and fails in
 * the end.
 */

import { PermanentError } from 'steadfast';
import * as z from 'zod/mini';
import { readErrors } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Errors = z.object({ errors: z.array(z.object({ host: z.string(), share: z.number() })) });

export const handler = readErrors.handler({
  execute: async (ctx, { version, hosts, limit }) => {
    const query = { reference: version };
    const { errors } = await callWorld(ctx, { method: 'GET', path: '/metrics/errors', query }, Errors);
    const shares = hosts.map((host) => errors.findLast((one) => one.host === host)?.share ?? 0);
    const share = shares.reduce((sum, each) => sum + each, 0) / hosts.length;
    if (share > limit)
      throw new PermanentError(`${percent(share)} of the requests failed, and ${percent(limit)} may`);
    return { share };
  },
});

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
