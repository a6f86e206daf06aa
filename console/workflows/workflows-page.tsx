/** The list of the workflows that can be started, each with its steps in a line. */

import type { JSX } from 'preact';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { durationText } from '../../lib/view/text.ts';
import { settings } from '../api.ts';
import { useLive } from '../live.ts';
import { Empty, Shown } from '../parts/states.tsx';
import { addressOf } from '../router.ts';
import { deployed } from './deployed.ts';

export function WorkflowsPage(): JSX.Element {
  const live = useLive('workflows', deployed);
  return (
    <section aria-labelledby="workflows">
      <h1 id="workflows">Workflows</h1>
      <Shown live={live} what="the workflows">
        {(workflows) =>
          workflows.length === 0 ? (
            <Empty title="No workflow is deployed">
              A workflow is a folder with a <code>workflow.ts</code>; deploy one and it appears here.
            </Empty>
          ) : (
            <ul class="cards">
              {workflows.map((workflow) => (
                <WorkflowCard key={workflow.workflow} workflow={workflow} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

const WorkflowCard = ({
  workflow: { workflow, steps, withinMs, plan },
}: {
  workflow: WorkflowView;
}): JSX.Element => (
  <li class="card">
    <div class="card-head">
      <a href={addressOf(['workflows', workflow])}>
        <strong>{workflow}</strong>
      </a>
      {settings.readOnly ? null : <a href={addressOf(['workflows', workflow], { start: '1' })}>start one</a>}
    </div>
    <p class="faint">
      {steps.length} steps · within {durationText(withinMs)} · plan{' '}
      <code title={plan}>{plan.slice(0, 8)}</code>
    </p>
    <p class="steps">
      {steps.map(({ name, onFailure }) => (
        <span key={name} class={onFailure === true ? 'step-name on-failure' : 'step-name'}>
          {name}
        </span>
      ))}
    </p>
  </li>
);
