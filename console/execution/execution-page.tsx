/**
 * The page of an execution: its graph, timeline and explanation, then the chosen step, the payloads and the
 * effects in place.
 *
 * Owns: what is read. Does not own: the parts, and which child executions are open in the graph
 * (`opened.ts`).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ExecutionView, Reasons } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { type Graph, graphOfExecution } from '../../lib/view/graph.ts';
import { api, settings } from '../api.ts';
import { useLive } from '../live.ts';
import { GraphPicture } from '../parts/graph.tsx';
import { type Layout, layoutOf } from '../parts/graph-layout.ts';
import { Payload } from '../parts/payload.tsx';
import { meaningOfStep } from '../parts/status.tsx';
import { useRoom } from '../parts/room.ts';
import { Problem, Shown } from '../parts/states.tsx';
import { Incidents } from '../people/incidents.tsx';
import { addressOf, place } from '../router.ts';
import { deployed } from '../workflows/deployed.ts';
import { Actions } from './actions.tsx';
import { Erased } from './erase.tsx';
import { Head, Operated, Stands } from './head.tsx';
import { Logs } from './logs.tsx';
import { insideOf, opening, openedIn, placeWith, useOpened } from './opened.ts';
import { StepPanel } from './step-panel.tsx';
import { Timeline } from './timeline.tsx';
import { Why } from './why.tsx';

interface Read {
  readonly view: ExecutionView;
  readonly reasons: Reasons;
  readonly workflows: readonly WorkflowView[];
}

async function read(id: string): Promise<Read> {
  const [view, reasons, workflows] = await Promise.all([api.get(id), api.why(id), deployed()]);
  return { view, reasons, workflows };
}

export function ExecutionPage({ id }: { id: string }): JSX.Element {
  const isErased = useSignal(false);
  return isErased.value ? <Erased id={id} /> : <Kept id={id} isErased={isErased} />;
}

function Kept({ id, isErased }: { id: string; isErased: Signal<boolean> }): JSX.Element {
  const live = useLive<Read>(`execution ${id}`, () => read(id));
  return (
    <>
      {live.data === undefined ? <h1 class="hidden">Execution {id}</h1> : null}
      <Shown live={live} what={`execution ${id}`}>
        {(data) => <Execution {...data} isErased={isErased} again={live.again} />}
      </Shown>
    </>
  );
}

interface ExecutionProps extends Read {
  readonly isErased: Signal<boolean>;
  readonly again: () => void;
}

function Execution({ view, reasons, workflows, isErased, again }: ExecutionProps): JSX.Element {
  const { executionId: id } = view;
  const { opened, error } = useOpened();
  const open = openedIn().join();
  const step = place.value.query.get('step') ?? '';
  const selected = view.steps.find(({ name }) => name === step);
  const hrefOf = (name: string): string => addressOf(['executions', id], { step: name, open });
  const [room, main] = useRoom();
  const layout = useMemo(
    () => layoutOf(graphOfExecution(view, workflows), room - 22, insideOf(view, workflows, opened)),
    [view, workflows, opened, open, room],
  );
  return (
    <article class="execution">
      <Head view={view} />
      {settings.readOnly ? null : (
        <Actions view={view} commands={reasons.commands} isErased={isErased} done={again} />
      )}
      <Incidents view={view} done={again} />
      <div class="columns">
        <div ref={main}>
          <div class={isBeside(layout, room) ? 'pictures beside' : 'pictures'}>
            <Graph {...{ view, layout, step, opened, error }} />
            <div>
              <section aria-labelledby="timeline">
                <h2 id="timeline">Timeline</h2>
                <Timeline view={view} hrefOf={hrefOf} selected={step} />
              </section>
              {selected === undefined ? null : (
                <StepPanel
                  key={selected.name}
                  step={selected}
                  view={view}
                  reasons={reasons}
                  placeOf={(one) => placeWith(id, selected, opened, one)}
                  done={again}
                />
              )}
              <Stands standing={view.standing} />
              <Payloads view={view} />
              <Operated view={view} />
            </div>
          </div>
        </div>
        <Why view={view} reasons={reasons} hrefOf={hrefOf} />
        <Logs id={id} isOver={view.endedAt !== undefined} />
      </div>
    </article>
  );
}

interface GraphProps extends Pick<Read, 'view'>, Pick<ReturnType<typeof useOpened>, 'opened' | 'error'> {
  readonly layout: ReturnType<typeof layoutOf>;
  readonly step: string;
}

function Graph({ view, layout, step, opened, error }: GraphProps): JSX.Element {
  const { executionId: id } = view;
  return (
    <section aria-labelledby="graph">
      <h2 id="graph">Graph</h2>
      <GraphPicture
        layout={layout}
        label={`Graph of ${view.workflow}`}
        selected={`${id} ${step}`}
        hrefOf={(name, graph) => linkTo(name, graph, id)}
        openOf={(one) => opening(one, id, opened)}
      />
      <Meanings steps={view.steps} />
      {error === undefined ? null : <Problem error={error} />}
    </section>
  );
}

/** Statuses that need an explanation. */
const STRANGE = ['fenced', 'tolerated', 'unknown', 'answered', 'compensation-failed'] as const;

/** Explains the less common statuses that the graph shows. */
function Meanings({ steps }: Pick<ExecutionView, 'steps'>): JSX.Element | null {
  const met = STRANGE.filter((status) => steps.some((step) => step.status === status));
  return met.length === 0 ? null : (
    <p class="legend">
      {met.map((status) => (
        <span key={status}>
          <strong>{status}</strong> {meaningOfStep(status)}
        </span>
      ))}
    </p>
  );
}

/** The smallest readable width of a timeline, and the width of the margins around the graph. */
const TIMELINE = 400;
const AROUND_GRAPH = 36;

/**
 * Whether the graph is beside the timeline: a vertical graph is, if there is room, so that both are on the
 * first screen.
 */
const isBeside = ({ isAcross, width }: Layout, room: number): boolean =>
  !isAcross && width + AROUND_GRAPH + TIMELINE <= room;

/** The address of a step. A step of a child that is open in the graph links to the child's page. */
const linkTo = (step: string, { execution }: Graph, id: string): string =>
  execution === undefined || execution.executionId === id
    ? addressOf(['executions', id], { step, open: openedIn().join() })
    : addressOf(['executions', execution.executionId], { step });

const Payloads = ({ view }: { view: ExecutionView }): JSX.Element => (
  <section aria-labelledby="payloads">
    <h2 id="payloads">Input and output</h2>
    {view.omitted === undefined ? null : (
      <p class="notice">
        Left out, because the answer would be too large: {view.omitted.join(', ')}. Open a single step to see
        more.
      </p>
    )}
    <div class="side-by-side">
      <Payload what="Input" value={view.input} />
      <Payload what="Output" value={view.output} />
    </div>
  </section>
);
