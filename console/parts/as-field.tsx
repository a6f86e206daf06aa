/**
 * The name under which the page calls a local API: two people at one laptop can be two, as an approval by
 * another person needs.
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
        // Removes characters that a name may not have, also if the name itself does not change.
        event.currentTarget.value = calledAs.value;
      }}
    />
  </label>
);
