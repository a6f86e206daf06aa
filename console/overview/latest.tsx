/**
 * Lists open questions and the latest failures. Ten or more of one kind become one line with a link to their
 * list.
 *
 * Owns: which ones are of one kind. Does not own: the reads (`overview-page.tsx`).
 */

import type { JSX } from 'preact';
import { aboutText, countText, type IncidentPage, type ListPage } from '../../lib/api/answers.ts';
import type { Overview } from '../../lib/api/deployment-answers.ts';
import { kindText, type QuestionGroup, questionGroups } from '../../lib/view/question-groups.ts';
import { executionLink } from '../execution/head.tsx';
import type { Live } from '../live.ts';
import { Shown } from '../parts/states.tsx';
import { ExecutionStatusOf } from '../parts/status.tsx';
import { Ago, Until } from '../parts/time.tsx';
import { addressOf } from '../router.ts';
import { BAD, ByCause } from './counts.tsx';

const FEW = 6;

type Ended = ListPage['items'][number];

/** Groups items of one kind, in the order of each group's first item. */
function grouped<T>(items: readonly T[], kindOf: (item: T) => string): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(kindOf(item));
    if (group === undefined) groups.set(kindOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()].slice(0, FEW);
}

export function Waiting({ inbox }: { inbox: Live<IncidentPage> }): JSX.Element {
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for people, earliest deadline first</h2>
      <Shown live={inbox} what="the inbox">
        {(page) =>
          page.items.length === 0 ? (
            <p class="faint">Nothing waits for a person.</p>
          ) : (
            <ul class="lines">
              {questionGroups(page.items)
                .slice(0, FEW)
                .map((group) => (
                  <AskedLine
                    key={`${group[0].executionId} ${group[0].step}`}
                    group={group}
                    hasMore={page.cursor !== undefined}
                  />
                ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

interface LineProps {
  readonly group: QuestionGroup;
  /** Whether there are more questions than were read. */
  readonly hasMore: boolean;
}

const AskedLine = ({ group: [item, ...others], hasMore }: LineProps): JSX.Element => (
  <li>
    <span class="kind">{kindText(item)}</span>
    {others.length === 0 ? null : (
      <strong>{countText(others.length + 1, hasMore ? true : undefined)} ×</strong>
    )}
    <a href={others.length === 0 ? executionLink(item.executionId, item.step) : addressOf(['people'])}>
      {item.step ?? item.executionId}
    </a>
    <span>{others.length === 0 ? aboutText(item) : item.workflow}</span>
    <span class="faint">
      {others.length === 0 ? '' : 'the first: '}
      {item.otherwise} <Until at={item.deadlineAt} />
    </span>
  </li>
);

export const Failed = ({
  counted,
  latest,
}: {
  counted: Live<Overview>;
  latest: Live<ListPage>;
}): JSX.Element => (
  <section aria-labelledby="failed">
    <h2 id="failed">Ended without success, last 24 hours, by cause</h2>
    {counted.data === undefined ? null : (
      <ByCause {...counted.data.endedWithoutSuccess} lately={counted.data.lately} />
    )}
    <Shown live={latest} what="what ended without success">
      {(page) => (page.items.length === 0 ? <p class="faint">None.</p> : <FailedList items={page.items} />)}
    </Shown>
  </section>
);

const causeOf = ({ workflow, status, cause }: Ended): string =>
  [workflow, status, cause?.failure.code, cause?.step].join('\n');

const FailedList = ({ items }: { items: ListPage['items'] }): JSX.Element => (
  <ul class="lines">
    {grouped(items, causeOf).map((group) => (
      <FailedLine key={causeOf(group[0])} group={group} />
    ))}
  </ul>
);

function FailedLine({ group: [item, ...others] }: { group: readonly [Ended, ...Ended[]] }): JSX.Element {
  const { executionId, status, workflow, cause, endedAt, startedAt } = item;
  const code = cause?.failure.code;
  const all = addressOf(['executions'], { ...BAD, workflow, code });
  return (
    <li>
      <ExecutionStatusOf status={status} />
      {others.length === 0 ? null : <strong>{others.length + 1} ×</strong>}
      <a href={others.length === 0 ? executionLink(executionId, cause?.step) : all}>{workflow}</a>
      <span class="faint">
        {code}
        {cause?.step === undefined ? '' : ` at ${cause.step}`}, {others.length === 0 ? '' : 'the latest '}
        <Ago at={endedAt ?? startedAt} />
      </span>
    </li>
  );
}
