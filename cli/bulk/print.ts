/** Prints bulk actions: the executions found, and the progress. */

import type { BulkView } from '../../lib/api/bulk-answers.ts';
import { printable, table, timeText } from '../../lib/view/text.ts';

/** The number of affected executions, and the first of them. */
export function foundText({ action, count, leftOut, examples = [] }: BulkView): string {
  if (count === 0) return `No execution matches for ${action}.\n${leftOutText(leftOut, action)}`;
  const rows = examples.map((item) => [
    item.executionId,
    item.workflow,
    item.status,
    timeText(item.startedAt),
    printable(item.code ?? ''),
  ]);
  const more = count - examples.length;
  return [
    `To ${action}: ${count} ${count === 1 ? 'execution' : 'executions'}\n`,
    leftOutText(leftOut, action),
    rows.length === 0 ? '' : table(['EXECUTION', 'WORKFLOW', 'STATUS', 'STARTED', 'CODE'], rows),
    more > 0 ? `and ${more} more\n` : '',
  ].join('');
}

const leftOutText = (count: number, action: string): string =>
  count === 0
    ? ''
    : `Left out: ${count}; their status does not allow ${action}${action === 'retry' ? REPLACE : ''}\n`;

const REPLACE = '; start compensated or canceled executions again with: start <workflow> --replaces <id>';

/** The progress, and the refusals by code. */
export function progressText(view: BulkView): string {
  const { action, status, count, progress, executionStatus } = view;
  const { acted, applied, refused } = progress ?? { acted: 0, applied: 0, refused: [] };
  const held = executionStatus === 'paused' ? `, ${executionStatus}` : '';
  const lines = refused.flatMap(({ code, count: many, examples }) => [
    `  ${many} × ${code}`,
    ...examples.slice(0, 3).map(({ executionId, message }) => `    ${executionId}: ${printable(message)}`),
  ]);
  return [
    `${action}: ${status}${held}, ${acted} of ${count} processed, ${applied} applied`,
    ...(lines.length === 0 ? [] : ['It does not apply, or no longer applies, to:', ...lines]),
    '',
  ].join('\n');
}
