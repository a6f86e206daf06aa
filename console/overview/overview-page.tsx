/**
 * The overview: health, risks, questions for people, failures by cause, agents in trouble, supervisors.
 *
 * Owns: the reads, and the order of the parts (the most urgent first). Does not own: the counts
 * (`counts.tsx`), questions and failures (`latest.tsx`), workflows and agents (`workflow-table.tsx`,
 * `agent-table.tsx`).
 */

import type { JSX } from 'preact';
import type { IncidentPage, ListPage } from '../../lib/api/answers.ts';
import type { Agents } from '../../lib/api/agent-answers.ts';
import type { Overview } from '../../lib/api/deployment-answers.ts';
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

/** How many open questions are read, by the earliest deadline. */
const PAGE = 100;
/** How many of the latest failures are read. */
const LATEST = 40;

/** The overview without its times, because they differ in each answer. */
const withoutTimes = (overview: Overview): Overview => ({
  ...overview,
  at: 0,
  health: { ...overview.health, says: '' },
  endedWithoutSuccess: { ...overview.endedWithoutSuccess, since: 0 },
});

/**
 * Reads each part separately, so that a slow or failing one delays no other. These are four or, with charts,
 * five calls; a browser makes six at once.
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
