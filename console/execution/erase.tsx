/**
 * Erases an ended execution, after a confirmation, and shows the result.
 *
 * Owns: which executions have the button. Does not own: whether an attempt may still act (the API says so).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { api } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { addressOf } from '../router.ts';

/** Whether the execution was already erased, by another person or by a call whose answer was lost. */
const isGone = (error: unknown): boolean => error instanceof ApiError && error.code === 'unknown-execution';

interface EraseProps {
  readonly view: ExecutionView;
  readonly isErased: Signal<boolean>;
}

/** The button. A child has none, because it is erased with its parent. */
export function Erase({ view, isErased }: EraseProps): JSX.Element | null {
  const isAsked = useSignal(false);
  const { executionId: id, workflow, endedAt, parent } = view;
  if (endedAt === undefined || parent !== undefined) return null;
  const close = (): void => void (isAsked.value = false);
  const act = async (): Promise<void> => {
    await api.erase(id).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
    isErased.value = true;
  };
  return (
    <>
      <button type="button" onClick={() => (isAsked.value = true)}>
        Erase …
      </button>
      {isAsked.value ? (
        <Dialog title="Erase this execution?" confirm="Erase" grave={true} act={act} close={close}>
          <p>
            Its record, those of its steps and of the executions that they ran, and all their values are
            removed for good. This cannot be taken back; only a table that is restored from a backup has them
            again.
          </p>
          <p>
            {workflow} <code>{id}</code>
          </p>
        </Dialog>
      ) : null}
    </>
  );
}

export const Erased = ({ id }: { id: string }): JSX.Element => (
  <>
    <h1>Erased</h1>
    <p class="notice" role="status">
      Execution <code>{id}</code> is erased. A backup of the table still has it until the backup expires.
    </p>
    <p>
      <a href={addressOf(['executions'])}>To the list of executions</a>
    </p>
  </>
);
