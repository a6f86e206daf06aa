/**
 * The start of an execution: its input as JSON, with the last execution's as an example, and a key that keeps it from being
 * started twice.
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Json } from '../../lib/api/answers.ts';
import { ApiError, exactJson } from '../../lib/api/client.ts';
import { api, problemOf } from '../api.ts';
import { JsonField, TextField } from '../parts/fields.tsx';
import { go } from '../router.ts';

interface StartProps {
  readonly workflow: string;
  readonly latestInput: Json | undefined;
  readonly close: () => void;
}

export function StartForm({ workflow, latestInput, close }: StartProps): JSX.Element {
  const input = useSignal('{}');
  const key = useSignal('');
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  // Sent again without an answer, it is the same start.
  const ownKey = useSignal(crypto.randomUUID());
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = undefined;
    try {
      const idempotencyKey = key.value === '' ? ownKey.value : key.value;
      const started = await api.start(workflow, {
        input: exactJson(input.value, 'the input'),
        idempotencyKey,
      });
      go(['executions', started.executionId]);
    } catch (refused) {
      error.value = refused;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <form class="card start" onSubmit={(event) => void submit(event)} aria-label={`Start ${workflow}`}>
      <h2>Start an execution of {workflow}</h2>
      <JsonField
        label="Input, as JSON"
        text={input}
        problem={problemIn(error.value)}
        hint="Its schema is checked when it is sent."
      />
      {latestInput === undefined ? null : (
        <button
          type="button"
          class="quiet"
          onClick={() => (input.value = JSON.stringify(latestInput, null, 2))}
        >
          Take the input of the latest execution
        </button>
      )}
      <TextField
        label="Key"
        hint="The same key with the same input is the same execution: for example the number of the order. Empty: a new one."
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

/** With all issues of the schema, where there are some. */
function problemIn(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const { details } = error instanceof ApiError ? error : { details: undefined };
  const { issues } = Object(details) as { readonly issues?: unknown };
  const listed = Array.isArray(issues) ? ` ${JSON.stringify(issues)}` : '';
  return `${problemOf(error).what}${listed}`;
}
