/**
 * The form that answers a callback or an approval. It reads the token only when the answer is sent, and never
 * shows it.
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { type CallbackQuestionView, type Json, pairsText } from '../../lib/api/answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { api } from '../api.ts';
import { type Answer, answered, sent, StepForm, useAnswer } from '../forms/step-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { answering } from './outcome.ts';

type Verdict = 'give' | 'refuse';

interface AnswerProps {
  readonly executionId: string;
  readonly question: CallbackQuestionView;
  readonly done: () => void;
}

const LABEL = {
  approval: { give: 'Approve', refuse: 'Reject' },
  callback: { give: 'Complete', refuse: 'Fail' },
} as const;

export function AnswerCallback({ executionId, question, done }: AnswerProps): JSX.Element {
  const asked = useSignal<Verdict | undefined>(undefined);
  const label = LABEL[question.kind];
  return (
    <div class="answer">
      <div class="buttons">
        <button type="button" class="primary" onClick={() => (asked.value = 'give')}>
          {label.give}
        </button>
        <button type="button" onClick={() => (asked.value = 'refuse')}>
          {label.refuse}
        </button>
      </div>
      {asked.value === undefined ? null : (
        <Asked
          key={asked.value}
          verdict={asked.value}
          executionId={executionId}
          question={question}
          done={done}
          close={() => (asked.value = undefined)}
        />
      )}
    </div>
  );
}

function Asked({
  verdict,
  executionId,
  question,
  done,
  close,
}: AnswerProps & { verdict: Verdict; close: () => void }): JSX.Element {
  const text = useSignal('');
  const output = useAnswer();
  const isWritten = verdict === 'give' && question.kind === 'callback';
  const label = LABEL[question.kind][verdict];
  const act = async (): Promise<void> => {
    const send = async (): Promise<unknown> => {
      const token = await tokenOf(executionId, question.step);
      if (verdict === 'give') return api.completeCallback(token, outputOf(question, text.value, output));
      const code = question.kind === 'approval' ? { code: 'rejected' } : {};
      return api.failCallback(token, { ...code, ...(text.value === '' ? {} : { message: text.value }) });
    };
    await answering(executionId, () => sent(output, send), question.step);
    done();
  };
  return (
    <Dialog
      title={`${label} ‘${question.step}’?`}
      confirm={label}
      grave={verdict === 'refuse'}
      isReady={!isWritten || output.value !== undefined}
      act={act}
      close={close}
    >
      <p>
        Execution <code>{executionId}</code>
      </p>
      {question.shown === undefined ? null : <p>{pairsText(question.shown)}</p>}
      {verdict === 'refuse' ? <p>The step fails, and its workflow decides what follows.</p> : null}
      {isWritten ? (
        <StepForm executionId={executionId} step={question.step} side="output" into={output} />
      ) : (
        <TextField
          label={verdict === 'give' ? 'Comment' : 'Reason'}
          hint={verdict === 'give' ? 'For the steps that follow.' : 'Kept with the step.'}
          text={text}
        />
      )}
    </Dialog>
  );
}

function outputOf({ kind }: CallbackQuestionView, comment: string, output: Answer): Json {
  if (kind === 'callback') return answered(output, 'the output');
  return comment === '' ? {} : { comment };
}

/** @throws ApiError `already-closed` if the step no longer waits for an answer */
async function tokenOf(executionId: string, name: string): Promise<string> {
  const { steps } = await api.get(executionId);
  const step = steps.find((one) => one.name === name);
  if (step?.token !== undefined) return step.token;
  throw new ApiError('already-closed', `'${name}' is ${step?.status ?? 'not there'}`);
}
