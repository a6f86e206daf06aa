/**
 * The announcer on EventBridge: one event at the end of an execution.
 *
 * At least once: consumers recognise a repeated one by `detail.executionId` and `detail.endedAt`.
 */

import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { refuse } from '../core/records/errors.ts';
import type { Announcer } from '../core/ports.ts';
import { ENDED_EVENT } from './names.ts';

export function eventBus(client: EventBridgeClient, busName: string): Announcer {
  return {
    announce: async (ended) => {
      const answer = await client.send(
        new PutEventsCommand({
          Entries: [
            {
              EventBusName: busName,
              Source: ENDED_EVENT.source,
              DetailType: ENDED_EVENT.detailType,
              Time: new Date(ended.endedAt),
              Detail: JSON.stringify({ version: ENDED_EVENT.version, ...ended }),
            },
          ],
        }),
      );
      if ((answer.FailedEntryCount ?? 0) > 0) {
        throw refuse(
          'announce-failed',
          `the event bus refused the event: ${answer.Entries?.[0]?.ErrorCode ?? 'no code'}`,
        );
      }
    },
  };
}
