/**
 * The field for the caller's name on a local API. With it, two people at one laptop count as two, as an
 * approval by another person requires.
 */

import type { JSX } from 'preact';
import { calledAs } from '../api.ts';

export const AsField = ({ label }: { label: string }): JSX.Element => (
  <label
    class="as"
    title="On this machine, in this tab: the name under which you start, answer and operate. Up to 64 letters, digits and +=,.@_-; empty means local."
  >
    {label}
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      size={8}
      maxLength={64}
      placeholder="local"
      value={calledAs.value}
      onInput={(event) => {
        calledAs.value = event.currentTarget.value;
        // Removes forbidden characters from the field, even if the stored name stays the same.
        event.currentTarget.value = calledAs.value;
      }}
    />
  </label>
);
