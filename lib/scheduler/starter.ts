/**
 * The starter: makes a start of each message that a trigger delivers, the answer to a callback, or a message
 * to an execution.
 *
 * Owns: which refusals are permanent, so that the message is set aside for a person instead of tried again.
 * Does not own: the start itself (`start.ts`), the send (`messages.ts`), the mapping (`trigger.ts`), the
 * queues.
 *
 * Nothing is lost: a message is either started or sent, set aside with the reason, or given back to its
 * queue. If its execution does not exist it is given back: that may be about to start.
 */

import { isSteadfastError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { closeCallback } from './callbacks.ts';
import { sendMessage } from './messages.ts';
import { answerOf, type StartMessage, startOf, type Trigger } from './trigger.ts';
import { type Scheduler, start } from './start.ts';

/** Codes for which trying again cannot help: the event, the mapping or the workflow has to be changed. */
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
  /** Also if it was sent to an execution that had been started. */
  | { readonly kind: 'started'; readonly executionId: string }
  | { readonly kind: 'answered' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/**
 * Starts or sends what a message asks for. Rejects if the outcome is unknown: then the message must be
 * delivered again.
 */
export async function startFrom(
  scheduler: Scheduler,
  trigger: Trigger,
  delivered: StartMessage,
): Promise<StartOutcome> {
  const { name, workflow, answers, send } = trigger;
  const by = { kind: 'trigger', name } as const;
  try {
    // However often its sender sends the same bytes, and its queue delivers them.
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
      // The tags are those of the trigger that starts with this key: its later event finds its own start.
      const first = startWith && { ...startWith, tags: { trigger: send.startedBy ?? name } };
      const where = { workflow, key: to, ...defined({ startWith: first }) };
      // Its own key is longer than an id may be.
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
