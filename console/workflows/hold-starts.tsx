/** Pauses and resumes the starts of a workflow. */

import type { JSX } from 'preact';
import type { WorkflowPauseView } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';
import { HoldButton } from '../parts/hold.tsx';

export const HoldStarts = ({
  workflow: { workflow, pause },
  done,
}: {
  workflow: WorkflowPauseView;
  done: () => void;
}): JSX.Element => (
  <HoldButton
    what={`the starts of ${workflow}`}
    pause={pause}
    hasWithin
    means={{
      pause: 'What is started of it is born paused, within 10 s everywhere. What is under way goes on.',
      resume:
        'What is started from now on runs. What was born paused stays so: resume it in the list of executions.',
    }}
    hold={(given) => api.pauseWorkflow(workflow, given)}
    release={() => api.resumeWorkflow(workflow)}
    done={done}
  />
);
