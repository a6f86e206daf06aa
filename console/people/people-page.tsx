/**
 * The inbox: all questions to people and external parties, by deadline, with what happens at the deadline.
 * Many equal questions are one card (`group.tsx`).
 */

import type { JSX } from 'preact';
import {
  type CallbackQuestionView,
  countText,
  type IncidentPage,
  type IncidentView,
  pairsText,
  rootText,
} from '../../lib/api/answers.ts';
import type { Overview } from '../../lib/api/deployment-answers.ts';
import { questionGroups } from '../../lib/view/question-groups.ts';
import { api, settings } from '../api.ts';
import { executionLink } from '../execution/head.tsx';
import { BulkProgress } from '../executions/bulk-progress.tsx';
import { readAgain, useLive } from '../live.ts';
import { ShortId } from '../parts/copy.tsx';
import { Empty, Loading, Problem, Shown } from '../parts/states.tsx';
import { Ago, Clock, Prose, Until } from '../parts/time.tsx';
import { addressOf, place, refine } from '../router.ts';
import { AnswerCallback } from './answer-callback.tsx';
import { AnswerIncident } from './answer-incident.tsx';
import { GroupCard } from './group.tsx';
import { whyAsked } from './words.ts';
import { WrongAnswer } from './wrong-answer.tsx';

type Item = IncidentPage['items'][number];

const isIncident = (item: Item): item is Item & IncidentView => 'number' in item;
const keyOf = (item: Item): string => `${item.executionId} ${isIncident(item) ? item.number : item.step}`;

const PAGE = 100;
/** From this number on, equal questions share a card. */
const FEWEST_ALIKE = 10;

export function PeoplePage(): JSX.Element {
  const cursor = place.value.query.get('cursor');
  const bulk = place.value.query.get('bulk');
  const live = useLive<IncidentPage>(`inbox ${cursor ?? ''}`, () =>
    api.incidents({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }),
  );
  return (
    <section aria-labelledby="people">
      <h1 id="people">What waits for people</h1>
      {bulk === undefined ? null : <BulkProgress key={bulk} id={bulk} done={readAgain} />}
      <Shown live={live} what="the inbox">
        {(page) => <Inbox page={page} again={live.again} isFirst={cursor === undefined} />}
      </Shown>
    </section>
  );
}

function Inbox({
  page,
  again,
  isFirst,
}: {
  page: IncidentPage;
  again: () => void;
  isFirst: boolean;
}): JSX.Element {
  if (page.items.length === 0)
    return (
      <Empty title="Nothing waits for a person">
        Approvals, callbacks and incidents appear here by themselves.{' '}
        <a href={addressOf(['workflows'])}>See the workflows</a>
      </Empty>
    );
  const isAll = isFirst && page.cursor === undefined;
  const asked = place.value.query.get('item');
  const card = (item: Item): JSX.Element => <Card key={keyOf(item)} item={item} again={again} />;
  return (
    <>
      <p class="faint">
        {isAll ? `${countText(page.items.length)} open` : <Total />}, the earliest deadline first.
      </p>
      <div class="inbox">
        {questionGroups(page.items).map((group) =>
          group.length < FEWEST_ALIKE ? (
            group.map(card)
          ) : (
            <GroupCard
              key={`group ${keyOf(group[0])}`}
              group={group}
              hasMore={!isAll}
              isOpen={group.some((item) => keyOf(item) === asked)}
            >
              {group.map(card)}
            </GroupCard>
          ),
        )}
      </div>
      <div class="buttons">
        {isFirst ? null : <a href={addressOf(['people'])}>First page</a>}
        {page.cursor === undefined ? null : (
          <a href={addressOf(['people'], { cursor: page.cursor })}>Next page</a>
        )}
      </div>
    </>
  );
}

/** The number of open questions, from the overview because there may be several pages. */
function Total(): JSX.Element {
  const { data } = useLive<Overview>('overview', () => api.overview(), { isOver: () => true });
  return <>{data === undefined ? 'many' : countText(data.inbox.count, data.inbox.atLeast)} open</>;
}

function Card({ item, again }: { item: Item; again: () => void }): JSX.Element {
  const key = keyOf(item);
  const isOpen = place.value.query.get('item') === key;
  const { step, executionId } = item;
  return (
    <article class="card question" aria-label={`${item.kind} ${step ?? ''}`}>
      <div class="card-head">
        <span class="kind">{isIncident(item) ? `incident ${item.number}` : item.kind}</span>
        <strong>{step ?? 'the whole execution'}</strong>
        <a class="mono" href={executionLink(executionId, step)}>
          <ShortId id={executionId} />
        </a>
      </div>
      <About item={item} />
      {isIncident(item) ? (
        <p>
          {whyAsked(item)}
          <code>{item.failure.code}</code> <Prose text={item.failure.message} />
        </p>
      ) : null}
      {isIncident(item) && item.wrongAnswer !== undefined ? <WrongAnswer text={item.wrongAnswer} /> : null}
      <p>
        Without an answer: <strong>{item.otherwise}</strong>, <Until at={item.deadlineAt} />{' '}
        <span class="faint">
          (<Clock at={item.deadlineAt} />)
        </span>
      </p>
      <p class="faint">
        Asked <Ago at={item.openedAt} />
        {remindersText(item)}
      </p>
      {settings.readOnly ? null : isIncident(item) ? (
        isOpen ? (
          <Choices executionId={executionId} number={item.number} again={again} />
        ) : (
          <button type="button" onClick={() => refine({ item: key })}>
            Answer …
          </button>
        )
      ) : (
        <AnswerCallback executionId={executionId} question={item} done={again} />
      )}
    </article>
  );
}

/** An approval's values, workflow and tags, to distinguish approvals of the same step. */
function About({ item }: { item: Item }): JSX.Element {
  const shown = isIncident(item) ? {} : (item.shown ?? {});
  const tags = pairsText(item.tags ?? {});
  return (
    <>
      {Object.keys(shown).length === 0 ? null : (
        <dl class="facts across">
          {Object.entries(shown).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {item.workflow === undefined ? null : (
        <p>
          <a href={addressOf(['workflows', item.workflow])}>{item.workflow}</a>
          {tags === '' ? '' : ` · ${tags}`}
          {item.root === undefined ? '' : ` · ${rootText(item.root)}`}
        </p>
      )}
    </>
  );
}

function remindersText({
  reminders,
  remindAt,
}: Pick<CallbackQuestionView | IncidentView, 'reminders' | 'remindAt'>): JSX.Element {
  return (
    <>
      {reminders === 0 ? '' : ` · reminded ${reminders === 1 ? 'once' : `${reminders} times`}`}
      {remindAt === undefined ? null : (
        <>
          {' '}
          · next reminder <Until at={remindAt} />
        </>
      )}
    </>
  );
}

/** The choices for an incident. Reads the execution to know which are safe. */
function Choices({
  executionId,
  number,
  again,
}: {
  executionId: string;
  number: number;
  again: () => void;
}): JSX.Element {
  const live = useLive(`choices ${executionId}`, () => api.get(executionId));
  if (live.data === undefined)
    return live.error === undefined ? (
      <Loading what="what is safe" />
    ) : (
      <Problem error={live.error} again={live.again} />
    );
  const incident = live.data.incidents.find((one) => one.number === number);
  if (incident === undefined || incident.closedAt !== undefined)
    return <p class="notice">It is answered: see the execution.</p>;
  const done = (): void => {
    live.again();
    again();
  };
  return <AnswerIncident executionId={executionId} incident={incident} done={done} />;
}
