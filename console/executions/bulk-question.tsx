/**
 * The dialog before a bulk action: first its values, then the number of executions and ten of them. After the
 * confirmation the deployment carries it out, so the page may be closed.
 *
 * Owns: the order of the parts, and preserving the values when the person goes back. Does not own: the form
 * (`bulk-form.tsx`), which actions are possible (the API says so).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { countText } from '../../lib/api/answers.ts';
import type { BulkAction, BulkOptions, BulkView } from '../../lib/api/bulk-answers.ts';
import { api, problemOf } from '../api.ts';
import { ShortId } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Loading } from '../parts/states.tsx';
import { ExecutionStatusOf } from '../parts/status.tsx';
import { BulkForm, type Fields, filledIn } from './bulk-form.tsx';

export interface Verb {
  readonly action: BulkAction;
  readonly label: string;
  readonly undo?: false;
  /** Whether the action has a form for values. */
  readonly asks?: true;
  readonly grave?: true;
}

interface QuestionProps {
  readonly verb: Verb;
  readonly meant: Pick<BulkOptions, 'ids' | 'filter'>;
  readonly workflow: string | undefined;
  /** The step to answer, if the action concerns one. */
  readonly step?: string | undefined;
  readonly reason: string;
  readonly close: () => void;
  readonly done: (bulkId: string) => void;
}

export function Question({ verb, meant, workflow, step, reason, close, done }: QuestionProps): JSX.Element {
  const { action, label, undo, grave, asks } = verb;
  const found = useSignal<BulkView | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const seen = useRef({ isOver: false }).current;
  const filled = useSignal<Fields | undefined>(undefined);
  const look = (given: Partial<BulkOptions>): Promise<void> => {
    const more = { ...(reason === '' ? {} : { reason }), ...(undo === false ? { undo } : {}) };
    return collect({ action, ...meant, ...given, ...more }, found, seen);
  };
  useEffect(() => {
    if (asks !== true) look({}).catch((refused: unknown) => (error.value = refused));
    return () => {
      seen.isOver = true;
    };
  }, []);
  const view = found.value;
  const isAsking = asks === true && view === undefined;
  const isFound = view !== undefined && view.status !== 'collecting';
  const act = async (): Promise<void | 'stay'> => {
    if (isAsking) {
      await look(filledIn(filled, action));
      return 'stay';
    }
    if (view === undefined) return undefined;
    await confirmed(view);
    done(view.bulkId);
    return undefined;
  };
  return (
    <Dialog
      title={isFound ? `${label} ${many(view.count)}?` : `${label} several executions?`}
      confirm={isAsking ? 'Find them' : label}
      grave={grave === true && !isAsking}
      isReady={isAsking ? filled.value !== undefined : isFound && view.count > 0}
      act={act}
      close={close}
    >
      {error.value === undefined ? null : (
        <p class="notice bad" role="alert">
          {problemOf(error.value).what}
        </p>
      )}
      {asks === true ? (
        <div hidden={!isAsking}>
          <BulkForm action={action} workflow={workflow} of={step} into={filled} />
        </div>
      ) : null}
      {isFound ? (
        <Found view={view} again={asks === true ? () => (found.value = undefined) : undefined} />
      ) : isAsking || error.value !== undefined ? null : (
        <Loading what={soFar(view)} />
      )}
    </Dialog>
  );
}

/** Collects the executions until all are found, or the dialog is closed. */
async function collect(
  options: BulkOptions,
  found: Signal<BulkView | undefined>,
  seen: { readonly isOver: boolean },
): Promise<void> {
  let view = await api.makeBulk({ ...options, idempotencyKey: crypto.randomUUID() });
  while (view.status === 'collecting' && !seen.isOver) {
    found.value = view;
    view = await api.collectBulk(view.bulkId);
  }
  found.value = view;
}

/**
 * Confirms the action. Approvals and rejections have a separate route, because it needs the permission to
 * answer.
 */
const confirmed = ({ action, bulkId }: BulkView): Promise<BulkView> =>
  action === 'approve' || action === 'reject' ? api.answerBulk(bulkId) : api.confirmBulk(bulkId);

const many = (count: number): string => `${countText(count)} ${count === 1 ? 'execution' : 'executions'}`;
const soFar = (view: BulkView | undefined): string =>
  view === undefined ? 'the matching executions' : `the matching executions: ${many(view.count)} so far`;

/**
 * Actions that only apply to executions with an open question; this is known only when an execution gets the
 * command.
 */
const MAY_NOT_APPLY: Readonly<Partial<Record<BulkAction, string>>> = {
  resolve: 'Executions without such a question are left as they are and counted with the reason.',
  approve: 'Executions that wait for no approval are left as they are and counted with the reason.',
  reject: 'Executions that wait for no approval are left as they are and counted with the reason.',
};

interface FoundProps {
  readonly view: BulkView;
  /** Returns to the values. */
  readonly again: (() => void) | undefined;
}

function Found({ view, again }: FoundProps): JSX.Element {
  const { action, count, leftOut, examples = [], reason } = view;
  const first = useRef<HTMLParagraphElement>(null);
  // Moves the keyboard focus to the new button, because the pressed one is gone. This happens before the
  // first paint, so that the focus is not taken from an element that the person has reached meanwhile.
  useLayoutEffect(() => (again === undefined ? undefined : first.current?.focus()), []);
  return (
    <>
      <p ref={first} tabIndex={-1}>
        {many(count)}
        {leftOut === 0 ? '.' : `. ${many(leftOut)} also match, but ${action} is not possible for them now.`}
      </p>
      <ul class="ids">
        {examples.map(({ executionId, status }) => (
          <li key={executionId}>
            <ExecutionStatusOf status={status} /> <ShortId id={executionId} />
          </li>
        ))}
      </ul>
      {count > examples.length ? <p class="faint">and {many(count - examples.length)} more</p> : null}
      <p class="faint">
        Each execution gets the command once. The bulk action continues even if you close this page.{' '}
        {MAY_NOT_APPLY[action]}
        {reason === undefined ? '' : ` Reason: ${reason}`}
      </p>
      {again === undefined ? null : (
        <button type="button" class="quiet" onClick={again}>
          Change the answer
        </button>
      )}
    </>
  );
}
