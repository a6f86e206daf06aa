/**
 * Shows the pause of a workflow's starts or of an agent's calls, with the dialogs to pause and to resume.
 *
 * Does not own: what is paused (the caller passes it).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { callerText } from '../../lib/api/answers.ts';
import type { BreakerView } from '../../lib/api/agent-answers.ts';
import type { WorkflowPauseView } from '../../lib/api/deployment-answers.ts';
import { settings } from '../api.ts';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';
import { Status } from './status.tsx';
import { Ago, Clock } from './time.tsx';

type Pause = NonNullable<WorkflowPauseView['pause']> | NonNullable<BreakerView['pause']>;
type LastPause = NonNullable<WorkflowPauseView['lastPause']> | NonNullable<BreakerView['lastPause']>;

export interface Held {
  /** The paused thing, such as 'the starts of order-fulfilment'. */
  readonly what: string;
  readonly pause: Pause | undefined;
  readonly lastPause?: LastPause | undefined;
  /** The effects of pausing and of resuming. */
  readonly means: { readonly pause: string; readonly resume: string };
  readonly hold: (given: { readonly reason?: string; readonly within?: string }) => Promise<unknown>;
  readonly release: () => Promise<unknown>;
  /** Whether the pause of each execution has a time limit, after which a person is asked. */
  readonly hasWithin?: true;
  readonly done: () => void;
}

/** Shows who paused it, when and why; nothing if it is not paused. */
export const PausedBy = ({ pause }: { pause: Pause | undefined }): JSX.Element | null =>
  pause === undefined ? null : (
    <span class="paused-by">
      <Status tone="waiting">paused</Status> <Ago at={pause.at} />
      {pause.by === undefined ? null : ` by ${callerText(pause.by)}`}
      {pause.reason === '' ? null : `: ${pause.reason}`}
    </span>
  );

export const LastPaused = ({ lastPause }: { lastPause: LastPause | undefined }): JSX.Element | null =>
  lastPause === undefined ? null : (
    <p class="faint">
      Last paused <Clock at={lastPause.at} /> to <Clock at={lastPause.endedAt} />
      {lastPause.by === undefined ? null : ` by ${callerText(lastPause.by)}`}
      {lastPause.reason === '' ? null : `: ${lastPause.reason}`}
    </p>
  );

export function HoldButton(held: Held): JSX.Element | null {
  const isAsked = useSignal(false);
  const verb = held.pause === undefined ? 'Pause' : 'Resume';
  if (settings.readOnly) return null;
  return (
    <>
      <button type="button" aria-label={`${verb} ${held.what}`} onClick={() => (isAsked.value = true)}>
        {verb} …
      </button>
      {isAsked.value ? <Asked verb={verb} close={() => (isAsked.value = false)} {...held} /> : null}
    </>
  );
}

function Asked({
  verb,
  close,
  what,
  means,
  hold,
  release,
  hasWithin,
  done,
}: Held & { verb: 'Pause' | 'Resume'; close: () => void }): JSX.Element {
  const reason = useSignal('');
  const within = useSignal('');
  const isPause = verb === 'Pause';
  const act = async (): Promise<void> => {
    if (isPause)
      await hold({
        ...(reason.value === '' ? {} : { reason: reason.value }),
        ...(within.value === '' ? {} : { within: within.value }),
      });
    else await release();
    done();
  };
  return (
    <Dialog title={`${verb} ${what}?`} confirm={verb} grave={isPause} act={act} close={close}>
      <p>{isPause ? means.pause : means.resume}</p>
      {isPause ? <TextField label="Reason" hint="For later readers." text={reason} /> : null}
      {isPause && hasWithin === true ? (
        <TextField
          label="Limit for each"
          hint="After this time, a person is asked. For example 30m, 2h or 7d; leave empty for the workflow's default."
          placeholder="2h"
          text={within}
        />
      ) : null}
    </Dialog>
  );
}
