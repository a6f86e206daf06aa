/**
 * Prints effects that are or may be in place, for `show`, `cancel`, `resolve` and ends that leave effects.
 */

import type { ExecutionStatus, ExecutionView, IncidentView, Standing, Stopped } from '../lib/api/answers.ts';
import type { Fact } from '../lib/view/text.ts';

/** The status in words. An execution that ends without undo also has the status 'compensating'. */
export const statusText = (status: ExecutionStatus, undo: false | undefined): string =>
  status === 'compensating' && undo === false ? 'ending as it is; nothing is undone' : status;

/**
 * The effects in place of an execution that ended without success or waits for a person. For a running one,
 * its steps show them.
 */
export function standingFacts({
  standing,
  status,
}: Pick<ExecutionView, 'standing' | 'status'>): readonly Fact[] {
  if (standing === undefined || status === 'running') return [];
  return factsOf(standing);
}

const factsOf = (standing: Standing): readonly Fact[] => {
  const { stands, mayStand } = standing;
  if (stands + mayStand === 0) return [['in effect', 'nothing']];
  return [
    ...(stands === 0 ? [] : [['in effect', names(standing, 'stands', stands)] as const]),
    ...(mayStand === 0 ? [] : [['maybe in effect', names(standing, 'may-stand', mayStand)] as const]),
  ];
};

/** The names of effects; one of a child or of a list's part is named by its execution. */
function names(
  { first, view }: Standing,
  effect: Standing['first'][number]['effect'],
  count: number,
): string {
  const shown = first
    .filter((one) => one.effect === effect)
    .map(({ step, executionId }) => (executionId === undefined ? step : `${step} (${executionId})`));
  const more = count > shown.length ? [`and ${count - shown.length} more: GET ${view}`] : [];
  return [shown.join(', '), ...more].filter(Boolean).join(' ');
}

/** The effects that stay if the incident is resolved with 'keep'. */
export function leavesFact({ choices = [] }: IncidentView): readonly Fact[] {
  const { leaves } = choices.find(({ choice }) => choice === 'keep') ?? {};
  return leaves === undefined ? [] : [["'keep' leaves", textOf(leaves)]];
}

const textOf = (standing: Standing): string =>
  factsOf(standing)
    .map(([what, which]) => `${what}: ${which}`)
    .join('; ');

/** The result of a cancel or an answer, in one or two lines. */
export const stoppedText = ({ executionId, status, undo, standing }: Stopped): string =>
  [
    `${executionId}  ${statusText(status, undo)}`,
    ...(standing === undefined || status === 'running' || status === 'waiting'
      ? []
      : [`${undo === false ? 'Nothing is undone; ' : ''}${textOf(standing)}`]),
  ].join('\n');
