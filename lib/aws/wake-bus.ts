/**
 * Calls a supervisor by an event on a bus of its own, whose only rule invokes the supervisors' function.
 *
 * Owns: writing and reading the event. Does not own: when a supervisor is called (`engine/wake-up.ts`).
 */

import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { refuse } from '../core/values/errors.ts';
import type { Presence } from '../core/supervision/presence.ts';
import { WAKE_EVENT } from './names.ts';

/** @returns a function that calls a supervisor; it rejects if the bus does not take the event */
export function wakeBus(client: EventBridgeClient, busName: string): (presence: Presence) => Promise<void> {
  return async ({ version, untilAt }) => {
    const answer = await client.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: busName,
            Source: WAKE_EVENT.source,
            DetailType: WAKE_EVENT.detailType,
            Detail: JSON.stringify({ version, untilAt }),
          },
        ],
      }),
    );
    if ((answer.FailedEntryCount ?? 0) > 0) {
      const code = answer.Entries?.[0]?.ErrorCode ?? 'no code';
      throw refuse('wake-up-failed', `the event bus refused the call of a supervisor: ${code}`);
    }
  };
}

/** The presence that an event asks a supervisor to take over; undefined for any other event. */
export function calledBy(event: unknown): Pick<Presence, 'version' | 'untilAt'> | undefined {
  const { 'detail-type': type, detail } = (event ?? {}) as { 'detail-type'?: unknown; detail?: unknown };
  if (type !== WAKE_EVENT.detailType) return undefined;
  const { version, untilAt } = (detail ?? {}) as Partial<Record<keyof Presence, unknown>>;
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(untilAt)) return undefined;
  return { version: Number(version), untilAt: Number(untilAt) };
}
