/** Reads metrics of the local cloud by the same calls as on AWS. */

import { Calls } from '../aws/calls.ts';
import type { GetMetricData } from '../console/charts.ts';
import { CLOCK } from '../io.ts';

/**
 * @param port of the API. The cloud behind it names its address for AWS's calls, which may change at each
 * start
 */
export const localMetrics =
  (port: number): GetMetricData =>
  async (asked) => {
    const facts = await fetch(`http://127.0.0.1:${port}/_local/`);
    const { gatewayUrl: endpoint } = (await facts.json()) as { readonly gatewayUrl: string };
    const credentials = { accessKeyId: 'console', secretAccessKey: 'local' };
    const calls = new Calls({ region: 'us-east-1', endpoint, credentials, clock: CLOCK });
    return await calls.json('monitoring', 'GetMetricData', asked);
  };
