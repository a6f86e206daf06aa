/**
 * Shows the last executions of a workflow as a grid: a column for each, the oldest on the left, and a row for
 * each step, with its failure rate and durations.
 */

import type { JSX } from 'preact';
import type { ExecutionView } from '../../lib/api/answers.ts';
import type { WorkflowStepView } from '../../lib/api/deployment-answers.ts';
import { stateText } from '../../lib/view/waiting-steps.ts';
import { durationText } from '../../lib/view/text.ts';
import { now } from '../clock.ts';
import { executionLink } from '../execution/head.tsx';
import { toneOfExecution, toneOfStep, SIGN } from '../parts/status.tsx';
import { clockText } from '../parts/time.tsx';
import { figuresOf } from './figures.ts';

interface GridProps {
  readonly steps: readonly WorkflowStepView[];
  readonly views: readonly ExecutionView[];
}

export function Grid({ steps, views }: GridProps): JSX.Element {
  const columns = views.toReversed();
  const longest = Math.max(1, ...columns.map(tookOf));
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Executions by step">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Attempts failed</th>
            <th scope="col">Median, longest</th>
            {columns.map((view) => (
              <th key={view.executionId} scope="col" class="column">
                <Column view={view} longest={longest} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map(({ name }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <Figures name={name} views={views} />
              {columns.map((view) => (
                <Cell key={view.executionId} view={view} name={name} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const tookOf = ({ startedAt, endedAt }: ExecutionView): number => (endedAt ?? now.peek()) - startedAt;

const BAR = 34;

/** A column; its height shows the execution's duration, and it links to the execution. */
function Column({ view, longest }: { view: ExecutionView; longest: number }): JSX.Element {
  const took = tookOf(view);
  const tone = toneOfExecution(view.status);
  const height = Math.max(2, Math.round((took / longest) * BAR));
  const words = `${view.status}, ${durationText(took)}, ${clockText(view.startedAt)}`;
  return (
    <a
      href={executionLink(view.executionId)}
      aria-label={`${view.executionId}: ${words}`}
      title={`${view.executionId}\n${words}`}
    >
      <svg width="12" height={BAR} aria-hidden="true">
        <rect class={`column ${tone}`} x="1" y={BAR - height} width="10" height={height} rx="1.5" />
      </svg>
      <span class={`cell ${tone}`} aria-hidden="true">
        {SIGN[tone]}
      </span>
    </a>
  );
}

function Cell({ view, name }: { view: ExecutionView; name: string }): JSX.Element {
  const step = view.steps.find((one) => one.name === name);
  if (step === undefined) return <td />;
  const tone = toneOfStep(step.status);
  const state = stateText(step, view);
  const tries = (step.attempt ?? 1) > 1 ? `, ${step.attempt} attempts` : '';
  return (
    <td>
      <a
        class={`cell ${tone}`}
        tabIndex={-1}
        href={executionLink(view.executionId, name)}
        title={`${name}: ${state}${tries}`}
      >
        <span aria-hidden="true">{SIGN[tone]}</span>
        <span class="hidden">{state}</span>
      </a>
    </td>
  );
}

function Figures({ name, views }: { name: string; views: readonly ExecutionView[] }): JSX.Element {
  const { attempts, failed, medianMs, longestMs } = figuresOf(name, views);
  return (
    <>
      <td class="number">
        {attempts === 0 ? '–' : `${Math.round((failed / attempts) * 100)} % (${failed} of ${attempts})`}
      </td>
      <td class="number">
        {medianMs === undefined ? '–' : `${durationText(medianMs)}, ${durationText(longestMs ?? medianMs)}`}
      </td>
    </>
  );
}
