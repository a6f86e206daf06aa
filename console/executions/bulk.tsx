/**
 * One command to all that are selected: first how many and which, then one after the other, each under an id of its own, so that a
 * command is obeyed once even if it is sent twice.
 *
 * Owns: the question, the progress, what became of each. Does not own: the command itself (the API says what is possible).
 */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiError } from '../../lib/api/client.ts';
import { api } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';

type Verb = 'retry' | 'pause' | 'resume' | 'cancel';

const VERBS: readonly (readonly [Verb, string])[] = [
  ['retry', 'Retry'],
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['cancel', 'Cancel'],
];
const AT_A_TIME = 4;
const EXAMPLES = 10;

interface BulkProps {
  readonly ids: readonly string[];
  readonly clear: () => void;
  readonly done: () => void;
}

interface Outcome {
  readonly obeyed: number;
  /** By reason, how many. */
  readonly refused: ReadonlyMap<string, number>;
}

export function Bulk({ ids, clear, done }: BulkProps): JSX.Element {
  const asked = useSignal<Verb | undefined>(undefined);
  const outcome = useSignal<Outcome | undefined>(undefined);
  return (
    <div class="bulk" role="region" aria-label="Selected executions">
      <strong>{ids.length} selected</strong>
      {VERBS.map(([verb, label]) => (
        <button key={verb} type="button" disabled={ids.length === 0} onClick={() => (asked.value = verb)}>
          {label} …
        </button>
      ))}
      <button type="button" class="quiet" disabled={ids.length === 0} onClick={clear}>
        select none
      </button>
      <span class="faint">x selects, arrows move, Enter opens</span>
      {outcome.value === undefined ? null : <Result outcome={outcome.value} />}
      {asked.value === undefined ? null : (
        <Asked
          verb={asked.value}
          ids={ids}
          close={() => (asked.value = undefined)}
          done={(one) => {
            outcome.value = one;
            clear();
            done();
          }}
        />
      )}
    </div>
  );
}

const Result = ({ outcome: { obeyed, refused } }: { outcome: Outcome }): JSX.Element => (
  <div class="notice" role="status">
    <p>{obeyed} obeyed.</p>
    {[...refused].map(([reason, count]) => (
      <p key={reason}>
        {count} not: {reason}
      </p>
    ))}
  </div>
);

function Asked({
  verb,
  ids,
  close,
  done,
}: {
  verb: Verb;
  ids: readonly string[];
  close: () => void;
  done: (outcome: Outcome) => void;
}): JSX.Element {
  const reason = useSignal('');
  const over = useSignal(0);
  const bulk = useSignal(crypto.randomUUID());
  const [, label] = VERBS.find(([one]) => one === verb) ?? [verb, verb];
  const act = async (): Promise<void> => {
    done(await toAll(verb, ids, bulk.value, reason.value, () => (over.value += 1)));
  };
  return (
    <Dialog
      title={`${label} ${ids.length} executions?`}
      confirm={label}
      grave={verb === 'cancel'}
      act={act}
      close={close}
    >
      <ul class="ids">
        {ids.slice(0, EXAMPLES).map((id) => (
          <li key={id}>{id}</li>
        ))}
      </ul>
      {ids.length > EXAMPLES ? <p class="faint">and {ids.length - EXAMPLES} more</p> : null}
      <p class="faint">
        What does not apply to one of them is said afterwards. Keep the page open until it is done.
      </p>
      <TextField label="Reason" hint="Kept with each execution." text={reason} />
      {over.value === 0 ? null : (
        <p role="status">
          {over.value} of {ids.length}
        </p>
      )}
    </Dialog>
  );
}

async function toAll(
  verb: Verb,
  ids: readonly string[],
  bulk: string,
  reason: string,
  step: () => void,
): Promise<Outcome> {
  const refused = new Map<string, number>();
  let obeyed = 0;
  const one = async (at: number): Promise<void> => {
    const id = ids[at];
    if (id === undefined) return;
    try {
      await api[verb](id, { commandId: `${bulk}.${id}`.slice(0, 128), ...(reason === '' ? {} : { reason }) });
      obeyed += 1;
    } catch (error) {
      const what = error instanceof ApiError ? `${error.code}: ${sameFor(error.message, id)}` : String(error);
      refused.set(what, (refused.get(what) ?? 0) + 1);
    }
    step();
    await one(at + AT_A_TIME);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, (_, lane) => one(lane)));
  return { obeyed, refused };
}

/** The same reason of many is said once. */
const sameFor = (message: string, id: string): string => message.replaceAll(id, '…');
