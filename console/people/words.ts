/** What is said of incidents: why one was opened, what became of it. */

import { callerText, type IncidentView } from '../../lib/api/answers.ts';

export const KIND: Readonly<Record<IncidentView['kind'], string>> = {
  recovery: 'nothing is left to try by itself',
  undo: 'an effect could not be undone',
  pause: 'the pause has lasted its time',
  deadline: 'its time is over, and there is no way back',
};

export function resolvedText({ by, choice, caller, reason }: IncidentView): string {
  const who =
    by === 'person'
      ? caller === undefined
        ? 'a person'
        : callerText(caller)
      : by === 'deadline'
        ? 'nobody answered in time'
        : 'the execution went another way';
  const chose = choice === undefined ? '' : by === 'person' ? ` chose ${choice}` : `: ${choice}`;
  return `${who}${chose}${reason === undefined || reason === '' ? '' : ` (${reason})`}`;
}
