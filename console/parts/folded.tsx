/** Folds rarely needed content on a phone; on a wide page it is open. */

import type { ComponentChildren, JSX } from 'preact';
import { isNarrow } from './room.ts';

export const Folded = ({
  summary,
  children,
}: {
  summary: string;
  children: ComponentChildren;
}): JSX.Element =>
  isNarrow.value ? (
    <details class="folded">
      <summary>{summary}</summary>
      {children}
    </details>
  ) : (
    <>{children}</>
  );
