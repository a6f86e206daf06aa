/**
 * The values that an approval shows to the approver: those that its `show` names, at the time it was opened.
 *
 * Owns: their evaluation and their bound, which keeps the record and each event about it small. Does not own:
 * the allowed names (`author/checks/check-waiting.ts`), where they are kept (`records/question.ts`).
 */

import type { CallbackStep } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import { type Json, isJsonObject } from '../values/json.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { cut } from '../values/text.ts';
import { scopeOf } from '../step/turn.ts';

/**
 * The most UTF-16 units of one value's text, or of its JSON; of a longer one only the beginning is shown, as
 * text.
 */
export const MAX_SHOWN_CHARS = 500;

/** Values by name; nothing if the approval shows nothing, and no name whose value is missing. */
export function shownBy({ show }: CallbackStep, state: Snapshot): Readonly<Record<string, Json>> | undefined {
  if (show === undefined) return undefined;
  const values = evaluateExpression(show, scopeOf(state));
  if (!isJsonObject(values)) return undefined;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shortened(value)]));
}

function shortened(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MAX_SHOWN_CHARS ? value : `${cut(text, MAX_SHOWN_CHARS - 1)}…`;
}
