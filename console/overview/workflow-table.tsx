/**
 * The table of workflows with their numbers of executions: open, with a question, paused, at risk, ended
 * without success. Each number links to its list.
 */

import type { JSX } from 'preact';
import { countText } from '../../lib/api/answers.ts';
import type { Overview, WorkflowCounts } from '../../lib/api/deployment-answers.ts';
import { boundsOf, latelyText } from '../../lib/view/deployment.ts';
import type { ShownCharts } from '../../lib/view/shown-charts.ts';
import type { Filters } from '../executions/filters.ts';
import type { Live } from '../live.ts';
import { PausedBy } from '../parts/hold.tsx';
import { type Columns, SortHead, Total, useSorting } from '../parts/sorted.tsx';
import { addressOf } from '../router.ts';
import { HoldStarts } from '../workflows/hold-starts.tsx';
import { Measured } from './measured.tsx';

type Plan = Pick<WorkflowCounts['plans'][number], 'plan' | 'open'>;

interface TableProps {
  readonly charts: Live<ShownCharts>;
  readonly done: () => void;
}

const COLUMNS: Columns<WorkflowCounts> = {
  Workflow: ({ workflow }) => workflow,
  Open: ({ open }) => open,
  'At risk': ({ atRisk }) => atRisk,
  Waiting: ({ waiting }) => waiting,
  Paused: ({ paused }) => paused,
  'Ended without success, 24 h': ({ endedWithoutSuccess }) => endedWithoutSuccess,
};

export function WorkflowTable({ overview, ...table }: TableProps & { overview: Overview }): JSX.Element {
  const sorting = useSorting(COLUMNS);
  return (
    <section aria-labelledby="of-workflows">
      <h2 id="of-workflows">
        Workflows <Total of={overview.workflows.length} />
      </h2>
      {overview.workflows.length === 0 ? (
        <p class="faint">None is deployed: a workflow is a folder with a workflow.ts.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Workflows">
          <table>
            <thead>
              <tr>
                {Object.keys(COLUMNS).map((name) => (
                  <SortHead key={name} name={name} sorting={sorting} isNumber={name !== 'Workflow'} />
                ))}
                <th scope="col" title="Of those started in the last hour">
                  Last hour
                </th>
                <th scope="col">Took, p50</th>
                <th scope="col">p99</th>
                <th scope="col">Old plans</th>
                <th scope="col">Starts</th>
              </tr>
            </thead>
            <tbody>
              {sorting.of(overview.workflows).map((one) => (
                <WorkflowRow key={one.workflow} counts={one} bounds={boundsOf(overview)} {...table} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface RowProps extends TableProps {
  readonly counts: WorkflowCounts;
  readonly bounds: ReturnType<typeof boundsOf>;
}

function WorkflowRow({ counts, bounds, charts, done }: RowProps): JSX.Element {
  const { workflow, isGone, isChild, plans, pause, lately } = counts;
  const cell = (of: keyof typeof bounds, name: string, filters: Filters): JSX.Element => (
    <td>
      <CountLink
        count={counts[of]}
        atLeast={bounds[of]}
        name={`${name}, ${workflow}`}
        filters={{ workflow, ...filters }}
      />
    </td>
  );
  return (
    <tr>
      <th scope="row">
        <a href={addressOf(['workflows', workflow])}>{workflow}</a>
      </th>
      {cell('open', 'open', { status: 'open' })}
      {cell('atRisk', 'at risk', { atRisk: 'true' })}
      {cell('waiting', 'waiting', { status: 'waiting' })}
      {cell('paused', 'paused', { status: 'paused' })}
      {cell('endedWithoutSuccess', 'ended without success', { status: 'bad', since: '24h' })}
      <td>{lately === undefined ? '' : latelyText(lately)}</td>
      {['Duration p50, ms', 'Duration p99, ms'].map((title) => (
        <td key={title}>
          <Measured charts={charts} by="workflow" title={title} name={workflow} />
        </td>
      ))}
      <td>
        {plans
          .filter(({ isCurrent }) => !isCurrent)
          .map((plan) => (
            <OldPlan key={plan.plan} {...plan} atLeast={bounds.open} />
          ))}
      </td>
      <td class="wrap">
        <PausedBy pause={pause} />{' '}
        {isGone === true || isChild === true ? null : <HoldStarts workflow={counts} done={done} />}
      </td>
    </tr>
  );
}

/** A number with a link to the counted executions; 0 has no link. */
const CountLink = ({
  count,
  atLeast,
  name,
  filters,
}: {
  count: number;
  atLeast: true | undefined;
  name: string;
  filters: Filters;
}): JSX.Element =>
  count === 0 ? (
    <span class="faint">{countText(count, atLeast)}</span>
  ) : (
    <a href={addressOf(['executions'], { ...filters })} aria-label={`${countText(count, atLeast)} ${name}`}>
      {countText(count, atLeast)}
    </a>
  );

const OldPlan = ({ plan, open, atLeast }: Plan & { atLeast: true | undefined }): JSX.Element => (
  <a class="in-row" href={addressOf(['executions'], { plan, status: 'open' })} title={plan}>
    <code>{plan.slice(0, 8)}</code>: {countText(open, atLeast)}
  </a>
);
