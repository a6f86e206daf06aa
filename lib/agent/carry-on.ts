/**
 * Carries an execution on in one process: if the process also has the next agent's code, it handles that
 * agent's message itself instead of sending it.
 *
 * Owns: disposing of a kept message in exactly one way: it is handled here, or sent. Does not own: which
 * message is kept, and for how long (`kept-message.ts`), how it is handled (`message.ts`).
 */

import type { Ports } from '../core/ports.ts';
import type { Send } from '../core/decisions/decision.ts';
import type { Message } from '../core/decisions/message.ts';
import { errorName } from '../core/values/errors.ts';
import type { PlanCache } from '../engine/plans.ts';
import { type HostedAgent, KeptMessage, type Neighbours } from './kept-message.ts';
import { handleMessage } from './message.ts';

/** Handles a message, then carries the execution on here, as long as its next agent is a neighbour. */
export async function handleAndCarryOn(
  { ports, worker }: HostedAgent,
  plans: PlanCache,
  message: Message,
  deadline: () => number,
  neighbours: Neighbours,
): Promise<'handled' | 'give-back'> {
  const kept = new KeptMessage(neighbours, () => deadline() - ports.clock.now());
  const handOver = async (send: Send): Promise<void> => {
    try {
      const at = await neighbours.of(send);
      const how = await handleMessage(at.ports, plans, at.worker, send.message, deadline, kept);
      if (how === 'handled') return;
    } catch (error) {
      noteFailure(ports, send, error);
    }
    await sent(ports, send);
  };
  try {
    const how = await handleMessage(ports, plans, worker, message, deadline, kept);
    for (let next = kept.take(); next !== undefined; next = kept.take()) await handOver(next);
    return how;
  } finally {
    const left = kept.take();
    if (left !== undefined) await sent(ports, left);
  }
}

/** Never rejects: if a message cannot be sent, the wake time of its execution makes up for it (S12). */
const sent = (ports: Ports, send: Send): Promise<void> =>
  ports.queue.send([send]).catch((error: unknown) => noteFailure(ports, send, error));

function noteFailure({ log }: Ports, { message }: Send, error: unknown): void {
  const { execution: executionId, step, attempt } = message;
  log.note({ what: 'follow-up-failed', executionId, step, attempt, detail: errorName(error) });
}
