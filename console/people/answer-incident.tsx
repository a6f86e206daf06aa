/**
 * The form that answers an incident: the choices that are safe now, and why others are not, or need a
 * person's confirmation.
 *
 * Does not own: which choices are safe (the API says so).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Choice, IncidentView } from '../../lib/api/answers.ts';
import type { ResolveOptions } from '../../lib/api/call-options.ts';
import { api } from '../api.ts';
import { now } from '../clock.ts';
import { type Answer, answered, sent, StepForm, useAnswer } from '../forms/step-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField, TickField } from '../parts/fields.tsx';
import { Until } from '../parts/time.tsx';
import { GRAVE, MEANS, SIDE } from './choices.ts';
import { answering } from './outcome.ts';

interface AnswerProps {
  readonly executionId: string;
  readonly incident: IncidentView;
  readonly done: () => void;
}

export function AnswerIncident({ executionId, incident, done }: AnswerProps): JSX.Element {
  const asked = useSignal<Choice | undefined>(undefined);
  const { choices = [] } = incident;
  return (
    <div class="answer">
      <div class="buttons">
        {choices.map(({ choice, notBefore }) => {
          const isEarly = notBefore !== undefined && notBefore > now.value;
          return (
            <button key={choice} type="button" disabled={isEarly} onClick={() => (asked.value = choice)}>
              {MEANS[choice][0]}
              {isEarly ? (
                <small>
                  {' '}
                  possible <Until at={notBefore} />
                </small>
              ) : null}
            </button>
          );
        })}
      </div>
      {choices.length === 0 ? <p class="faint">No answer is possible: the execution has moved on.</p> : null}
      {asked.value === undefined ? null : (
        <Asked
          key={asked.value}
          choice={asked.value}
          executionId={executionId}
          incident={incident}
          done={done}
          close={() => (asked.value = undefined)}
        />
      )}
    </div>
  );
}

function Asked({
  choice,
  executionId,
  incident,
  done,
  close,
}: AnswerProps & { choice: Choice; close: () => void }): JSX.Element {
  const reason = useSignal('');
  const nothingHappened = useSignal(false);
  const value = useAnswer();
  const side = SIDE[choice];
  const [label, means] = MEANS[choice];
  const offered = incident.choices?.find((one) => one.choice === choice);
  const act = async (): Promise<void> => {
    const send = (): Promise<unknown> =>
      api.resolve(executionId, incident.number, {
        choice,
        ...(reason.value === '' ? {} : { reason: reason.value }),
        ...(offered?.needs === undefined ? {} : { nothingHappened: nothingHappened.value }),
        ...payloadOf(choice, value),
      });
    await answering(executionId, () => sent(value, async () => send()));
    done();
  };
  return (
    <Dialog
      title={`${label}?`}
      confirm={label}
      grave={GRAVE.has(choice)}
      isReady={side === undefined || value.value !== undefined}
      act={act}
      close={close}
    >
      <p>{means}</p>
      {offered?.leaves === undefined ? null : (
        <p class="notice warn">
          It leaves {offered.leaves.stands} in effect
          {offered.leaves.mayStand === 0 ? '' : ` and ${offered.leaves.mayStand} possibly in effect`}
          {offered.leaves.first.length === 0
            ? ''
            : `: ${offered.leaves.first.map(({ step }) => step).join(', ')}`}
          .
        </p>
      )}
      {offered?.needs === undefined ? null : (
        <TickField ticked={nothingHappened} label="I have checked: no attempt had an effect." />
      )}
      {side === undefined ? null : (
        <StepForm executionId={executionId} step={incident.step ?? ''} side={side} into={value} />
      )}
      <TextField label="Reason" hint="Kept with the incident, for later readers." text={reason} />
    </Dialog>
  );
}

function payloadOf(choice: Choice, value: Answer): Pick<ResolveOptions, 'input' | 'output'> {
  if (choice === 'retry-with-input') return { input: answered(value, 'the input') };
  return choice === 'give-output' ? { output: answered(value, 'the output') } : {};
}
