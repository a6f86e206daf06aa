/**
 * Overview: is it healthy, what is at risk, which questions wait for people, what failed by which cause,
 * which agent is in trouble, is the supervisor alive.
 *
 * Owns: what is read, and the order in which it is read: what burns comes first. Does not own: the counts
 * (`counts.tsx`), what waits and what failed (`latest.tsx`), workflows and agents (`workflow-table.tsx`,
 * `agent-table.tsx`).
 */

import type { JSX } from 'preact';
import type { IncidentPage, ListPage } from '../../lib/api/answers.ts';
import type { Agents, Overview } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';
import { serverTime } from '../clock.ts';
import { askedFor } from '../executions/filters.ts';
import { useLive } from '../live.ts';
import { Shown } from '../parts/states.tsx';
import { AgentsInTrouble, AgentTable } from './agent-table.tsx';
import { Charts, useCharts } from './charts.tsx';
import { BAD, Healthy, OpenByStatus, Supervisors, Tiles } from './counts.tsx';
import { Failed, Waiting } from './latest.tsx';
import { WorkflowTable } from './workflow-table.tsx';

/** How many open questions are read, those with the earliest deadlines. */
const PAGE = 100;
/** How many of the latest failures are read; those of one cause become one line. */
const LATEST = 40;

/** The times differ in each answer although nothing else has changed. */
const withoutTimes = (overview: Overview): Overview => ({
  ...overview,
  at: 0,
  health: { ...overview.health, says: '' },
  endedWithoutSuccess: { ...overview.endedWithoutSuccess, since: 0 },
});

/**
 * Each part is read by itself: what is slow, or cannot be read, holds up no other. They are four calls, five
 * with charts; a browser makes six at once.
 */
export function OverviewPage(): JSX.Element {
  const counted = useLive<Overview>('overview', () => api.overview(), { meant: withoutTimes });
  const agents = useLive<Agents>('agents', () => api.agents());
  const inbox = useLive<IncidentPage>('inbox of the overview', () => api.incidents({ limit: PAGE }));
  const failed = useLive<ListPage>('latest failed', () =>
    api.list({ ...askedFor(BAD, serverTime.now()), limit: LATEST }),
  );
  const charts = useCharts();
  const findings = counted.data?.health.findings ?? [];
  return (
    <article class="overview">
      <h1>Overview</h1>
      <Shown live={counted} what="the counts">
        {(overview) => (
          <>
            <Healthy overview={overview} />
            <Tiles overview={overview} />
            <div class="under-tiles">
              <OpenByStatus overview={overview} />
              <Supervisors overview={overview} />
            </div>
          </>
        )}
      </Shown>
      {agents.data === undefined ? null : (
        <AgentsInTrouble agents={agents.data} findings={findings} charts={charts} done={agents.again} />
      )}
      <div class="side-by-side">
        <Waiting inbox={inbox} />
        <Failed counted={counted} latest={failed} />
      </div>
      {counted.data === undefined ? null : (
        <WorkflowTable overview={counted.data} charts={charts} done={counted.again} />
      )}
      <Shown live={agents} what="the agents">
        {(data) => <AgentTable agents={data} findings={findings} charts={charts} done={agents.again} />}
      </Shown>
      <Charts live={charts} />
    </article>
  );
}
