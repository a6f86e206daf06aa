/**
 * Shows equal questions as one card: their number, the first deadline, and one answer to all by a bulk action
 * with a confirmation. The single questions are folded below.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { countText } from '../../lib/api/answers.ts';
import type { BulkOptions } from '../../lib/api/bulk-answers.ts';
import { bulkMeaning, kindText, type QuestionGroup } from '../../lib/view/question-groups.ts';
import { settings } from '../api.ts';
import { Question, type Verb } from '../executions/bulk-question.tsx';
import { Clock, Prose, Until } from '../parts/time.tsx';
import { addressOf, refine } from '../router.ts';
import { whyAsked } from './words.ts';

const VERBS = {
  approve: { action: 'approve', label: 'Approve', asks: true, grave: true },
  reject: { action: 'reject', label: 'Reject', asks: true, grave: true },
  resolve: { action: 'resolve', label: 'Resolve', asks: true, grave: true },
} as const satisfies Readonly<Record<string, Verb>>;
type Name = keyof typeof VERBS;

interface GroupProps {
  readonly group: QuestionGroup;
  /** Whether there are more questions than were read. */
  readonly hasMore: boolean;
  readonly isOpen: boolean;
  /** The cards of the single questions. */
  readonly children: ComponentChildren;
}

export function GroupCard({ group, hasMore, isOpen, children }: GroupProps): JSX.Element {
  const [item] = group;
  const count = countText(group.length, hasMore ? true : undefined);
  return (
    <article class="card question group" aria-label={`${count} × ${item.kind} ${item.step ?? ''}`}>
      <div class="card-head">
        <span class="kind">{kindText(item)}</span>
        <strong>
          {count} × {item.step ?? 'the whole execution'}
        </strong>
        {item.workflow === undefined ? null : (
          <a href={addressOf(['workflows', item.workflow])}>{item.workflow}</a>
        )}
      </div>
      {'number' in item ? (
        <p>
          {whyAsked(item)}
          <code>{item.failure.code}</code> <Prose text={item.failure.message} />
        </p>
      ) : null}
      <p>
        Without an answer: <strong>{item.otherwise}</strong>, the first <Until at={item.deadlineAt} />{' '}
        <span class="faint">
          (<Clock at={item.deadlineAt} />)
        </span>
      </p>
      {settings.readOnly ? null : <AnswerAll group={group} hasMore={hasMore} />}
      <details open={isOpen}>
        <summary>Each by itself</summary>
        <div class="inbox">{children}</div>
      </details>
    </article>
  );
}

function AnswerAll({ group, hasMore }: Pick<GroupProps, 'group' | 'hasMore'>): JSX.Element | null {
  const asked = useSignal<Name | undefined>(undefined);
  const meaning = bulkMeaning(group);
  if (meaning === undefined) return null;
  const [item] = group;
  const names: readonly Name[] = 'number' in item ? ['resolve'] : ['approve', 'reject'];
  return (
    <div class="buttons">
      {names.map((name, at) => (
        <button
          key={name}
          type="button"
          class={at === 0 ? 'primary' : ''}
          onClick={() => (asked.value = name)}
        >
          {VERBS[name].label} all …
        </button>
      ))}
      {asked.value === undefined ? null : (
        <Question
          key={asked.value}
          verb={VERBS[asked.value]}
          workflow={item.workflow}
          step={item.step}
          meant={hasMore ? { filter: meaning.filter } : named(group)}
          reason=""
          close={() => (asked.value = undefined)}
          done={(bulkId) => refine({ bulk: bulkId })}
        />
      )}
    </div>
  );
}

/**
 * The ids of a group whose executions are all on the page, so that the answer goes exactly to those that the
 * person sees.
 */
const named = (group: QuestionGroup): Pick<BulkOptions, 'ids'> => ({
  ids: [...new Set(group.map(({ executionId }) => executionId))],
});
