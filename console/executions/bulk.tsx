/**
 * The buttons of bulk actions, for the selected executions or all that the filters find.
 *
 * Does not own: the questions before a command (`bulk-question.tsx`), its progress (`bulk-progress.tsx`).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { TextField } from '../parts/fields.tsx';
import { Folded } from '../parts/folded.tsx';
import { refine } from '../router.ts';
import { Question, type Verb } from './bulk-question.tsx';
import { askedFor, type Filters } from './filters.ts';
import { serverTime } from '../clock.ts';

const VERBS = {
  retry: { action: 'retry', label: 'Retry' },
  pause: { action: 'pause', label: 'Pause' },
  resume: { action: 'resume', label: 'Resume' },
  cancel: { action: 'cancel', label: 'Cancel', grave: true },
  'cancel-as-is': { action: 'cancel', label: 'Cancel, undo nothing', undo: false, grave: true },
  'retry-with-input': { action: 'retry', label: 'Retry with another input', asks: true },
  resolve: { action: 'resolve', label: 'Resolve', asks: true, grave: true },
  approve: { action: 'approve', label: 'Approve', asks: true, grave: true },
  reject: { action: 'reject', label: 'Reject', asks: true, grave: true },
} as const satisfies Readonly<Record<string, Verb>>;
type Name = keyof typeof VERBS;
const OFTEN: readonly Name[] = ['retry', 'pause', 'resume', 'cancel'];
const SELDOM: readonly Name[] = ['retry-with-input', 'resolve', 'approve', 'reject', 'cancel-as-is'];

interface BulkProps {
  readonly ids: readonly string[];
  readonly filters: Filters;
  /** The workflow of the selected executions, if all are of one. */
  readonly workflow: string | undefined;
  readonly clear: () => void;
}

export function Bulk({ ids, filters, workflow, clear }: BulkProps): JSX.Element {
  const asked = useSignal<Name | undefined>(undefined);
  const reason = useSignal('');
  // Offers nothing without a selection or a filter, because the action would apply to every execution.
  const isAny = ids.length > 0 || Object.keys(filters).length > 0;
  const ask = (name: Name) => (): void => {
    asked.value = name;
  };
  return (
    <div class="bulk" role="region" aria-label="Bulk action">
      <strong>{ids.length > 0 ? `${ids.length} selected` : isAny ? 'all that match' : '0 selected'}</strong>
      <Folded summary="Bulk action">
        {OFTEN.map((name) => (
          <button key={name} type="button" disabled={!isAny} onClick={ask(name)}>
            {VERBS[name].label} …
          </button>
        ))}
        <details>
          <summary>Other</summary>
          <div class="buttons">
            {SELDOM.map((name) => (
              <button key={name} type="button" disabled={!isAny} onClick={ask(name)}>
                {VERBS[name].label} …
              </button>
            ))}
          </div>
        </details>
        <TextField label="Reason" placeholder="kept with each execution" text={reason} />
        <button type="button" class="quiet" disabled={ids.length === 0} onClick={clear}>
          select none
        </button>
      </Folded>
      <span class="faint keys">x selects, arrows move, Enter opens</span>
      {asked.value === undefined ? null : (
        <Question
          key={asked.value}
          verb={VERBS[asked.value]}
          workflow={workflow}
          meant={ids.length > 0 ? { ids } : { filter: askedFor(filters, serverTime.now()) }}
          reason={reason.value}
          close={() => (asked.value = undefined)}
          done={(bulkId) => {
            clear();
            reason.value = '';
            refine({ bulk: bulkId });
          }}
        />
      )}
    </div>
  );
}
