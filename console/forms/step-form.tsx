/**
 * The form for the output or another input of a step, by the schema of the deployed workflow. Without a
 * schema it is one JSON field.
 *
 * Owns: finding the schema. Does not own: the form (`schema-form.tsx`), the use of the value (the caller).
 */

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Json } from '../../lib/api/answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { api } from '../api.ts';
import { useLive } from '../live.ts';
import { Loading } from '../parts/states.tsx';
import { refusedAt, SchemaForm, useWriting, type Writing, written } from './schema-form.tsx';

/** The answer being edited; undefined, and not confirmable, until the form is ready. */
export type Answer = Signal<Writing | undefined>;

export const useAnswer = (): Answer => useSignal<Writing | undefined>(undefined);

interface StepFormProps {
  readonly executionId: string;
  readonly step: string;
  readonly side: 'input' | 'output';
  /** @default the name of the side, input or output */
  readonly label?: string;
  readonly into: Answer;
}

export function StepForm(props: StepFormProps): JSX.Element {
  const { executionId, step, side } = props;
  const live = useLive(`form ${executionId} ${step} ${side}`, () => schemaOf(executionId, step, side), {
    isOver: () => true,
  });
  if (live.data === undefined) return <Loading what="its schema" />;
  const { into, label = LABEL[side] } = props;
  return <AnswerForm side={side} label={label} into={into} schema={live.data.schema} />;
}

const LABEL = { input: 'Input', output: 'Output' } as const;

/** @param schema if undefined, the form is one JSON field @param first the initial value */
export function AnswerForm({
  side,
  label = LABEL[side],
  into,
  schema,
  first,
}: Pick<StepFormProps, 'side' | 'label' | 'into'> & {
  schema: Json | undefined;
  first?: Json | undefined;
}): JSX.Element {
  const writing = useWriting(schema, first);
  useLayoutEffect(() => {
    into.value = writing;
    return () => {
      // Clears only its own form, because another step's may already have replaced it.
      if (into.peek() === writing) into.value = undefined;
    };
  }, []);
  return <SchemaForm writing={writing} label={label} />;
}

/** The schema; undefined if the workflow is no longer deployed, or only runs as a child. */
async function schemaOf(
  executionId: string,
  step: string,
  side: 'input' | 'output',
): Promise<{ readonly schema?: Json }> {
  try {
    const { workflow } = await api.get(executionId);
    const { forms } = await api.workflow(workflow);
    const schema = forms?.steps?.[step]?.[side];
    return schema === undefined ? {} : { schema };
  } catch {
    return {};
  }
}

/**
 * The entered value.
 * @throws ApiError if the value has mistakes, which the fields also show, or if there is no form yet
 */
export function answered(answer: Answer, what: string): Json {
  const writing = answer.peek();
  if (writing !== undefined) return written(writing, what);
  throw new ApiError('not-filled-in', `${what} is not filled in: its form has not loaded yet`);
}

/** Sends the answer, and shows the API's refusals at their fields. */
export async function sent<T>(answer: Answer, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const writing = answer.peek();
    if (writing !== undefined) refusedAt(writing, error);
    throw error;
  }
}
