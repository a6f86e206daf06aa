/** Computes the failure rates and durations of a step's attempts in some executions. */

import type { AttemptView, ExecutionView, StepView } from '../../lib/api/answers.ts';
import { INTERRUPTED } from '../../lib/core/values/errors.ts';

/** Whether an attempt failed. Accepted work has not, and an interrupted attempt is not its agent's fault. */
const hasFailed = ({ outcome, failure }: AttemptView): boolean =>
  outcome !== 'done' && outcome !== 'accepted' && failure?.code !== INTERRUPTED;

export interface StepFigures {
  readonly attempts: number;
  readonly failed: number;
  /** The median and the longest duration of the attempts that succeeded. */
  readonly medianMs?: number;
  readonly longestMs?: number;
}

export function figuresOf(name: string, views: readonly ExecutionView[]): StepFigures {
  const steps = views.flatMap((view): StepView[] => view.steps.filter((step) => step.name === name));
  const attempts = steps.flatMap((step) => step.attempts).filter(({ mode }) => mode === 'execute');
  const took = attempts
    .filter(({ outcome }) => outcome === 'done')
    .map(({ claimedAt, endedAt }) => endedAt - claimedAt)
    .sort((one, other) => one - other);
  const median = took[Math.floor(took.length / 2)];
  const longest = took.at(-1);
  return {
    attempts: attempts.length,
    failed: attempts.filter(hasFailed).length,
    ...(median === undefined ? {} : { medianMs: median }),
    ...(longest === undefined ? {} : { longestMs: longest }),
  };
}
