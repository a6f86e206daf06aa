/**
 * An agent's answer that is not a valid output, although the work is done. It is shown to the person who
 * enters the right one.
 */

import type { JSX } from 'preact';
import { CopyButton } from '../parts/copy.tsx';

export function WrongAnswer({ text }: { text: string }): JSX.Element {
  return (
    <figure class="payload">
      <figcaption>
        <span>The answer</span>
        <CopyButton text={text} what="the answer" />
      </figcaption>
      <pre tabIndex={0} aria-label="the answer">
        {text}
      </pre>
    </figure>
  );
}
