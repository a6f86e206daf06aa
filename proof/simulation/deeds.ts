/**
 * Finds a command's effect on an execution from the records before and after a write.
 *
 * Owns: assigning a change to a command. Does not own: the writer, and whether it was allowed
 * (`oracle-bulks.ts`, `oracle-commands.ts`).
 */

import { asCallback, asIncident } from '../../lib/core/records/question.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution } from '../../lib/core/records/state.ts';

export interface Deed {
  /** The effect; 'remembered' if nothing had to change. */
  readonly what:
    | 'retried'
    | 'canceled'
    | 'paused'
    | 'resumed'
    | 'resolved'
    | 'approved'
    | 'rejected'
    | 'remembered';
  /** When the command's subject failed, or when its question was opened. */
  readonly since?: number;
  /** The question that was answered. */
  readonly incident?: number;
}

export function deedsIn(before: Snapshot, { execution, step, question }: Write): Deed[] {
  const [incident, asked] = [asIncident(question), asCallback(question)];
  const known = incident && before.questions?.[incident.number];
  const isAnswered =
    incident?.closedBy === 'answer' && incident.closedAt !== undefined && known?.closedAt === undefined;
  const ofExecution = execution && deedIn(before.execution, execution);
  // A write that ends a pause also answers the question about it.
  if (isAnswered && ofExecution?.what !== 'resumed')
    return [{ what: 'resolved', since: incident.openedAt, incident: incident.number }];
  if (ofExecution !== undefined) return [ofExecution];
  if (asked?.closedBy !== 'answer' || before.questions?.[asked.step]?.closedAt !== undefined) return [];
  return [{ what: step?.failure === undefined ? 'approved' : 'rejected', since: asked.openedAt }];
}

function deedIn(before: Execution, after: Execution): Deed | undefined {
  const { endedAt: since } = before;
  if (after.epoch > before.epoch) return { what: 'retried', ...(since === undefined ? {} : { since }) };
  if (after.cause?.kind === 'cancel' && before.cause === undefined) return { what: 'canceled' };
  if (after.pauses?.at(-1)?.number !== before.pauses?.at(-1)?.number) return { what: 'paused' };
  const isHeld = before.status === 'paused';
  if (isHeld && (after.status === 'running' || after.status === 'waiting')) return { what: 'resumed' };
  return after.commands.join() === before.commands.join() ? undefined : { what: 'remembered' };
}
