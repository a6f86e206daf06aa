/**
 * Overview: is it healthy, what is at risk, who is waited for, which agent is in trouble, is the supervisor alive.
 *
 * Owns: the order in which it is read; each number is a link to what it counts. Does not own: the agents (`agent-table.tsx`).
 */

import type { JSX } from 'preact';
import type { IncidentPage, ListPage } from '../../lib/api/answers.ts';
import type { Agents, Health } from '../../lib/api/deployment-answers.ts';
import { durationText } from '../../lib/cli/text.ts';
import { api, problemOf } from '../api.ts';
import { executionLink } from '../execution/head.tsx';
import { askedFor, type Filters } from '../executions/filters.ts';
import { type Live, useLive } from '../live.ts';
import { Shown } from '../parts/states.tsx';
import { ExecutionStatusOf, Status } from '../parts/status.tsx';
import { Ago, Until } from '../parts/time.tsx';
import { addressOf } from '../router.ts';
import { AgentTable } from './agent-table.tsx';

/** Each number is a link to its list. With the other parts they are six calls, as many as a browser makes at once. */
const COUNTED: readonly (readonly [string, Filters])[] = [
  ['open', { status: 'open' }],
  ['at risk', { atRisk: 'true' }],
];
const BAD: Filters = { status: 'bad', since: '24h' };
/** More are not counted. */
const PAGE = 100;

/** Each part is read by itself: what is slow, or cannot be read, holds up no other. */
export function OverviewPage(): JSX.Element {
  const health = useLive<Health>('health', () => api.health());
  const agents = useLive<Agents>('agents', () => api.agents());
  const inbox = useLive<IncidentPage>('inbox of the overview', () => api.incidents({ limit: PAGE }));
  const failed = useList(BAD);
  return (
    <article class="overview">
      <h1>Overview</h1>
      <Shown live={health} what="the health">
        {(data) => <Healthy health={data} />}
      </Shown>
      <div class="tiles">
        {COUNTED.map(([name, filters]) => (
          <CountedList key={name} name={name} filters={filters} />
        ))}
        <Tile name="waiting for people" href={addressOf(['people'])} live={inbox} />
        <Tile
          name="ended without success in 24 h"
          href={addressOf(['executions'], { ...BAD })}
          live={failed}
        />
      </div>
      <div class="side-by-side">
        <Waiting inbox={inbox} />
        <Failed live={failed} />
      </div>
      <Shown live={agents} what="the agents">
        {(data) => <AgentTable agents={data} />}
      </Shown>
      {health.data === undefined ? null : <Supervisors health={health.data} />}
    </article>
  );
}

const useList = (filters: Filters): Live<ListPage> =>
  useLive<ListPage>(`list ${JSON.stringify(filters)}`, () =>
    api.list({ ...askedFor(filters, Date.now()), limit: PAGE }),
  );

const CountedList = ({ name, filters }: { name: string; filters: Filters }): JSX.Element => (
  <Tile name={name} href={addressOf(['executions'], { ...filters })} live={useList(filters)} />
);

interface TileProps {
  readonly name: string;
  readonly href: string;
  readonly live: Live<{ readonly items: readonly unknown[]; readonly cursor?: string }>;
}

/** '7', '≥ 100' where there are more than a page, '…' before it is read, '–' where it cannot be. */
const Tile = ({ name, href, live: { data, error } }: TileProps): JSX.Element => (
  <a class="tile" href={href} title={error === undefined ? name : problemOf(error).what}>
    <strong>
      {data === undefined
        ? error === undefined
          ? '…'
          : '–'
        : `${data.cursor === undefined ? '' : '≥ '}${data.items.length}`}
    </strong>{' '}
    <span>{name}</span>
  </a>
);

const HEALTH = {
  ok: ['done', 'healthy', 'A supervisor is at work, and every agent that is needed is deployed.'],
  overdue: [
    'failed',
    'overdue',
    'Executions should have been evaluated long ago: no supervisor is at work. See its log and its schedule.',
  ],
  'agent-missing': [
    'failed',
    'agent missing',
    'Executions wait for an agent that is not deployed: deploy it again.',
  ],
} as const;

function Healthy({ health }: { health: Health }): JSX.Element {
  const [tone, word, means] = HEALTH[health.status];
  const missing = Object.entries(health.missing ?? {});
  return (
    <div class={`health ${tone}`} role={health.status === 'ok' ? undefined : 'alert'}>
      <Status tone={tone}>{word}</Status>
      <p>{means}</p>
      {missing.map(([agent, waiting]) => (
        <p key={agent}>
          <code>{agent}</code>: about {waiting} executions wait
        </p>
      ))}
    </div>
  );
}

const FEW = 6;

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

const Failed = ({ live }: { live: Live<ListPage> }): JSX.Element => (
  <section aria-labelledby="failed">
    <h2 id="failed">Ended without success, last 24 hours, by cause</h2>
    <Shown live={live} what="what failed">
      {(page) => (page.items.length === 0 ? <p class="faint">None.</p> : <FailedList page={page} />)}
    </Shown>
  </section>
);

const FailedList = ({ page }: { page: ListPage }): JSX.Element => (
  <>
    <p class="chips">
      {byCause(page).map(([code, count]) => (
        <a key={code} href={addressOf(['executions'], { code })}>
          {code}: {count}
        </a>
      ))}
    </p>
    <ul class="lines">
      {page.items.slice(0, FEW).map(({ executionId, status, workflow, cause, endedAt, startedAt }) => (
        <li key={executionId}>
          <ExecutionStatusOf status={status} />
          <a href={executionLink(executionId, cause?.step)}>{workflow}</a>
          <span class="faint">
            {cause?.failure.code} <Ago at={endedAt ?? startedAt} />
          </span>
        </li>
      ))}
    </ul>
  </>
);

/** By the code of their failures, the most frequent first. */
function byCause(page: ListPage): readonly (readonly [string, number])[] {
  const codes = page.items.flatMap(({ cause }) => (cause === undefined ? [] : [cause.failure.code]));
  return [...new Set(codes)]
    .map((code) => [code, codes.filter((one) => one === code).length] as const)
    .toSorted((one, other) => other[1] - one[1]);
}

function Supervisors({ health }: { health: Health }): JSX.Element {
  const { shards, audit, oldestOverdueMs } = health;
  const swept = shards.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.sweptAt]));
  return (
    <section aria-labelledby="supervisors">
      <h2 id="supervisors">Supervisors</h2>
      <dl class="facts across">
        <div>
          <dt>last sweep with something due</dt>
          <dd>{swept.length === 0 ? 'none yet' : <Ago at={Math.max(...swept)} />}</dd>
        </div>
        <div>
          <dt>oldest overdue</dt>
          <dd>{oldestOverdueMs === 0 ? 'nothing' : durationText(oldestOverdueMs)}</dd>
        </div>
        <div>
          <dt>shards</dt>
          <dd>{shards.length}</dd>
        </div>
        <div>
          <dt>audit</dt>
          <dd>{audit === undefined ? 'not yet' : 'has run'}</dd>
        </div>
      </dl>
    </section>
  );
}
