/**
 * The form that sends a message to an execution for a step that waits for one.
 *
 * Owns: the id by which a repeated message counts once. Does not own: which step takes it.
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { api } from '../api.ts';
import { answered, sent, StepForm, useAnswer } from '../forms/step-form.tsx';
import { Dialog } from '../parts/dialog.tsx';

interface SendProps {
  readonly executionId: string;
  /** The step that waits for the message, and the message's name. */
  readonly step: string;
  readonly message: string;
  readonly done: () => void;
}

export function SendMessage(props: SendProps): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <div class="buttons">
      <button type="button" onClick={() => (isOpen.value = true)}>
        Send ‘{props.message}’ …
      </button>
      {isOpen.value ? <Sending {...props} close={() => (isOpen.value = false)} /> : null}
    </div>
  );
}

function Sending({
  executionId,
  step,
  message,
  done,
  close,
}: SendProps & { close: () => void }): JSX.Element {
  const body = useAnswer();
  // The message's id, the same if it is sent again after a lost answer.
  const id = useRef(crypto.randomUUID());
  const act = async (): Promise<void> => {
    await sent(body, async () =>
      api.send({ executionId }, message, answered(body, 'the message'), { id: id.current }),
    );
    done();
  };
  return (
    <Dialog
      title={`Send ‘${message}’?`}
      confirm="Send"
      isReady={body.value !== undefined}
      act={act}
      close={close}
    >
      <p>
        Execution <code>{executionId}</code>. A step takes the message once, now or when its turn has come.
      </p>
      <StepForm executionId={executionId} step={step} side="output" label="Message" into={body} />
    </Dialog>
  );
}
