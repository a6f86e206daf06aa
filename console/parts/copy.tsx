/** A short text with a button that copies it. */

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
 * Shows the last digits of an id, because ids of about the same time begin alike; for a child execution, the
 * number after the dot. The tooltip has the whole id. The rest is also in the page, invisibly small, for
 * copying and searching.
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
