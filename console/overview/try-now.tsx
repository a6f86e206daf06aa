/**
 * The button that tries an agent with an open breaker now, and the result.
 *
 * Owns: when it is offered. Does not own: what it does (`lib/scheduler/try-now.ts`), the words of the answer.
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Finding } from '../../lib/api/answers.ts';
import type { AgentTriedNow, BreakerView } from '../../lib/api/agent-answers.ts';
import { triedNowText } from '../../lib/view/deployment.ts';
import { api, settings } from '../api.ts';
import { now } from '../clock.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Prose } from '../parts/time.tsx';

interface Tried {
  readonly agent: string;
  readonly breaker: BreakerView;
  readonly waits: Finding | undefined;
  readonly done: () => void;
}

/** Whether executions wait because of the breaker. */
const isAwaited = ({ status }: BreakerView, waits: Finding | undefined): boolean =>
  status === 'open' || status === 'half-open' || (status === 'closed' && waits?.why === 'breaker');

export function TryNow({ agent, breaker, waits, done }: Tried): JSX.Element | null {
  const isAsked = useSignal(false);
  const tried = useSignal<AgentTriedNow | undefined>(undefined);
  const act = async (): Promise<void> => {
    tried.value = await api.tryAgentNow(agent);
    done();
  };
  const isOffered = !settings.readOnly && isAwaited(breaker, waits);
  return (
    <>
      {isOffered ? (
        <button type="button" aria-label={`Try now: ${agent}`} onClick={() => (isAsked.value = true)}>
          Try now …
        </button>
      ) : null}
      {tried.value === undefined ? null : (
        <p role="status">
          <Prose text={triedNowText(tried.value, now.peek(), (line) => `npx steadfast ${line}`)} />
        </p>
      )}
      {isAsked.value ? (
        <Dialog title={`Try ${agent} now?`} confirm="Try now" act={act} close={() => (isAsked.value = false)}>
          <p>
            {breaker.status === 'closed'
              ? 'What still waits for its turn is sent now.'
              : 'One step that waits is sent now. If its service answers, the breaker closes; if not, it opens again.'}
          </p>
        </Dialog>
      ) : null}
    </>
  );
}
