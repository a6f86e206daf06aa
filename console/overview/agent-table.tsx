/**
 * The tables of agents with queue, breaker and latest failure. Agents in trouble have a separate table at the
 * top of the overview.
 */

import type { JSX } from 'preact';
import type { Agents, AgentView, BreakerView } from '../../lib/api/agent-answers.ts';
import { countText, type Finding } from '../../lib/api/answers.ts';
import { api } from '../api.ts';
import { now } from '../clock.ts';
import { latestFailure, lostText } from '../../lib/view/deployment.ts';
import type { ShownCharts } from '../../lib/view/shown-charts.ts';
import type { Live } from '../live.ts';
import { Waiting } from './counts.tsx';
import { Measured } from './measured.tsx';
import { TryNow } from './try-now.tsx';
import { HoldButton, PausedBy } from '../parts/hold.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, Until } from '../parts/time.tsx';
import { type Columns, SortHead, Total, useSorting } from '../parts/sorted.tsx';
import { addressOf } from '../router.ts';

const TONE = { closed: 'done', open: 'failed', 'half-open': 'waiting', paused: 'waiting' } as const;

interface TableProps {
  readonly charts: Live<ShownCharts>;
  readonly done: () => void;
}

type AgentsProps = TableProps & { readonly agents: Agents; readonly findings: readonly Finding[] };

/**
 * Whether the agent is in trouble: its breaker is not closed, a person has paused it, its code has a bug, or
 * executions wait for it.
 */
const holdsUp = ({ breaker: { status, pause }, bugs }: AgentView, waits: Finding | undefined): boolean =>
  status !== 'closed' || pause !== undefined || bugs !== undefined || waits !== undefined;

/** The findings about agents for which executions wait, by agent. */
const waitsIn = (findings: readonly Finding[]): ReadonlyMap<string, Finding> =>
  new Map(
    findings.flatMap((one) =>
      one.agent === undefined || one.kind === 'missing' || (one.waiting ?? 0) === 0 ? [] : [[one.agent, one]],
    ),
  );

/** The table of missing agents and agents in trouble; empty if there are none. */
export function AgentsInTrouble({ agents, findings, ...table }: AgentsProps): JSX.Element | null {
  const waits = waitsIn(findings);
  const items = agents.items.filter((agent) => holdsUp(agent, waits.get(agent.name)));
  if (items.length === 0 && agents.missing.length === 0) return null;
  return (
    <section aria-labelledby="in-trouble">
      <h2 id="in-trouble">
        Agents that hold up executions <Total of={items.length} />
      </h2>
      {agents.missing.map((missing) => (
        <Missing key={missing.name} missing={missing} />
      ))}
      {items.length === 0 ? null : (
        <Table name="Agents that hold up executions" items={items} waits={waits} {...table} />
      )}
    </section>
  );
}

/** The table of all other agents. */
export function AgentTable({ agents, findings, ...table }: AgentsProps): JSX.Element {
  const waits = waitsIn(findings);
  const items = agents.items.filter((agent) => !holdsUp(agent, waits.get(agent.name)));
  const isAll = items.length === agents.items.length;
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">
        {isAll ? 'Agents' : 'Other agents'} <Total of={items.length} />
      </h2>
      {items.length === 0 ? (
        <p class="faint">None.</p>
      ) : (
        <Table name={isAll ? 'Agents' : 'Other agents'} items={items} waits={waits} {...table} />
      )}
    </section>
  );
}

