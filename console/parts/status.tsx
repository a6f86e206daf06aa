/** Shows a status as a sign, a colour and a word, never by colour alone. */

import type { JSX } from 'preact';
import { type AskedBelow, countText } from '../../lib/api/answers.ts';
import { type Tone, toneOf } from '../../lib/view/graph.ts';
import { EXECUTION_MEANS, type ExecutionStatus, STEP_MEANS, type StepStatus } from '../../lib/core/moves.ts';

const TONE_OF_EXECUTION: Readonly<Record<ExecutionStatus, Tone>> = {
  running: 'active',
  waiting: 'waiting',
  paused: 'waiting',
  compensating: 'active',
  'following-up': 'active',
  succeeded: 'done',
  compensated: 'compensated',
  failed: 'failed',
  canceled: 'skipped',
};

export const SIGN: Readonly<Record<Tone, string>> = {
  done: '✓',
  active: '▸',
  waiting: '◷',
  failed: '✕',
  tolerated: '!',
  skipped: '–',
  compensated: '↺',
  pending: '○',
};

/** The tone of a step's status, even of one from a newer release. */
export const toneOfStep = (status: string): Tone => toneOf({ status: status as StepStatus });
export const toneOfExecution = (status: string): Tone =>
  TONE_OF_EXECUTION[status as ExecutionStatus] ?? 'pending';

/** The meaning of a step's status; undefined if this page does not know it. */
export const meaningOfStep = (status: string): string | undefined => STEP_MEANS[status as StepStatus];

interface StatusProps {
  readonly tone: Tone;
  readonly children: string;
  /** The status's meaning, as a tooltip. */
  readonly title?: string | undefined;
}

export function Status({ tone, title, children }: StatusProps): JSX.Element {
  return (
    <span class={`status ${tone}`} title={title}>
      <span class="sign" aria-hidden="true">
        {SIGN[tone]}
      </span>
      {children}
    </span>
  );
}

/** @param asked the open questions in child executions */
export const ExecutionStatusOf = ({
  status,
  asked,
}: {
  status: string;
  asked?: AskedBelow | undefined;
}): JSX.Element =>
  asked === undefined ? (
    <Status tone={toneOfExecution(status)} title={EXECUTION_MEANS[status as ExecutionStatus]}>
      {status}
    </Status>
  ) : (
    <Status tone="waiting">{`${status}, ${countText(asked.count, asked.atLeast)} asked`}</Status>
  );

/** @param told the words to show instead of the status */
export const StepStatusOf = ({ status, told = status }: { status: string; told?: string }): JSX.Element => (
  <Status tone={toneOfStep(status)} title={meaningOfStep(status)}>
    {told}
  </Status>
);
