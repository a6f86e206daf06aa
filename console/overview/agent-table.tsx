/**
 * The agents with their queue, their breaker, their latest failure and their outages. Those that hold
 * something up are a table of their own, which the overview has on top.
 */

import type { JSX } from 'preact';
import type { Agents, AgentView, BreakerView } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';
import { latestFailure, lostText } from '../../lib/view/deployment.ts';
import type { ShownCharts } from '../../lib/view/shown-charts.ts';
import type { Live } from '../live.ts';
import { Waiting } from './counts.tsx';
import { Measured } from './measured.tsx';
import { HoldButton, PausedBy } from '../parts/hold.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, Until } from '../parts/time.tsx';
import { addressOf } from '../router.ts';

const TONE = { closed: 'done', open: 'failed', 'half-open': 'waiting', paused: 'waiting' } as const;

interface TableProps {
  readonly charts: Live<ShownCharts>;
  readonly done: () => void;
}

type AgentsProps = TableProps & { readonly agents: Agents };

/** Its breaker lets nothing through, or only a trial, or somebody has paused it, or its code has a bug. */
const holdsUp = ({ breaker: { status, pause }, bugs }: AgentView): boolean =>
  status !== 'closed' || pause !== undefined || bugs !== undefined;

/** Nothing where no agent is missing or holds anything up. */
export function AgentsInTrouble({ agents, ...table }: AgentsProps): JSX.Element | null {
  const items = agents.items.filter(holdsUp);
  if (items.length === 0 && agents.missing.length === 0) return null;
  return (
    <section aria-labelledby="in-trouble">
      <h2 id="in-trouble">Agents that hold up executions</h2>
      {agents.missing.map((missing) => (
        <Missing key={missing.name} missing={missing} />
      ))}
      {items.length === 0 ? null : <Table name="Agents that hold up executions" items={items} {...table} />}
    </section>
  );
}

/** All others. */
export function AgentTable({ agents, ...table }: AgentsProps): JSX.Element {
  const items = agents.items.filter((agent) => !holdsUp(agent));
  const isAll = items.length === agents.items.length;
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">{isAll ? 'Agents' : 'Other agents'}</h2>
      {items.length === 0 ? (
        <p class="faint">None.</p>
      ) : (
        <Table name={isAll ? 'Agents' : 'Other agents'} items={items} {...table} />
      )}
    </section>
  );
}

const Table = ({
  name,
  items,
  ...table
}: TableProps & { name: string; items: readonly AgentView[] }): JSX.Element => (
  <div class="scroll" tabIndex={0} role="group" aria-label={name}>
    <table>
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col">Breaker</th>
          <th scope="col" title="Messages in its queue that nobody has received">
            Queued
          </th>
          <th scope="col">In progress</th>
          <th scope="col">Delayed</th>
          <th scope="col" title="From due to claimed, 99th percentile">
            Claimed, p99
          </th>
          <th scope="col">Latest failure</th>
          <th scope="col">Workflows</th>
          <th scope="col">Calls</th>
        </tr>
      </thead>
      <tbody>
        {items.map((agent) => (
          <AgentRow key={agent.name} agent={agent} {...table} />
        ))}
      </tbody>
    </table>
  </div>
);

/** What is 0 is left out: one of them is not. */
const Missing = ({
  missing: { name, waiting, since, planned },
}: {
  missing: Agents['missing'][number];
}): JSX.Element => (
  <p class="notice bad" role="alert">
    <strong>{name}</strong> is not deployed:{' '}
    {waiting === 0 ? null : <Waiting waiting={waiting} since={since} />}
    {waiting === 0 || planned === 0 ? '' : '; '}
    {planned === 0 ? '' : `${planned} open ${planned === 1 ? 'execution' : 'executions'} may need it`}.
  </p>
);

const AgentRow = ({
  agent: { name, effect, queue, breaker, lastError, bugs, lost, workflows },
  charts,
  done,
}: TableProps & { agent: AgentView }): JSX.Element => (
  <tr>
    <th scope="row">
      {name} <span class="faint">{effect}</span>{' '}
      <a class="outages" href={addressOf(['overview'], { agent: name })} aria-label={`Outages of ${name}`}>
        outages
      </a>
    </th>
    <td class="breaker">
      <Breaker breaker={breaker} />
    </td>
    <td>
      <InQueue agent={name} waiting={queue?.waiting} workflows={workflows} />
    </td>
    <td>{queue?.underWork ?? '–'}</td>
    <td>{queue?.delayed ?? '–'}</td>
    <td>
      <Measured charts={charts} by="agent" title="From due to claimed, p99 ms" name={name} />
    </td>
    <td class="wrap">
      <LatestFailure lastError={latestFailure({ lastError, bugs })} />
      {lost === undefined ? null : <Lost lost={lost} />}
    </td>
    <td>
      {workflows.map((workflow) => (
        <a key={workflow} class="in-row" href={addressOf(['workflows', workflow])}>
          {workflow}
        </a>
      ))}
    </td>
    <td>
      <HoldButton
        what={`the calls of ${name}`}
        pause={breaker.pause}
        means={{
          pause: 'Nothing new is sent to this agent, so its steps wait. Attempts under way run to their end.',
          resume: 'The steps that wait for this agent are sent again.',
        }}
        hold={({ reason }) => api.pauseAgent(name, reason === undefined ? {} : { reason })}
        release={() => api.resumeAgent(name)}
        done={done}
      />
    </td>
  </tr>
);

const LatestFailure = ({ lastError }: { lastError: AgentView['lastError'] | undefined }): JSX.Element =>
  lastError === undefined ? (
    <span class="faint">none</span>
  ) : (
    <>
      <a
        href={addressOf(['executions'], { code: lastError.code })}
        aria-label={`Executions that ended with ${lastError.code}`}
      >
        <code>{lastError.code}</code>
      </a>{' '}
      {lastError.message}{' '}
      <span class="faint">
        <Ago at={lastError.at} />
      </span>
    </>
  );

/** Its processes died or went silent. */
const Lost = ({ lost }: { lost: NonNullable<AgentView['lost']> }): JSX.Element => (
  <p>
    {lostText(lost)}, the latest <Ago at={lost.at} />
  </p>
);

/** Messages, and no executions: those that are open are where they come from, if all are of one workflow. */
function InQueue({
  agent,
  waiting,
  workflows: [workflow, ...others],
}: {
  agent: string;
  waiting: number | undefined;
  workflows: readonly string[];
}): JSX.Element {
  if (waiting === undefined) return <>–</>;
  if (waiting === 0 || workflow === undefined || others.length > 0) return <>{waiting}</>;
  return (
    <a
      href={addressOf(['executions'], { workflow, status: 'open' })}
      aria-label={`${waiting} wait for ${agent}: see the open executions of ${workflow}`}
    >
      {waiting}
    </a>
  );
}

const Breaker = ({ breaker: { status, since, until, pause } }: { breaker: BreakerView }): JSX.Element =>
  pause === undefined ? (
    <>
      <Status tone={TONE[status]}>{status}</Status>
      {status === 'closed' || since === undefined ? null : (
        <span class="faint">
          {' '}
          since <Ago at={since} />
        </span>
      )}
      {status === 'closed' || until === undefined ? null : (
        <span class="faint">
          , next trial <Until at={until} />
        </span>
      )}
    </>
  ) : (
    <PausedBy pause={pause} />
  );