const COLUMNS: Columns<AgentView> = {
  Agent: ({ name }) => name,
  Breaker: ({ breaker }) => `${breaker.status} ${breaker.since ?? ''}`,
  Messages: ({ queue }) => queue?.waiting,
  'In progress': ({ queue }) => queue?.underWork,
  Delayed: ({ queue }) => queue?.delayed,
  'For its rate': ({ rateQueue }) => rateQueue?.waiting,
  'Latest failure': (agent) => latestFailure(agent)?.at,
};
/** Tooltips of columns whose name needs an explanation. */
const TITLES: Readonly<Record<string, string>> = {
  'For its rate': 'Attempts that wait for their turn by its rate. They are in no queue meanwhile.',
  Messages:
    'In its queue, received by nobody. One that nobody takes is sent again: an execution may have several.',
};
const TEXTS: readonly string[] = ['Agent', 'Breaker'];

function Table({
  name,
  items,
  waits,
  ...table
}: TableProps & {
  name: string;
  items: readonly AgentView[];
  waits: ReadonlyMap<string, Finding>;
}): JSX.Element {
  const sorting = useSorting(COLUMNS);
  const head = (column: string): JSX.Element => (
    <SortHead name={column} sorting={sorting} isNumber={!TEXTS.includes(column)} title={TITLES[column]} />
  );
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={name}>
      <table>
        <thead>
          <tr>
            {head('Agent')}
            {head('Breaker')}
            {head('Messages')}
            {head('In progress')}
            {head('Delayed')}
            {head('For its rate')}
            <th scope="col" title="From due to claimed, 99th percentile">
              Claimed, p99
            </th>
            {head('Latest failure')}
            <th scope="col">Workflows</th>
            <th scope="col">Calls</th>
          </tr>
        </thead>
        <tbody>
          {sorting.of(items).map((agent) => (
            <AgentRow key={agent.name} agent={agent} waits={waits.get(agent.name)} {...table} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows the counts of missing agents that are not 0. */
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
  agent: { name, effect, queue, rateQueue, breaker, lastError, bugs, lost, workflows },
  waits,
  charts,
  done,
}: TableProps & { agent: AgentView; waits: Finding | undefined }): JSX.Element => (
  <tr>
    <th scope="row">
      {name} <span class="faint">{effect}</span>
    </th>
    <td class="breaker">
      {waits === undefined ? null : <Waits finding={waits} />}
      {waits !== undefined && breaker.status === 'closed' ? null : <Breaker breaker={breaker} />}
    </td>
    <td>
      <InQueue agent={name} waiting={queue?.waiting} workflows={workflows} />
    </td>
    <td>{queue?.underWork ?? '–'}</td>
    <td>{queue?.delayed ?? '–'}</td>
    <td>{rateQueue === undefined ? '' : <ForRate queue={rateQueue} />}</td>
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
    <td class="wrap">
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
      />{' '}
      <TryNow agent={name} breaker={breaker} waits={waits} done={done} />
    </td>
  </tr>
);

/** The number of executions that wait for the agent, and since when. */
const Waits = ({ finding: { waiting = 0, atLeast, since } }: { finding: Finding }): JSX.Element => (
  <p>
    <Status tone="waiting">{`${countText(waiting, atLeast)} ${waiting === 1 && atLeast === undefined ? 'waits' : 'wait'} for it`}</Status>
    {since === undefined ? null : (
      <span class="faint">
        {' '}
        since <Ago at={since} />
      </span>
    )}
  </p>
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

const ForRate = ({ queue }: { queue: NonNullable<AgentView['rateQueue']> }): JSX.Element => (
  <span title={`${Number(queue.perSecond.toPrecision(3))} a second`}>
    about {countText(queue.waiting)}{' '}
    <span class="faint">
      the last <Until at={queue.lastTurnAt} />
    </span>
  </span>
);

/** Shows that the agent's processes died or went silent. */
const Lost = ({ lost }: { lost: NonNullable<AgentView['lost']> }): JSX.Element => (
  <p>
    {lostText(lost, now.value)}, the latest <Ago at={lost.at} />
  </p>
);

/**
 * The number of messages in the queue. If only one workflow uses the agent, it links to its open executions.
 */
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
      aria-label={`${waiting} messages for ${agent}: see the open executions of ${workflow}`}
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
