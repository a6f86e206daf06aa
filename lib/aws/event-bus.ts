/**
 * The announcer on EventBridge: one event at the end of an execution, one for each change of a question, and
 * one for breakers, agents and executions at risk.
 *
 * Sends at least once: consumers recognise a repeated end by `detail.executionId` and `detail.endedAt`, a
 * repeated change of a question by `incident` or `step`, `change` and `at` together with the id.
 */

import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { refuse } from '../core/values/errors.ts';
import type { Announcer } from '../core/ports.ts';
import { EVENTS } from './names.ts';

export function eventBus(client: EventBridgeClient, busName: string): Announcer {
  const put = async (
    { source, detailType, version }: { source: string; detailType: string; version: string },
    at: number,
    detail: object,
  ): Promise<void> => {
    const answer = await client.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: busName,
            Source: source,
            DetailType: detailType,
            Time: new Date(at),
            Detail: JSON.stringify({ version, ...detail }),
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
  };
  return {
    announce: ({ about, ...news }) => put(EVENTS[about], 'at' in news ? news.at : news.endedAt, news),
  };
}
