/**
 * What a million executions of a workflow cost on AWS: the estimate of
 * `npx steadfast cost`, made in the page.
 */

import type { JSX } from 'preact';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { COST_DEFAULTS, estimateCost } from '../../lib/view/estimate.ts';
import { AWS_PRICES } from '../../lib/view/prices.ts';
import { useLive } from '../live.ts';
import { deployed } from './deployed.ts';

const dollars = (usd: number): string =>
  `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

export function Cost({ workflow }: { workflow: WorkflowView }): JSX.Element {
  const { data: others = [] } = useLive('workflows', deployed);
  const { executions, payloadBytes } = COST_DEFAULTS;
  const found = estimateCost(workflow, COST_DEFAULTS, AWS_PRICES, (name) =>
    others.find((one) => one.workflow === name),
  );
  const { steadfastUsd, totalUsd, tolerance, prices, agentSteps, leftOut } = found;
  return (
    <section aria-labelledby="cost">
      <h2 id="cost">Estimated cost of a million executions</h2>
      <p>
        <strong>{dollars(totalUsd)}</strong> for {executions.toLocaleString('en')} executions of {agentSteps}{' '}
        steps by agents: Steadfast {dollars(steadfastUsd)}, ± {tolerance * 100} %, and the agents’ own time,
        the API and log lines.
      </p>
      <details>
        <summary class="faint">
          Payloads of {payloadBytes} bytes; prices of {prices.region}, {prices.asOf}; what is left out
        </summary>
        <ul>
          {leftOut.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
        <p class="faint">
          With other sizes: <code>npx steadfast cost {workflow.workflow} --payload 4096 --items 100</code>
        </p>
      </details>
    </section>
  );
}
