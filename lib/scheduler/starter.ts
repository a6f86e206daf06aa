/**
 * The starter: turns each message that a trigger delivers into a start, an answer to a callback, or a message
 * to an execution.
 *
 * Owns: which refusals are permanent, so that the message is set aside for a person instead of tried again.
 * Does not own: the start (`start.ts`), the send (`messages.ts`), the mapping (`trigger.ts`), the queues.
 *
 * No message is lost: it is started or sent, set aside with the reason, or given back to its queue. One whose
 * execution does not exist is given back: it may be about to start.
 */

import { isSteadfastError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { closeCallback } from './callbacks.ts';
import { sendMessage } from './messages.ts';
import { answerOf, type StartMessage, startOf, type Trigger } from './trigger.ts';
import { type Scheduler, start } from './start.ts';

/** Codes that another try cannot change: the event, the mapping or the workflow must be changed. */
const FOR_GOOD: ReadonlySet<string> = new Set([
  'already-closed',
  'bad-event',
  'bad-input',
  'bad-message',
  'bad-output',
  'ended',
  'key-reused',
  'too-large',
  'unknown-callback',
  'unknown-message',
  'unknown-workflow',
  'unsafe-number',
]);

export type StartOutcome =
  /** Also for a message sent to an execution that had been started. */
  | { readonly kind: 'started'; readonly executionId: string }
  | { readonly kind: 'answered' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/**
 * Starts an execution or sends a message, as the queue's message requests. Rejects if the outcome is unknown:
 * then the message must be delivered again.
 */
export async function startFrom(
  scheduler: Scheduler,
  trigger: Trigger,
  delivered: StartMessage,
): Promise<StartOutcome> {
  const { name, workflow, answers, send } = trigger;
  const by = { kind: 'trigger', name } as const;
  try {
    // The same id however often the sender sends the same bytes, and the queue delivers them.
    const id = trigger.from === 'webhook' ? scheduler.hash(delivered.body) : delivered.id;
    const message = { ...delivered, id };
    if (answers !== undefined) {
      const { token, output } = answerOf(trigger, answers, message);
      await closeCallback(scheduler, token, { kind: 'complete', output }, by);
      return { kind: 'answered' };
    }
    const { input, key, to, startWith } = startOf(trigger, message);
    const tags = { trigger: name };
    if (send !== undefined && to !== undefined) {
      // Has the same tags as the starts of the trigger with this key, so that the trigger's later event finds
      // this start.
      const first = startWith && { ...startWith, tags: { trigger: send.startedBy ?? name } };
      const where = { workflow, key: to, ...defined({ startWith: first }) };
      // The key itself may be longer than an id.
      const request = { name: send.message, body: input, id: scheduler.hash(key), by };
      const { executionId } = await sendMessage(scheduler, where, request);
      return { kind: 'started', executionId };
    }
    const execution = await start(scheduler, { workflow, input, idempotencyKey: key, tags, by });
    return { kind: 'started', executionId: execution.id };
  } catch (error) {
    if (!isSteadfastError(error) || !FOR_GOOD.has(error.code)) throw error;
    return { kind: 'refused', code: error.code, message: error.message };
  }
}
