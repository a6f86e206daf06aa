/**
 * Shows the commands for an execution, and why some are not possible now.
 *
 * Owns: the confirmation of each command. Does not own: whether a command is possible (the API says so, with
 * `why`).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ExecutionView, Reasons } from '../../lib/api/answers.ts';
import type { RetryOptions } from '../../lib/api/call-options.ts';
import { api } from '../api.ts';
import { type Answer, answered, sent, StepForm, useAnswer } from '../forms/step-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ChoiceField, TextField } from '../parts/fields.tsx';
import { Erase } from './erase.tsx';
import { StartAnew } from './start-anew.tsx';

type Command = Reasons['commands'][number]['command'];
/** The commands that act on the execution itself. */
type Obeyed = Exclude<Command, 'replace'>;

interface Wording {
  readonly label: string;
  readonly means: string;
  readonly grave?: true;
}

const WORDING: Readonly<Record<Command, Wording>> = {
  retry: {
    label: 'Retry',
    means:
      'The execution continues where it failed. Open questions that allow a retry are answered with "retry".',
  },
  resume: { label: 'Resume', means: 'The pause ends, and the execution continues.' },
  pause: { label: 'Pause', means: 'Nothing new starts; attempts under way run to their end.' },
  cancel: { label: 'Cancel', means: 'Nothing new starts, and every step that acted is undone.', grave: true },
  'cancel-as-is': {
    label: 'Cancel, undo nothing',
    means: 'Nothing new starts, and the effects of steps that acted stay.',
    grave: true,
  },
  replace: {
    label: 'Start again …',
    means: 'Starts another execution of the same workflow in place of this one. This one stays as it is.',
  },
};
const ORDER = Object.keys(WORDING) as readonly Command[];

interface ActionsProps {
  readonly view: ExecutionView;
  readonly commands: Reasons['commands'];
  readonly isErased: Signal<boolean>;
  readonly done: () => void;
}

export function Actions({ view, commands, isErased, done }: ActionsProps): JSX.Element {
  const asked = useSignal<Command | undefined>(undefined);
  const known = ORDER.flatMap((command) => commands.filter((one) => one.command === command));
  const impossible = known.filter(({ because }) => because !== undefined);
  return (
    <div class="actions">
      <div class="buttons">
        {known
          .filter(({ because }) => because === undefined)
          .map(({ command }) => (
            <button key={command} type="button" onClick={() => (asked.value = command)}>
              {WORDING[command].label}
            </button>
          ))}
        <Erase view={view} isErased={isErased} />
      </div>
      {impossible.length === 0 ? null : (
        <details class="impossible">
          <summary>
            {impossible.length === known.length
              ? 'No command is possible now: reasons'
              : 'Not possible now: reasons'}
          </summary>
          <dl class="facts">
            {impossible.map(({ command, because }) => (
              <div key={command}>
                <dt>{WORDING[command].label}</dt>
                <dd>{because}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {asked.value === undefined ? null : asked.value === 'replace' ? (
        <StartAnew view={view} means={WORDING.replace.means} close={() => (asked.value = undefined)} />
      ) : (
        <Asked
          key={asked.value}
          view={view}
          command={asked.value}
          done={done}
          close={() => (asked.value = undefined)}
        />
      )}
    </div>
  );
}

function Asked({
  view,
  command,
  done,
  close,
}: {
  view: ExecutionView;
  command: Obeyed;
  done: () => void;
  close: () => void;
}): JSX.Element {
  const reason = useSignal('');
  const within = useSignal('');
  const step = useSignal('');
  const input = useAnswer();
  const { executionId: id } = view;
  // One id for each dialog, so that a repeated command is executed once.
  const commandId = useSignal(crypto.randomUUID());
  const { label, means, grave } = WORDING[command];
  const act = async (): Promise<void> => {
    const given = { commandId: commandId.value, ...(reason.value === '' ? {} : { reason: reason.value }) };
    const other = step.value === '' ? {} : { step: step.value, input: answered(input, 'the input') };
    await sent(input, () => send(id, command, { ...given, ...other }, within.value));
    done();
  };
  return (
    <Dialog
      title={`${label} this execution?`}
      confirm={label}
      grave={grave === true}
      isReady={step.value === '' || input.value !== undefined}
      act={act}
      close={close}
    >
      <p>{means}</p>
      <p>
        <code>{id}</code>
      </p>
      <TextField label="Reason" hint="Kept with the execution, for later readers." text={reason} />
      {command === 'retry' ? <OtherInput view={view} step={step} into={input} /> : null}
      {command === 'pause' ? (
        <TextField
          label="At most for"
          hint="After this time, a person is asked. For example 30m, 2h or 7d; leave empty for the workflow's default."
          placeholder="2h"
          text={within}
        />
      ) : null}
    </Dialog>
  );
}

/**
 * A form for another input of a failed step. If the step may have acted, the API refuses the input and says
 * why.
 */
function OtherInput({
  view: { executionId, status, steps },
  step,
  into,
}: {
  view: ExecutionView;
  step: Signal<string>;
  into: Answer;
}): JSX.Element | null {
  const failed = steps.filter((one) => one.status === 'failed' && one.kind === 'agent');
  if (status !== 'failed' || failed.length === 0) return null;
  return (
    <>
      <ChoiceField
        label="With another input"
        hint="A different input is a new request to the external service, under a new idempotency key."
        text={step}
        options={[
          ['', 'no, the same input'],
          ...failed.map(({ name }) => [name, `of step ${name}`] as const),
        ]}
      />
      {step.value === '' ? null : (
        <StepForm key={step.value} executionId={executionId} step={step.value} side="input" into={into} />
      )}
    </>
  );
}

type Given = Pick<RetryOptions, 'reason' | 'step' | 'input'> & { readonly commandId: string };

function send(id: string, command: Obeyed, given: Given, within: string): Promise<unknown> {
  switch (command) {
    case 'cancel':
      return api.cancel(id, given);
    case 'cancel-as-is':
      return api.cancel(id, { ...given, undo: false });
    case 'pause':
      return api.pause(id, within === '' ? given : { ...given, within });
    case 'resume':
      return api.resume(id, given);
    case 'retry':
      return api.retry(id, given);
  }
}
