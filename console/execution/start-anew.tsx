/**
 * Starts another execution of the same workflow with the input and tags of one that ended without success,
 * then shows it.
 *
 * Owns: the initial values. Does not own: whether it is offered (the API says so, with `why`).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { api } from '../api.ts';
import { AnswerForm, answered, sent, useAnswer } from '../forms/step-form.tsx';
import { useLive } from '../live.ts';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { Loading } from '../parts/states.tsx';
import { go } from '../router.ts';

interface AnewProps {
  readonly view: ExecutionView;
  readonly means: string;
  readonly close: () => void;
}

export function StartAnew({ view, means, close }: AnewProps): JSX.Element {
  const { executionId: id, workflow, tags } = view;
  const live = useLive(`workflow ${workflow}`, () => api.workflow(workflow), { isOver: () => true });
  const into = useAnswer();
  const key = useSignal('');
  // One key for the form, so that a repeat after a lost answer is the same start.
  const ownKey = useSignal(crypto.randomUUID());
  const act = async (): Promise<void> => {
    const started = await sent(into, () =>
      api.start(workflow, {
        input: answered(into, 'the input'),
        idempotencyKey: key.value === '' ? ownKey.value : key.value,
        replaces: id,
        ...(tags === undefined ? {} : { tags }),
      }),
    );
    go(['executions', started.executionId]);
  };
  return (
    <Dialog
      title={`Start ${workflow} again?`}
      confirm="Start again"
      isReady={into.value !== undefined}
      act={act}
      close={close}
    >
      <p>{means}</p>
      <p>
        <code>{id}</code>
      </p>
      {live.data === undefined && live.error === undefined ? (
        <Loading what="its schema" />
      ) : (
        <AnswerForm side="input" into={into} schema={live.data?.forms?.input} first={view.input} />
      )}
      {view.omitted?.includes('input') === true ? (
        <p class="notice warn">The input is too large for the API to return, so the form starts empty.</p>
      ) : null}
      {tags === undefined ? null : (
        <p class="faint">
          With its tags:{' '}
          {Object.entries(tags)
            .map(([name, value]) => `${name}=${value}`)
            .join(', ')}
        </p>
      )}
      <TextField
        label="Key"
        hint="The same key with the same input returns the same execution. Leave empty to start a new one."
        text={key}
      />
    </Dialog>
  );
}
