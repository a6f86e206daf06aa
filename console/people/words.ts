/** What is said of incidents: why one was opened, what became of it. */

import { callerText, type IncidentView } from '../../lib/api/answers.ts';

const KIND: Readonly<Record<IncidentView['kind'], string>> = {
  recovery: 'nothing is left to try by itself',
  undo: 'an effect could not be undone',
  pause: 'the pause has lasted its time',
  deadline: 'its time is over, and there is no way back',
};

/** Why it was opened. */
export const whyAsked = ({ kind, wrongAnswer }: Pick<IncidentView, 'kind' | 'wrongAnswer'>): string =>
  wrongAnswer === undefined ? KIND[kind] : 'its work is done, and its answer cannot be used';

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
