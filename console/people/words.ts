/** Texts about incidents: why one was opened, and how it was closed. */

import { callerText, type IncidentView } from '../../lib/api/answers.ts';

const KIND: Readonly<Record<IncidentView['kind'], string>> = {
  recovery: 'no automatic attempt is left',
  undo: 'an effect could not be undone',
  pause: 'the pause has reached its time limit',
  deadline: 'its deadline passed, and a point of no return was passed before',
};

/**
 * Why the incident was opened, as words before its failure; '' for a wrong answer, because the failure
 * already says it.
 */
export const whyAsked = ({ kind, wrongAnswer }: Pick<IncidentView, 'kind' | 'wrongAnswer'>): string =>
  wrongAnswer === undefined ? `${KIND[kind]}: ` : '';

export function resolvedText({ closedBy, choice, caller, reason }: IncidentView): string {
  const who =
    closedBy === 'answer'
      ? caller === undefined
        ? 'a person'
        : callerText(caller)
      : closedBy === 'deadline'
        ? 'nobody answered in time'
        : 'the execution moved on';
  const chose = choice === undefined ? '' : closedBy === 'answer' ? ` chose ${choice}` : `: ${choice}`;
  return `${who}${chose}${reason === undefined || reason === '' ? '' : ` (${reason})`}`;
}
