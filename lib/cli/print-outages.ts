/**
 * The openings of an agent's breaker, as text for people.
 *
 * Owns: the words. Does not own: the answers about a deployment as it is now (`print-deployment.ts`).
 */

import type { OutageView } from '../api/deployment-answers.ts';
import { durationText, table, timeText } from './text.ts';

export const outagesText = (items: readonly OutageView[]): string =>
  items.length === 0 ? 'Its breaker has not opened.\n' : items.map(outageText).join('\n');

function outageText({ beganAt, openedAt, closedAt, failure, failed, calls }: OutageView): string {
  const end =
    closedAt === undefined ? 'is open' : `ended ${timeText(closedAt)} (${durationText(closedAt - beganAt)})`;
  const unknown = calls.filter((call) => call.unknown === true);
  const lines = [
    `began ${timeText(beganAt)}, noticed after ${durationText(openedAt - beganAt)}, ${end}: ${failure.code}: ${failure.message}`,
    `${failed} ${failed === 1 ? 'call' : 'calls'} failed${failed > calls.length ? `; of the ${calls.length} that are named` : ','} the outcome of ${unknown.length} was unknown${stillUnknown(unknown)}`,
  ];
  const rows = unknown.map(({ executionId, step, attempt, settled = 'open' }) => [
    executionId,
    step,
    String(attempt),
    BECAME[settled],
  ]);
  const rest = failed - calls.length;
  const more = rest > 0 ? `${rest} more failed than are named\n` : '';
  const shown = rows.length === 0 ? '' : table(['EXECUTION', 'STEP', 'ATTEMPT', 'SETTLED'], rows);
  return `${lines.join('\n')}\n${shown}${more}`;
}

/** What may be doubled or lost is among those that are not settled. */
function stillUnknown(unknown: OutageView['calls']): string {
  const left = unknown.filter(({ settled = 'open' }) => settled === 'open' || settled === 'gone').length;
  if (unknown.length === 0) return '';
  return left === 0 ? ', and all of it is settled' : `, and of ${left} it is not settled`;
}

/** What became of a call whose outcome was unknown. */
export const BECAME: Readonly<Record<NonNullable<OutageView['calls'][number]['settled']>, string>> = {
  done: 'it was done, and counts once',
  'not-done': 'it was not done, and was tried again',
  repeated: 'repeated under the same effect key',
  undone: 'undone',
  person: 'a person, or the default, decided',
  open: 'still unknown',
  gone: 'its history is gone',
};
