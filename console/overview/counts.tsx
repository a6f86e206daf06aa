/** The health of the deployment, and the number of executions in each list, with a link to it. */

import type { JSX } from 'preact';
import {
  countText,
  durationText,
  findingText,
  type Finding,
  isUnsupervised,
  OVERDUE_SAID_MS,
  situationText,
  VERDICTS,
} from '../../lib/api/answers.ts';
import type { Overview } from '../../lib/api/deployment-answers.ts';
import { latelyText, waitsText } from '../../lib/view/deployment.ts';
import { now as clock } from '../clock.ts';
import { executionLink } from '../execution/head.tsx';
import type { Filters } from '../executions/filters.ts';
import { Status } from '../parts/status.tsx';
import { Ago, Prose } from '../parts/time.tsx';
import { addressOf } from '../router.ts';

export const BAD: Filters = { status: 'bad', since: '24h' };

const TONE = { healthy: 'done', degraded: 'waiting', down: 'failed' } as const;

/** Shows the verdict with the worst finding, then the other findings. Durations use the page's clock. */
export function Healthy({ overview: { health, at } }: { overview: Overview }): JSX.Element {
  const { status, findings } = health;
  const now = Math.max(at, clock.value);
  const tone = TONE[status];
  const alone = isUnsupervised(findings);
  return (
    <div class={`health ${tone}`} role={status === 'healthy' ? undefined : 'alert'}>
      <Status tone={tone}>{VERDICTS[status]}</Status>
      {findings.length === 0 ? <p>{situationText(findings, now)}</p> : null}
      {findings.map((finding) => (
        <p key={`${finding.kind} ${finding.agent ?? ''}`}>
          <span>
            <Prose text={findingText(finding, now, undefined, alone)} />
          </span>{' '}
          <Leads finding={finding} />
        </p>
      ))}
    </div>
  );
}

/** A link to the subject of a finding, instead of the command that the command line prints. */
function Leads({ finding: { kind } }: { finding: Finding }): JSX.Element | null {
  switch (kind) {
    case 'asked':
      return <a href={addressOf(['people'])}>Answer</a>;
    case 'at-risk':
      return <a href={listOf({ atRisk: 'true' })}>Executions at risk</a>;
    case 'bug':
      return <a href={listOf({ code: 'bug' })}>Executions that it has ended</a>;
    case 'schedule-off':
    case 'overdue':
    case 'breaker':
    case 'unanswered':
      return <a href={listOf({ status: 'open' })}>Open executions</a>;
    default:
      return null;
  }
}

/** The number of executions that wait for an agent that is not deployed, and since when. */
export const Waiting = ({ waiting, since }: { waiting: number; since?: number | undefined }): JSX.Element => (
  <>
    about {waiting} {waiting === 1 ? 'execution waits' : 'executions wait'} for it
    {since === undefined ? null : (
      <>
        , the first since <Ago at={since} />
      </>
    )}
  </>
);

export const Tiles = ({
  overview: { open, inbox, endedWithoutSuccess },
}: {
  overview: Overview;
}): JSX.Element => (
  <div class="tiles">
    <Tile name="open" {...open} href={listOf({ status: 'open' })} />
    <Tile
      name="at risk"
      count={open.atRisk}
      burns
      {...(open.moreAtRisk === undefined ? {} : { atLeast: true })}
      href={listOf({ atRisk: 'true' })}
    />
    <Tile name="waiting for people" {...inbox} href={addressOf(['people'])} />
    <Tile name="ended without success in 24 h" {...endedWithoutSuccess} href={listOf(BAD)} />
  </div>
);

const listOf = (filters: Filters): string => addressOf(['executions'], { ...filters });

const Tile = ({
  name,
  count,
  atLeast,
  burns = false,
  href,
}: {
  name: string;
  count: number;
  atLeast?: true;
  /** Whether to draw the number as a warning if it is not 0. */
  burns?: boolean;
  href: string;
}): JSX.Element => (
  <a class={burns && count > 0 ? 'tile burns' : 'tile'} href={href}>
    <strong>{countText(count, atLeast)}</strong> <span>{name}</span>
  </a>
);

/** Open executions by status, each with a link to its list. */
export const OpenByStatus = ({ overview: { open } }: { overview: Overview }): JSX.Element | null =>
  open.count === 0 ? null : (
    <p class="chips">
      {Object.entries(open.byStatus).map(([status, count]) => (
        <a key={status} href={listOf({ status })}>
          {status}: {countText(count, open.atLeast)}
        </a>
      ))}
    </p>
  );

/** Recent failures by code, the most frequent first, beside the number of starts in that time. */
export const ByCause = ({
  byCode,
  started,
  atLeast,
  lately,
}: Overview['endedWithoutSuccess'] & { readonly lately: Overview['lately'] }): JSX.Element => (
  <p class="chips">
    {started === undefined ? null : (
      <span class="faint">{countText(started.count, started.atLeast)} were started</span>
    )}
    {lately === undefined ? null : <span>{latelyText(lately)} of those started in the last hour</span>}
    {byCode.map(({ code, count }) => (
      <a key={code} href={listOf({ ...BAD, code })}>
        {code}: {countText(count, atLeast)}
      </a>
    ))}
  </p>
);

export const Supervisors = ({
  overview: { sweptAt, oldestOverdue, health, waits, at },
}: {
  overview: Overview;
}): JSX.Element => (
  <section aria-labelledby="supervisors">
    <h2 id="supervisors" class="hidden">
      Supervisors
    </h2>
    <dl class="facts across">
      <div>
        <dt>supervisor: last sweep that found work</dt>
        <dd>{sweptAt === undefined ? 'none yet' : <Ago at={sweptAt} />}</dd>
      </div>
      <div>
        <dt>oldest overdue</dt>
        <dd>
          {oldestOverdue === undefined ? (
            health.oldestOverdueMs < OVERDUE_SAID_MS ? (
              'nothing'
            ) : (
              durationText(health.oldestOverdueMs)
            )
          ) : (
            <>
              <a href={executionLink(oldestOverdue.executionId)}>{oldestOverdue.workflow}</a>, due{' '}
              <Ago at={oldestOverdue.wakeAt} />
            </>
          )}
        </dd>
      </div>
      {waits === undefined ? null : (
        <div>
          <dt>waiting clients</dt>
          <dd>
            <Prose text={waitsText(waits, Math.max(at, clock.value))} />
          </dd>
        </div>
      )}
    </dl>
  </section>
);
