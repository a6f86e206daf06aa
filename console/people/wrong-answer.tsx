/**
 * What an agent answered whose work is done and whose answer is no output, for the person who
 * says what it should have been.
 */

import type { JSX } from 'preact';
import { CopyButton } from '../parts/copy.tsx';

export function WrongAnswer({ text }: { text: string }): JSX.Element {
  return (
    <figure class="payload">
      <figcaption>
        <span>What it answered</span>
        <CopyButton text={text} what="what it answered" />
      </figcaption>
      <pre tabIndex={0} aria-label="what it answered">
        {text}
      </pre>
    </figure>
  );
}
