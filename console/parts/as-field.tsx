/**
 * As whom the page calls an API on this machine: so that two people on one laptop can be two, as an
 * approval by another person wants it.
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
        // What cannot be in a name is not there either where the name stays the same.
        event.currentTarget.value = calledAs.value;
      }}
    />
  </label>
);
