/**
 * Reports the settings that a person made through the local cloud's control and that a restart loses: armed
 * faults, and disabled schedules.
 *
 * Owns: the message about them. Does not own: the restart (`system.ts`), the control (`local/control`).
 */

import type { Control } from '../../local/control/control.ts';

export interface SetByHand {
  /** Texts such as "kill order-agent". */
  readonly faults: readonly string[];
  readonly schedulesOff: readonly string[];
}

export const setByHand = ({
  cloud: { control },
}: {
  readonly cloud: { readonly control: Pick<Control, 'faults' | 'schedules'> };
}): SetByHand => ({
  faults: control
    .faults()
    .filter(({ state }) => state === 'armed')
    .map(({ action, functionName }) => `${action} ${functionName}`),
  schedulesOff: control
    .schedules()
    .filter(({ enabled }) => !enabled)
    .map(({ name }) => name),
});

/** @returns '' if nothing was lost; schedules that the template disables are not lost */
export function lostText(before: SetByHand, after: SetByHand): string {
  const schedules = before.schedulesOff.filter((name) => !after.schedulesOff.includes(name));
  const lines = [
    ...(before.faults.length === 0
      ? []
      : [`Faults that were set by hand are gone: ${before.faults.join(', ')}.`]),
    ...(schedules.length === 0
      ? []
      : [`Schedules that were switched off by hand run again: ${schedules.join(', ')}.`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
