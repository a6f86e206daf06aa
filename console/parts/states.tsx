/** The states of a view without content (loading, empty, failed), each with advice. */

import type { ComponentChildren, JSX } from 'preact';
import { ApiError } from '../../lib/api/client.ts';
import { problemOf } from '../api.ts';
import type { Live } from '../live.ts';
import { addressOf } from '../router.ts';
import { Prose } from './time.tsx';

export const Loading = ({ what }: { what: string }): JSX.Element => (
  <div class="state" role="status">
    <span class="spinner" aria-hidden="true" /> Reading {what} …
  </div>
);

/** The text instead of an action on a read-only page. */
export const READ_ONLY =
  'This page is read only. Executions that are started elsewhere appear here by themselves.';

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element => (
  <div class="state empty">
    <p class="state-title">{title}</p>
    {children === undefined ? null : <p>{children}</p>}
  </div>
);

export function Problem({ error, again }: { error: unknown; again?: () => void }): JSX.Element {
  const { what, todo } = problemOf(error);
  const list = error instanceof ApiError ? LISTS[error.code] : undefined;
  return (
    <div class="state problem" role="alert">
      <p class="state-title">
        <Prose text={what} />
      </p>
      {todo === '' ? null : <p>{todo}</p>}
      {list !== undefined ? (
        <p>
          <a href={addressOf([list.view])}>{list.label}</a>
        </p>
      ) : again === undefined ? null : (
        <button type="button" onClick={again}>
          Try again now
        </button>
      )}
    </div>
  );
}

/** The list to open if what the page's address names does not exist. */
const LISTS: Readonly<Record<string, { readonly view: string; readonly label: string }>> = {
  'unknown-execution': { view: 'executions', label: 'To the list of executions' },
  'unknown-workflow': { view: 'workflows', label: 'To the list of workflows' },
};

/**
 * Shows the data, or one of the three states. If the latest read failed, it shows the earlier data with a
 * note.
 */
export function Shown<T>({
  live,
  what,
  children,
}: {
  live: Live<T>;
  what: string;
  children: (data: T) => ComponentChildren;
}): JSX.Element {
  if (live.data === undefined)
    return live.error === undefined ? (
      <Loading what={what} />
    ) : (
      <Problem error={live.error} again={live.again} />
    );
  return (
    <>
      {live.error === undefined ? null : <Stale error={live.error} again={live.again} />}
      {children(live.data)}
    </>
  );
}

const Stale = ({ error, again }: { error: unknown; again: () => void }): JSX.Element => (
  <div class="notice warn" role="alert">
    <span>
      This is out of date: it could not be read again. <q>{problemOf(error).what}</q> {problemOf(error).todo}
    </span>
    <button type="button" onClick={again}>
      Try again now
    </button>
  </div>
);
