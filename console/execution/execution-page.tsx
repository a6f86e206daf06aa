/**
 * One execution: its graph and its timeline, beside them why; then the step that is looked at, payloads and what stands.
 *
 * Owns: what is read, and which executions below it are opened in its graph. Does not own: the parts.
 */

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ExecutionView, Reasons } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { type Graph, graphOfExecution, type GraphStep } from '../../lib/cli/graph/graph.ts';
import { api, settings } from '../api.ts';
import { useLive } from '../live.ts';
import { GraphPicture } from '../parts/graph.tsx';
import { layoutOf } from '../parts/graph-layout.ts';
import { Payload } from '../parts/payload.tsx';
import { Shown } from '../parts/states.tsx';
import { Incidents } from '../people/incidents.tsx';
import { addressOf, place } from '../router.ts';
import { deployed } from '../workflows/deployed.ts';
import { Actions } from './actions.tsx';
import { Head, Operated, Stands } from './head.tsx';
import { Logs } from './logs.tsx';
import { StepPanel } from './step-panel.tsx';
import { Timeline } from './timeline.tsx';
import { Why } from './why.tsx';

interface Read {
  readonly view: ExecutionView;
  readonly reasons: Reasons;
  readonly workflows: readonly WorkflowView[];
  /** Executions below it that are opened in the graph, by id. */
  readonly opened: Readonly<Record<string, ExecutionView>>;
}

async function read(id: string, opened: readonly string[]): Promise<Read> {
  const [view, reasons, workflows, ...below] = await Promise.all([
    api.get(id),
    api.why(id),
    deployed(),
    ...opened.map((one) => api.get(one)),
  ]);
  return { view, reasons, workflows, opened: Object.fromEntries(below.map((one) => [one.executionId, one])) };
}

export function ExecutionPage({ id }: { id: string }): JSX.Element {
  const { query } = place.value;
  const opened = (query.get('open') ?? '').split(',').filter(Boolean);
  const live = useLive<Read>(`execution ${id} ${opened.join()}`, () => read(id, opened));
  return (
    <>
      {live.data === undefined ? <h1 class="hidden">Execution {id}</h1> : null}
      <Shown live={live} what={`execution ${id}`}>
        {(data) => <Execution {...data} again={live.again} />}
      </Shown>
    </>
  );
}

const openedIn = (): readonly string[] => (place.value.query.get('open') ?? '').split(',').filter(Boolean);

function Execution({ view, reasons, workflows, opened, again }: Read & { again: () => void }): JSX.Element {
  const { executionId: id } = view;
  const step = place.value.query.get('step') ?? '';
  const selected = view.steps.find(({ name }) => name === step);
  const hrefOf = (name: string): string =>
    addressOf(['executions', id], { step: name, open: openedIn().join() });
  const layout = useMemo(
    () => layoutOf(graphOfExecution(view, workflows), insideOf(view, workflows, opened)),
    [view, workflows, opened],
  );
  return (
    <article class="execution">
      <Head view={view} />
      {settings.readOnly ? null : <Actions view={view} commands={reasons.commands} done={again} />}
      <Incidents view={view} done={again} />
      <div class="columns">
        <div>
          <section aria-labelledby="graph">
            <h2 id="graph">Graph</h2>
            <GraphPicture
              layout={layout}
              label={`Graph of ${view.workflow}`}
              selected={`${id} ${step}`}
              hrefOf={(name, graph) => linkTo(name, graph, id)}
              openOf={(one) => opening(one, id, opened)}
            />
          </section>
          <section aria-labelledby="timeline">
            <h2 id="timeline">Timeline</h2>
            <Timeline view={view} hrefOf={hrefOf} selected={step} />
          </section>
          {selected === undefined ? null : (
            <StepPanel key={selected.name} step={selected} view={view} reasons={reasons} done={again} />
          )}
          <Stands standing={view.standing} />
          <Payloads view={view} />
          <Operated view={view} />
          <Logs id={id} isOver={view.endedAt !== undefined} />
        </div>
        <Why reasons={reasons} hrefOf={hrefOf} />
      </div>
    </article>
  );
}

/** A step of an execution that is opened in the graph is shown on that one's own page. */
const linkTo = (step: string, { execution }: Graph, id: string): string =>
  execution === undefined || execution.executionId === id
    ? addressOf(['executions', id], { step, open: openedIn().join() })
    : addressOf(['executions', execution.executionId], { step });

type Opened = Readonly<Record<string, ExecutionView>>;

function insideOf(
  view: ExecutionView,
  workflows: readonly WorkflowView[],
  opened: Opened,
): ReadonlyMap<string, Graph> {
  return new Map(
    view.steps.flatMap(({ name, children }) => {
      const inner = children?.executionIds.map((one) => opened[one]).find((one) => one !== undefined);
      return inner === undefined ? [] : [[name, graphOfExecution(inner, workflows)]];
    }),
  );
}

/** The first of its executions, where there are several; the step's own part of the page has all of them. */
function opening(
  { state }: GraphStep,
  id: string,
  opened: Opened,
): { href: string; isOpen: boolean } | undefined {
  const ids = state?.children?.executionIds ?? [];
  const isOpen = ids.find((one) => opened[one] !== undefined);
  const first = isOpen ?? ids[0];
  if (first === undefined || state?.children?.started === 0) return undefined;
  const others = openedIn().filter((one) => one !== first);
  const open = (isOpen === undefined ? [...others, first] : others).join();
  const step = place.value.query.get('step');
  return { href: addressOf(['executions', id], { step, open }), isOpen: isOpen !== undefined };
}

const Payloads = ({ view }: { view: ExecutionView }): JSX.Element => (
  <section aria-labelledby="payloads">
    <h2 id="payloads">Input and output</h2>
    {view.omitted === undefined ? null : (
      <p class="notice">
        Left out, for the answer would be too large: {view.omitted.join(', ')}. A step alone has more.
      </p>
    )}
    <div class="side-by-side">
      <Payload what="Input" value={view.input} />
      <Payload what="Output" value={view.output} />
    </div>
  </section>
);
