/**
 * Shows a payload as indented JSON, cut if it is long, with a button that copies all of it.
 *
 * Owns: how much is shown. Does not own: what an answer leaves out (the API says so).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json } from '../../lib/api/answers.ts';
import { CopyButton } from './copy.tsx';

const SHOWN_CHARS = 2_000;
const MOST_CHARS = 200_000;

const bytesText = (chars: number): string =>
  chars < 1_000 ? `${chars} characters` : `${Math.round(chars / 100) / 10} thousand characters`;

/** Marks the keys in bold with elements, so that text never becomes markup. */
function marked(text: string): (string | JSX.Element)[] {
  return text.split(/("(?:[^"\\\n]|\\.)*")(?=:)/).map((part, index) =>
    index % 2 === 1 ? (
      <span class="key" key={index}>
        {part}
      </span>
    ) : (
      part
    ),
  );
}

export function Payload({ what, value }: { what: string; value: Json | undefined }): JSX.Element {
  const all = useSignal(false);
  const text = value === undefined ? 'none' : JSON.stringify(value, null, 2);
  const limit = all.value ? MOST_CHARS : SHOWN_CHARS;
  const isCut = text.length > limit;
  return (
    <figure class="payload">
      <figcaption>
        <span>{what}</span>
        {value === undefined ? null : (
          <>
            <span class="faint">{bytesText(text.length)}</span>
            <CopyButton text={text} what={what} />
          </>
        )}
      </figcaption>
      <pre tabIndex={0} aria-label={what}>
        {marked(isCut ? text.slice(0, limit) : text)}
      </pre>
      {isCut && !all.value ? (
        <button type="button" class="quiet" onClick={() => (all.value = true)}>
          show all of it
        </button>
      ) : null}
    </figure>
  );
}
