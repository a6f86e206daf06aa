/**
 * One command to many: to those that are selected, or to all that the filters find. First how many and ten of them, then, once it is
 * confirmed, the deployment obeys it by itself; the page need not stay open.
 *
 * Owns: the questions. Does not own: how far one is (`bulk-progress.tsx`), what is possible (the API says so).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BulkAction, BulkOptions, BulkView } from '../../lib/api/bulk-answers.ts';
import { api, problemOf } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ChoiceField, TextField } from '../parts/fields.tsx';
import { Loading } from '../parts/states.tsx';
import { ExecutionStatusOf } from '../parts/status.tsx';
import { refine } from '../router.ts';
import { askedFor, type Filters } from './filters.ts';

interface Verb {
  readonly action: BulkAction;
  readonly label: string;
  readonly undo?: false;
  readonly grave?: true;
}

const VERBS = {
  retry: { action: 'retry', label: 'Retry' },
  pause: { action: 'pause', label: 'Pause' },
  resume: { action: 'resume', label: 'Resume' },
  cancel: { action: 'cancel', label: 'Cancel', grave: true },
  'cancel-as-is': { action: 'cancel', label: 'Cancel, undo nothing', undo: false, grave: true },
  approve: { action: 'approve', label: 'Approve', grave: true },
  reject: { action: 'reject', label: 'Reject', grave: true },
} as const satisfies Readonly<Record<string, Verb>>;
type Name = keyof typeof VERBS;
const OFTEN: readonly Name[] = ['retry', 'pause', 'resume', 'cancel'];
const SELDOM: readonly Name[] = ['cancel-as-is', 'approve', 'reject'];

interface BulkProps {
  readonly ids: readonly string[];
  readonly filters: Filters;
  readonly clear: () => void;
}

export function Bulk({ ids, filters, clear }: BulkProps): JSX.Element {
  const asked = useSignal<Name | undefined>(undefined);
  const seldom = useSignal('');
  const reason = useSignal('');
  // Of all executions that there ever were nobody means every one.
  const isAny = ids.length > 0 || Object.keys(filters).length > 0;
  const ask = (name: Name) => (): void => {
    asked.value = name;
  };
  return (
    <div class="bulk" role="region" aria-label="Many at once">
      <strong>
        {ids.length > 0 ? `${ids.length} selected` : isAny ? 'all that are found' : '0 selected'}
      </strong>
      {OFTEN.map((name) => (
        <button key={name} type="button" disabled={!isAny} onClick={ask(name)}>
          {VERBS[name].label} …
        </button>
      ))}
      <ChoiceField
        label="Other"
        text={{
          get value() {
            return seldom.value;
          },
          set value(name: string) {
            seldom.value = '';
            if (isAny && name !== '') asked.value = name as Name;
          },
        }}
        options={[['', '…'], ...SELDOM.map((name) => [name, `${VERBS[name].label} …`] as const)]}
      />
      <TextField label="Reason" placeholder="kept with each" text={reason} />
      <button type="button" class="quiet" disabled={ids.length === 0} onClick={clear}>
        select none
      </button>
      <span class="faint">x selects, arrows move, Enter opens</span>
      {asked.value === undefined ? null : (
        <Asked
          key={asked.value}
          verb={VERBS[asked.value]}
          meant={ids.length > 0 ? { ids } : { filter: askedFor(filters, Date.now()) }}
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

interface AskedProps {
  readonly verb: Verb;
  readonly meant: Pick<BulkOptions, 'ids' | 'filter'>;
  readonly reason: string;
  readonly close: () => void;
  readonly done: (bulkId: string) => void;
}

function Asked({ verb, meant, reason, close, done }: AskedProps): JSX.Element {
  const found = useSignal<BulkView | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const { action, label, undo, grave } = verb;
  useEffect(() => {
    const seen = { isOver: false };
    const look = async (): Promise<void> => {
      try {
        const options = {
          action,
          ...meant,
          ...(reason === '' ? {} : { reason }),
          ...(undo === false ? { undo } : {}),
        };
        let view = await api.makeBulk({ ...options, idempotencyKey: crypto.randomUUID() });
        while (view.status === 'collecting' && !seen.isOver) {
          found.value = view;
          view = await api.collectBulk(view.bulkId);
        }
        found.value = view;
      } catch (refused) {
        error.value = refused;
      }
    };
    void look();
    return () => {
      seen.isOver = true;
    };
  }, []);
  const view = found.value;
  const isFound = view !== undefined && view.status !== 'collecting';
  const act = async (): Promise<void> => {
    if (view === undefined) return;
    // An answer counts as that person's, and has a route of its own.
    const isAnswer = action === 'approve' || action === 'reject';
    await (isAnswer ? api.answerBulk(view.bulkId) : api.confirmBulk(view.bulkId));
    done(view.bulkId);
  };
  return (
    <Dialog
      title={isFound ? `${label} ${many(view.count)}?` : `${label} many?`}
      confirm={label}
      grave={grave === true}
      isReady={isFound && view.count > 0}
      act={act}
      close={close}
    >
      {error.value === undefined ? null : (
        <p class="notice bad" role="alert">
          {problemOf(error.value).what}
        </p>
      )}
      {isFound ? <Found view={view} /> : error.value === undefined ? <Loading what={soFar(view)} /> : null}
    </Dialog>
  );
}

const many = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'execution' : 'executions'}`;
const soFar = (view: BulkView | undefined): string =>
  view === undefined ? 'which are meant' : `which are meant: ${many(view.count)} so far`;

const Found = ({
  view: { action, count, leftOut, examples = [], reason },
}: {
  view: BulkView;
}): JSX.Element => (
  <>
    <p>
      {many(count)}
      {leftOut === 0 ? '.' : `; ${many(leftOut)} of those found cannot be told to ${action} now.`}
    </p>
    <ul class="ids">
      {examples.map(({ executionId, status }) => (
        <li key={executionId}>
          <ExecutionStatusOf status={status} /> {executionId}
        </li>
      ))}
    </ul>
    {count > examples.length ? <p class="faint">and {many(count - examples.length)} more</p> : null}
    <p class="faint">
      Each is told once. It goes on by itself, also when this page is closed.
      {reason === undefined ? '' : ` Reason: ${reason}`}
    </p>
  </>
);
