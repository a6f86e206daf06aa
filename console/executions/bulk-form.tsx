/**
 * The form of a bulk action: an answer, another input or output, and the step to which it applies.
 *
 * Owns: the fields of each action, and finding their schema. Does not own: whether a value is valid (the API
 * checks it for each execution).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { ANSWERS, type Choice } from '../../lib/api/answers.ts';
import type { BulkAction, BulkOptions } from '../../lib/api/bulk-answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { api } from '../api.ts';
import { type Answer, AnswerForm, answered, useAnswer } from '../forms/step-form.tsx';
import { useLive } from '../live.ts';
import { ChoiceField, TextField, TickField } from '../parts/fields.tsx';
import { Loading } from '../parts/states.tsx';
import { MEANS, SIDE } from '../people/choices.ts';

/** The form's content; undefined for an action without a form. */
export type Filled = Signal<Fields | undefined>;

export interface Fields {
  readonly choice: Signal<Choice>;
  readonly step: Signal<string>;
  readonly comment: Signal<string>;
  readonly nothingHappened: Signal<boolean>;
  readonly payload: Answer;
}

interface FormProps {
  readonly action: BulkAction;
  /** The workflow, if all executions are of one. */
  readonly workflow: string | undefined;
  /** The step, if it is known; without it the form asks for it. */
  readonly of?: string | undefined;
  readonly into: Filled;
}

export function BulkForm(props: FormProps): JSX.Element {
  const { workflow } = props;
  const live = useLive<{ readonly view?: WorkflowView }>(
    `bulk form ${workflow ?? ''}`,
    async () => (workflow === undefined ? {} : { view: await api.workflow(workflow) }),
    { isOver: () => true },
  );
  // Shows a JSON field if the workflow's schema is unknown.
  if (live.data === undefined && live.error === undefined) return <Loading what="its workflow" />;
  return <FieldsOf {...props} view={live.data?.view} />;
}

function FieldsOf({ action, of, into, view }: FormProps & { view: WorkflowView | undefined }): JSX.Element {
  const fields: Fields = {
    choice: useSignal<Choice>('retry'),
    step: useSignal(of ?? ''),
    comment: useSignal(''),
    nothingHappened: useSignal(false),
    payload: useAnswer(),
  };
  useLayoutEffect(() => {
    into.value = fields;
  }, []);
  const { choice, step, comment, nothingHappened, payload } = fields;
  const side = sideOf(action, choice.value);
  const schema = side && view?.forms?.steps?.[step.value]?.[side];
  return (
    <>
      {action === 'resolve' ? (
        <ChoiceField
          label="Answer"
          text={choice as { value: string }}
          options={ANSWERS.map((one) => [one, MEANS[one][0]] as const)}
          hint={MEANS[choice.value][1]}
        />
      ) : null}
      {of === undefined ? <StepField action={action} step={step} view={view} /> : null}
      {side === undefined ? null : (
        <AnswerForm key={`${side} ${step.value}`} side={side} into={payload} schema={schema} />
      )}
      {action === 'resolve' && NEEDS_WORD.has(choice.value) ? (
        <TickField ticked={nothingHappened} label="I have checked: none of their attempts had an effect." />
      ) : null}
      {action === 'approve' ? (
        <TextField label="Comment" hint="For the steps that follow." text={comment} />
      ) : null}
    </>
  );
}

const sideOf = (action: BulkAction, choice: Choice): 'input' | 'output' | undefined =>
  action === 'retry' ? 'input' : action === 'resolve' ? SIDE[choice] : undefined;

/** Choices for which a person must confirm that the attempt had no effect, if the step may have acted. */
const NEEDS_WORD: ReadonlySet<Choice> = new Set(['retry', 'retry-with-input', 'skip', 'undo-all']);

const WHOSE =
  'The step whose question is answered. If you leave it out, executions with several open questions are left as they are.';
const WHICH =
  'The step that asks or has failed. If you leave it out, executions with several such steps are left as they are, and so is an execution in which an attempt may have acted.';
const ANY = ['', 'the only one'] as const;

function StepField({
  action,
  step,
  view,
}: {
  action: BulkAction;
  step: Signal<string>;
  view: WorkflowView | undefined;
}): JSX.Element {
  const isApproval = action === 'approve' || action === 'reject';
  const asks = (kind: string): boolean =>
    isApproval ? kind === 'approval' : kind === 'agent' || kind === 'child';
  const names = (view?.steps ?? []).flatMap(({ name, kind }) => (asks(kind) ? [name] : []));
  const hint = action === 'retry' ? WHICH : WHOSE;
  return names.length === 0 ? (
    <TextField label="Step" hint={hint} text={step} />
  ) : (
    <ChoiceField
      label="Step"
      hint={hint}
      text={step}
      options={[ANY, ...names.map((name) => [name, name] as const)]}
    />
  );
}

/** The options to send. @throws ApiError with the mistake; the fields show it too */
export function filledIn(filled: Filled, action: BulkAction): Partial<BulkOptions> {
  const fields = filled.peek();
  if (fields === undefined) throw new ApiError('not-filled-in', 'the form has not loaded yet');
  const { choice, step, comment, nothingHappened, payload } = fields;
  const side = sideOf(action, choice.value);
  const isChecked = action === 'resolve' && NEEDS_WORD.has(choice.value) && nothingHappened.value;
  return {
    ...(action === 'resolve' ? { choice: choice.value } : {}),
    ...(step.value === '' ? {} : { step: step.value }),
    ...(action === 'approve' && comment.value !== '' ? { comment: comment.value } : {}),
    ...(isChecked ? { nothingHappened: true } : {}),
    ...(side === undefined ? {} : { [side]: answered(payload, `the ${side}`) }),
  };
}
