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
      pause:
        'New executions of this workflow start paused, everywhere within 10 s. Executions under way continue.',
      resume:
        'New executions run again. Those that started paused stay paused: resume them in the list of executions.',
    }}
    hold={(given) => api.pauseWorkflow(workflow, given)}
    release={() => api.resumeWorkflow(workflow)}
    done={done}
  />
);
