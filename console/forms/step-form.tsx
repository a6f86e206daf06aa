/**
 * The form of an answer by hand: the output of a step, or another input for it, by the schema that its
 * workflow has now. Where none is known it is a field of JSON.
 *
 * Owns: where the schema is read. Does not own: the form (`schema-form.tsx`), what the value is for (its
 * caller).
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

/** The answer that is being written. Undefined without a form: then nothing can be confirmed. */
export type Answer = Signal<Writing | undefined>;

export const useAnswer = (): Answer => useSignal<Writing | undefined>(undefined);

interface StepFormProps {
  readonly executionId: string;
  readonly step: string;
  readonly side: 'input' | 'output';
  /** @default as the side is called */
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

/** @param schema without one it is a field of JSON @param first what is in it at first */
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
      // The form of another step may be there already.
      if (into.peek() === writing) into.value = undefined;
    };
  }, []);
  return <SchemaForm writing={writing} label={label} />;
}

/** No schema for a workflow that is not deployed any more, or that only runs as a child. */
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
 * The value.
 * @throws ApiError what is wrong with it, which is said at its fields as well; or that there is no form yet
 */
export function answered(answer: Answer, what: string): Json {
  const writing = answer.peek();
  if (writing !== undefined) return written(writing, what);
  throw new ApiError('not-filled-in', `${what} is not filled in: its form has not loaded yet`);
}

/** Shows at the fields what the API has refused. */
export async function sent<T>(answer: Answer, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const writing = answer.peek();
    if (writing !== undefined) refusedAt(writing, error);
    throw error;
  }
}
