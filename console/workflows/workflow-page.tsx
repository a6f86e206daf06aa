/**
 * The page of a workflow: its graph, its last executions step by step, failure rates, the plans of open
 * executions.
 *
 * Does not own: the grid (`grid.tsx`), the start of an execution (`start-form.tsx`).
 */

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ExecutionView } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { graphOfWorkflow } from '../../lib/view/graph.ts';
import { performerOf, recoveryText } from '../../lib/view/waiting-steps.ts';
import { durationText } from '../../lib/view/text.ts';
import { api, settings } from '../api.ts';
import { useLive } from '../live.ts';
import { GraphPicture } from '../parts/graph.tsx';
import { layoutOf } from '../parts/graph-layout.ts';
import { LastPaused, PausedBy } from '../parts/hold.tsx';
import { Empty, READ_ONLY, Shown } from '../parts/states.tsx';
import { useRoom } from '../parts/room.ts';
import { addressOf, place, refine } from '../router.ts';
import { Grid } from './grid.tsx';
import { HoldStarts } from './hold-starts.tsx';
import { latestOf, plansUnderWay } from './latest.ts';
import { StartForm } from './start-form.tsx';

export function WorkflowPage({ name }: { name: string }): JSX.Element {
  const live = useLive(`workflow ${name}`, () => api.workflow(name));
  return (
    <article class="workflow">
      <h1>
        <span class="path">
          <a href={addressOf(['workflows'])}>Workflows</a> /
        </span>{' '}
        {name}
      </h1>
      <Shown live={live} what={`workflow ${name}`}>
        {(workflow) => <Workflow workflow={workflow} again={live.again} />}
      </Shown>
    </article>
  );
}

function Workflow({ workflow, again }: { workflow: WorkflowView; again: () => void }): JSX.Element {
  const { query } = place.value;
  const [room, picture] = useRoom();
  const layout = useMemo(() => layoutOf(graphOfWorkflow(workflow), room - 22), [workflow, room]);
  const name = workflow.workflow;
  const latest = useLive(`latest ${name}`, () => latestOf(name));
  const step = query.get('step');
  return (
    <>
      <p class="faint">
        {workflow.steps.length} steps · within {durationText(workflow.withinMs)} · plan{' '}
        <code title={workflow.plan}>{workflow.plan.slice(0, 8)}</code>
      </p>
      {workflow.pause === undefined ? (
        <LastPaused lastPause={workflow.lastPause} />
      ) : (
        <p class="notice warn" role="status">
          <PausedBy pause={workflow.pause} />{' '}
          <a href={addressOf(['executions'], { workflow: name, status: 'paused' })}>what is paused</a>
        </p>
      )}
      {settings.readOnly ? null : query.get('start') === undefined ? (
        <div class="buttons">
          <button type="button" class="primary" onClick={() => refine({ start: '1' })}>
            Start one …
          </button>
          <HoldStarts workflow={workflow} done={again} />
        </div>
      ) : (
        <StartForm
          workflow={name}
          forms={workflow.forms}
          latestInput={latest.data?.[0]?.input}
          close={() => refine({ start: undefined })}
        />
      )}
      <section aria-labelledby="graph">
        <h2 id="graph">Graph</h2>
        <div ref={picture}>
          <GraphPicture
            layout={layout}
            label={`Graph of ${name}`}
            selected={` ${step ?? ''}`}
            hrefOf={(one) => addressOf(['workflows', name], { step: one })}
          />
        </div>
        <StepOfPlan workflow={workflow} name={step} />
      </section>
      <Shown live={latest} what="its last executions">
        {(views) => <Latest workflow={workflow} views={views} />}
      </Shown>
      <Plans workflow={workflow} />
    </>
  );
}

function StepOfPlan({
  workflow,
  name,
}: {
  workflow: WorkflowView;
  name: string | undefined;
}): JSX.Element | null {
  const step = workflow.steps.find((one) => one.name === name);
  if (step === undefined) return null;
  const { after, effect, undo, pointOfNoReturn, onFailure } = step;
  const facts = [
    ['does', performerOf(step)],
    ['comes after', after.join(', ') || 'the start'],
    ['effect', effect],
    ['undo', undo],
    ['after a failure', recoveryText(step)],
    ['mark', pointOfNoReturn === true ? 'point of no return' : onFailure === true ? 'on failure' : undefined],
  ] as const;
  return (
    <dl class="facts across">
      <div>
        <dt>step</dt>
        <dd>
          <strong>{step.name}</strong>
        </dd>
      </div>
      {facts.map(([key, value]) =>
        value === undefined ? null : (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function Latest({
  workflow,
  views,
}: {
  workflow: WorkflowView;
  views: readonly ExecutionView[];
}): JSX.Element {
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">The last {views.length === 0 ? '' : `${views.length} `}executions, step by step</h2>
      {views.length === 0 ? (
        <Empty title="No execution has been started yet">
          {settings.readOnly ? READ_ONLY : 'Start one with the button above, or with a trigger.'}
        </Empty>
      ) : (
        <Grid steps={workflow.steps} views={views} />
      )}
    </section>
  );
}

function Plans({ workflow: { workflow, plan: newest } }: { workflow: WorkflowView }): JSX.Element {
  const live = useLive(`plans ${workflow}`, () => plansUnderWay(workflow));
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">Plans of open executions</h2>
      <Shown live={live} what="the plans of open executions">
        {(plans) =>
          plans.length === 0 ? (
            <p class="faint">No execution is open.</p>
          ) : (
            <dl class="facts across">
              {plans.map(([plan, count]) => (
                <div key={plan}>
                  <dt>{plan === newest ? 'the deployed one' : 'an older one'}</dt>
                  <dd>
                    <a href={addressOf(['executions'], { plan, status: 'open' })} title={plan}>
                      <code>{plan.slice(0, 8)}</code>
                    </a>
                    : {count} of the first 100 open ones
                  </dd>
                </div>
              ))}
            </dl>
          )
        }
      </Shown>
    </section>
  );
}
