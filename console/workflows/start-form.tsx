/**
 * The form that starts an execution. The input is edited by its schema or as JSON, and begins with the
 * author's example or the last execution's input. A key prevents a second start.
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json } from '../../lib/api/answers.ts';
import type { WorkflowForms } from '../../lib/api/deployment-answers.ts';
import { ApiError } from '../../lib/api/client.ts';
import { api, problemOf } from '../api.ts';
import { refusedAt, SchemaForm, useWriting, write, type Writing, written } from '../forms/schema-form.tsx';
import { TextField } from '../parts/fields.tsx';
import { go } from '../router.ts';

interface StartProps {
  readonly workflow: string;
  readonly forms: WorkflowForms | undefined;
  readonly latestInput: Json | undefined;
  readonly close: () => void;
}

export function StartForm({ workflow, forms = {}, latestInput, close }: StartProps): JSX.Element {
  const writing = useWriting(forms.input, forms.example);
  const key = useSignal('');
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  // One key for the form, so that a repeat after a lost answer is the same start.
  const ownKey = useSignal(crypto.randomUUID());
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = undefined;
    try {
      const idempotencyKey = key.value === '' ? ownKey.value : key.value;
      const started = await api.start(workflow, {
        input: written(writing, 'the input'),
        idempotencyKey,
      });
      go(['executions', started.executionId]);
    } catch (refused) {
      error.value = refusedAt(writing, refused) ? undefined : refused;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <form class="card start" onSubmit={(event) => void submit(event)} aria-label={`Start ${workflow}`}>
      <h2>Start an execution of {workflow}</h2>
      <SchemaForm
        writing={writing}
        label="Input"
        hint="The input is checked against its schema when you send it."
        problem={problemIn(error.value)}
      />
      <div class="buttons">
        {forms.example === undefined ? null : (
          <Take what="the example" value={forms.example} writing={writing} />
        )}
        {latestInput === undefined ? null : (
          <Take what="the input of the latest execution" value={latestInput} writing={writing} />
        )}
      </div>
      <TextField
        label="Key"
        hint="The same key with the same input returns the same execution; use the order number, for example. Leave empty to start a new one."
        text={key}
      />
      <div class="buttons">
        <button type="button" onClick={close}>
          Leave it
        </button>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? 'Under way …' : 'Start'}
        </button>
      </div>
    </form>
  );
}

const Take = ({ what, value, writing }: { what: string; value: Json; writing: Writing }): JSX.Element => (
  <button type="button" class="quiet" onClick={() => write(writing, value)}>
    Take {what}
  </button>
);

/** Describes an error, with all issues of the schema. */
function problemIn(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const { details } = error instanceof ApiError ? error : { details: undefined };
  const { issues } = Object(details) as { readonly issues?: unknown };
  const listed = Array.isArray(issues) ? ` ${JSON.stringify(issues)}` : '';
  return `${problemOf(error).what}${listed}`;
}
