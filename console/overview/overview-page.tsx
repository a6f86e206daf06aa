/**
 * Overview: is it healthy, what is at risk, who is waited for, what failed by which cause, which agent is in trouble, is the
 * supervisor alive.
 *
 * Owns: what is read, and the order in which it is read. Does not own: the counts (`counts.tsx`), workflows and agents
 * (`workflow-table.tsx`, `agent-table.tsx`, `outages.tsx`).
 */

import type { JSX } from 'preact';
import { aboutText, type IncidentPage, type ListPage } from '../../lib/api/answers.ts';
import type { Agents, Overview } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';
import { executionLink } from '../execution/head.tsx';
import { askedFor } from '../executions/filters.ts';
import { type Live, useLive } from '../live.ts';
import { Shown } from '../parts/states.tsx';
import { ExecutionStatusOf } from '../parts/status.tsx';
import { Ago, Until } from '../parts/time.tsx';
import { place } from '../router.ts';
import { AgentTable } from './agent-table.tsx';
import { Charts, useCharts } from './charts.tsx';
import { BAD, ByCause, Healthy, OpenByStatus, Supervisors, Tiles } from './counts.tsx';
import { OutagesOf } from './outages.tsx';
import { WorkflowTable } from './workflow-table.tsx';

/** Of what waits, the first deadlines are looked for among so many. */
const PAGE = 100;
const FEW = 6;

/** When it was counted is another time in each answer. */
const withoutTimes = (overview: Overview): Overview => ({
  ...overview,
  at: 0,
  health: { ...overview.health, says: '' },
  endedWithoutSuccess: { ...overview.endedWithoutSuccess, since: 0 },
});

/**
 * Each part is read by itself: what is slow, or cannot be read, holds up no other. They are four calls, five with charts; a browser
 * makes six at once.
 */
export function OverviewPage(): JSX.Element {
  const counted = useLive<Overview>('overview', () => api.overview(), { meant: withoutTimes });
  const agents = useLive<Agents>('agents', () => api.agents());
  const inbox = useLive<IncidentPage>('inbox of the overview', () => api.incidents({ limit: PAGE }));
  const failed = useLive<ListPage>('latest failed', () =>
    api.list({ ...askedFor(BAD, Date.now()), limit: FEW }),
  );
  const charts = useCharts();
  const agent = place.value.query.get('agent');
  return (
    <article class="overview">
      <h1>Overview</h1>
      <Shown live={counted} what="the counts">
        {(overview) => (
          <>
            <Healthy overview={overview} />
            <Tiles overview={overview} />
            <OpenByStatus overview={overview} />
          </>
        )}
      </Shown>
      <div class="side-by-side">
        <Waiting inbox={inbox} />
        <Failed counted={counted} latest={failed} />
      </div>
      {counted.data === undefined ? null : (
        <WorkflowTable counts={counted.data.workflows} charts={charts} done={counted.again} />
      )}
      <Shown live={agents} what="the agents">
        {(data) => <AgentTable agents={data} charts={charts} done={agents.again} />}
      </Shown>
      <Charts live={charts} />
      {agent === undefined ? null : <OutagesOf key={agent} agent={agent} />}
      {counted.data === undefined ? null : <Supervisors overview={counted.data} />}
    </article>
  );
}

function Waiting({ inbox }: { inbox: Live<IncidentPage> }): JSX.Element {
  const earliest = (page: IncidentPage): IncidentPage['items'] =>
    page.items.toSorted((one, other) => one.deadlineAt - other.deadlineAt).slice(0, FEW);
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for people, first deadline first</h2>
      <Shown live={inbox} what="the inbox">
        {(page) =>
          page.items.length === 0 ? (
            <p class="faint">Nobody is waited for.</p>
          ) : (
            <ul class="lines">
              {earliest(page).map((item) => (
                <li key={`${item.executionId} ${item.step ?? ''} ${item.openedAt}`}>
                  <span class="kind">{'number' in item ? 'incident' : item.kind}</span>
                  <a href={executionLink(item.executionId, item.step)}>{item.step ?? item.executionId}</a>
                  <span>{aboutText(item)}</span>
                  <span class="faint">
                    {item.otherwise} <Until at={item.deadlineAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

const Failed = ({ counted, latest }: { counted: Live<Overview>; latest: Live<ListPage> }): JSX.Element => (
  <section aria-labelledby="failed">
    <h2 id="failed">Ended without success, last 24 hours, by cause</h2>
    {counted.data === undefined ? null : <ByCause byCode={counted.data.endedWithoutSuccess.byCode} />}
    <Shown live={latest} what="what failed">
      {(page) => (page.items.length === 0 ? <p class="faint">None.</p> : <FailedList items={page.items} />)}
    </Shown>
  </section>
);

const FailedList = ({ items }: { items: ListPage['items'] }): JSX.Element => (
  <ul class="lines">
    {items.map(({ executionId, status, workflow, cause, endedAt, startedAt }) => (
      <li key={executionId}>
        <ExecutionStatusOf status={status} />
        <a href={executionLink(executionId, cause?.step)}>{workflow}</a>
        <span class="faint">
          {cause?.failure.code} <Ago at={endedAt ?? startedAt} />
        </span>
      </li>
    ))}
  </ul>
);
