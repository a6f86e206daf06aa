/** A short text that is often wanted elsewhere: shown, and copied by a button. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

const SAID_MS = 1_500;

export function CopyButton({ text, what }: { text: string; what: string }): JSX.Element {
  const said = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = 'copied';
    } catch {
      said.value = 'not allowed';
    }
    setTimeout(() => {
      said.value = '';
    }, SAID_MS);
  };
  return (
    <button type="button" class="quiet copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {said.value === '' ? 'copy' : said.value}
    </button>
  );
}

export const Id = ({ id, what = 'the id' }: { id: string; what?: string }): JSX.Element => (
  <span class="id">
    <code>{id}</code> <CopyButton text={id} what={what} />
  </span>
);

/**
 * An id by its last digits, because ids in the order of time begin alike. The tooltip has all of it. The rest
 * is also in the page, too small to be seen, so that it is copied and found. The number behind the dot, which
 * an execution of a step has, is shown.
 */
export function ShortId({ id }: { id: string }): JSX.Element {
  const [, rest = '', end = id, tail = ''] =
    /^([0-9a-f][0-9a-f-]{7,})([0-9a-f]{8})((?:\..*)?)$/.exec(id) ?? [];
  return (
    <code class="short-id" title={id}>
      {rest === '' ? null : <span class="rest">{rest}</span>}
      {end}
      {tail}
    </code>
  );
}
