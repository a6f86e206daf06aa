/** Shows an agent's invalid output to the person who corrects it; the work itself may be done. */

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
