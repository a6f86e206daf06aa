/** The agents with their queue, their breaker, their latest failure and their outages; those that are missing first. */

import type { JSX } from 'preact';
import type { Agents, AgentView, BreakerView } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';
import { Waiting } from './counts.tsx';
import { HoldButton, PausedBy } from '../parts/hold.tsx';
import { Status } from '../parts/status.tsx';
import { Ago, Until } from '../parts/time.tsx';
import { addressOf } from '../router.ts';

const TONE = { closed: 'done', open: 'failed', 'half-open': 'waiting', paused: 'waiting' } as const;

export const AgentTable = ({ agents, done }: { agents: Agents; done: () => void }): JSX.Element => (
  <section aria-labelledby="agents">
    <h2 id="agents">Agents</h2>
    {agents.missing.map((missing) => (
      <Missing key={missing.name} missing={missing} />
    ))}
    <div class="scroll" tabIndex={0} role="group" aria-label="Agents">
      <table>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Breaker</th>
            <th scope="col">Waiting</th>
            <th scope="col">Under work</th>
            <th scope="col">Delayed</th>
            <th scope="col">Latest failure</th>
            <th scope="col">Workflows</th>
            <th scope="col">Calls</th>
          </tr>
        </thead>
        <tbody>
          {agents.items.map((agent) => (
            <AgentRow key={agent.name} agent={agent} done={done} />
          ))}
        </tbody>
      </table>
    </div>
  </section>
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
  agent: { name, effect, queue, breaker, lastError, workflows },
  done,
}: {
  agent: AgentView;
  done: () => void;
}): JSX.Element => (
  <tr>
    <th scope="row">
      {name} <span class="faint">{effect}</span>{' '}
      <a class="outages" href={addressOf(['overview'], { agent: name })} aria-label={`Outages of ${name}`}>
        outages
      </a>
    </th>
    <td>
      <Breaker breaker={breaker} />
    </td>
    <td>{queue?.waiting ?? '–'}</td>
    <td>{queue?.underWork ?? '–'}</td>
    <td>{queue?.delayed ?? '–'}</td>
    <td class="wrap">
      {lastError === undefined ? (
        <span class="faint">none</span>
      ) : (
        <>
          <code>{lastError.code}</code> {lastError.message}{' '}
          <span class="faint">
            <Ago at={lastError.at} />
          </span>
        </>
      )}
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
          pause: 'Nothing new is sent to it: its steps wait. Attempts that run go on to their end.',
          resume: 'What waits for it is sent again.',
        }}
        hold={({ reason }) => api.pauseAgent(name, reason === undefined ? {} : { reason })}
        release={() => api.resumeAgent(name)}
        done={done}
      />
    </td>
  </tr>
);

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
