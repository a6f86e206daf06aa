/**
 * The starter: makes a start of each message that a trigger delivers.
 *
 * Owns: which refusals are permanent, so that the message is set aside for a person instead of tried again.
 * Does not own: the start itself (`start.ts`), the mapping (`trigger.ts`), the queues.
 *
 * Nothing is lost: a message is either started, set aside with the reason, or given back to its queue.
 */

import { isSteadfastError } from '../core/values/errors.ts';
import { type StartMessage, startOf, type Trigger } from './trigger.ts';
import { type Scheduler, start } from './start.ts';

/** Codes for which trying again cannot help: the event, the mapping or the workflow has to be changed. */
const FOR_GOOD: ReadonlySet<string> = new Set([
  'bad-event',
  'bad-input',
  'key-reused',
  'too-large',
  'unknown-workflow',
  'unsafe-number',
]);

export type StartOutcome =
  | { readonly kind: 'started'; readonly executionId: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/**
 * Starts what a message asks for. Rejects if the outcome is unknown: then the message must be delivered
 * again.
 */
export async function startFrom(
  scheduler: Scheduler,
  trigger: Trigger,
  message: StartMessage,
): Promise<StartOutcome> {
  try {
    const { input, key } = startOf(trigger, message);
    const { name, workflow } = trigger;
    const execution = await start(scheduler, {
      workflow,
      input,
      idempotencyKey: key,
      tags: { trigger: name },
      by: { kind: 'trigger', name },
    });
    return { kind: 'started', executionId: execution.id };
  } catch (error) {
    if (!isSteadfastError(error) || !FOR_GOOD.has(error.code)) throw error;
    return { kind: 'refused', code: error.code, message: error.message };
  }
}
