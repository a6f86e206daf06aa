/**
 * A confirmation before an action, in the browser's own dialog: it keeps the focus inside and closes with
 * Escape.
 *
 * Owns: whether the dialog is open, and the action in progress, refused or done. Does not own: the text, the
 * action.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../lib/api/client.ts';
import { problemOf, settings } from '../api.ts';
import { readAgain } from '../live.ts';
import { AsField } from './as-field.tsx';

export interface Question {
  readonly title: string;
  readonly confirm: string;
  /** Whether the action cannot be reversed. */
  readonly grave?: boolean;
  /** Whether the content to confirm has been loaded. @default true */
  readonly isReady?: boolean;
  /**
   * The action. Resolves with 'stay' if the dialog must stay open for more input. An error is shown in the
   * dialog.
   */
  readonly act: () => Promise<void | 'stay'>;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}

export function Dialog({
  title,
  confirm,
  grave,
  isReady = true,
  act,
  close,
  children,
}: Question): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const isBusy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    const opener = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
      // Reads again, because nothing was updated while the dialog was open.
      readAgain();
    };
  }, []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy.value || !isReady) return;
    isBusy.value = true;
    error.value = undefined;
    try {
      if ((await act()) !== 'stay') close();
    } catch (refused) {
      error.value = refused;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <dialog ref={ref} onClose={close} aria-label={title}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>{title}</h2>
        {children}
        {error.value === undefined ? null : <Refused error={error.value} />}
        <div class="buttons">
          <button type="button" onClick={close}>
            Leave it
          </button>
          <button
            type="submit"
            class={grave === true ? 'grave' : 'primary'}
            disabled={isBusy.value || !isReady}
          >
            {isBusy.value ? 'Under way …' : confirm}
          </button>
        </div>
      </form>
    </dialog>
  );
}

const Refused = ({ error }: { error: unknown }): JSX.Element => (
  <>
    <p class="notice bad" role="alert">
      {problemOf(error).what}
    </p>
    {settings.local && error instanceof ApiError && error.code === 'not-another' ? (
      <AsField label="On this machine you can act as another person: as" />
    ) : null}
  </>
);
