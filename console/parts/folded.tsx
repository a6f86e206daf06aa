/** Content that is seldom needed: open on a wide page, folded on a phone. */

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
