/** The ways in which a holiday booking fails, and the checks afterwards. */

import type { ApiError, ExecutionStatus, ExecutionView } from 'steadfast/client';
import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Scene, Stage } from '../gallery/example.ts';
import { DEEDS, FULL, type HolidayEntry } from './world.ts';

const start = async ({ client }: Stage, trip: string, hotel = 'Harbour Inn'): Promise<string> => {
  const input = { trip, to: 'Lisbon', hotel, otherHotel: 'Station Hotel' };
  return (await client.start('holiday-booking', { input, idempotencyKey: trip })).executionId;
};

/** Waits for the desk's token; undefined if the trip was undone before the desk was asked. */
const asked = async (
  { world, client, until }: Stage,
  trip: string,
  executionId: string,
): Promise<string | undefined> => {
  const { token } = await until('the request to the desk', async () => {
    const entries = await world.ledger<HolidayEntry>();
    const request = entries.find((entry) => entry.kind === 'request' && entry.trip === trip);
    if (request !== undefined) return request;
    const { status } = await client.get(executionId);
    return status === 'running' ? undefined : { token: undefined };
  });
  return token;
};

/**
 * The desk sends a heartbeat, then confirms. If kills delayed its request for too long, its answer is no
 * longer awaited.
 */
async function answer(stage: Stage, trip: string, executionId: string, confirms: boolean): Promise<void> {
  const token = await asked(stage, trip, executionId);
  if (token === undefined) return;
  try {
    await stage.client.callbacks.heartbeat(token);
    if (confirms) await stage.client.callbacks.complete(token, { by: 'desk 4' });
  } catch (error) {
    if ((error as Partial<ApiError>).status !== 409) throw error;
  }
}

const TOO_LATE: readonly ExecutionStatus[] = ['compensated'];
const orTooLate = (text: (end: ExecutionView) => string) => (end: ExecutionView) =>
  TOO_LATE.includes(end.status) ? 'The desk was asked too late; all was given back.' : text(end);

const scenes: readonly Scene[] = [
  {
    name: 'three-unknown',
    wrong: 'Airline, hotel and rental all book, and all three answers are lost',
    ends: ['succeeded', ...TOO_LATE],
    play: async (stage, trip) => {
      for (const service of ['airline', 'hotels', 'rental'])
        await stage.world.behave({ service, mode: 'drop-reply', times: 1, match: { about: trip } });
      const executionId = await start(stage, trip);
      await answer(stage, trip, executionId, true);
      return executionId;
    },
    tell: orTooLate(
      () =>
        'Three unknown outcomes at once. Airline and rental were asked what they had booked, the hotel was asked again under the same key: one of each.',
    ),
  },
  {
    name: 'hotel-full',
    wrong: 'The hotel is full, there is no car, and the agent that books hotels is killed',
    ends: ['succeeded', ...TOO_LATE],
    play: async (stage, trip) => {
      await stage.world.behave({ service: 'rental', mode: 'decline', match: { about: trip } });
      stage.cloud.kill('book-hotel', { afterCall: 1, operation: 'PutItem' });
      const executionId = await start(stage, trip, FULL);
      await answer(stage, trip, executionId, true);
      return executionId;
    },
    tell: orTooLate(
      ({ output }) =>
        `The other hotel was booked in its place, the car was done without: ${JSON.stringify(output)}.`,
    ),
  },
  {
    name: 'no-flight',
    wrong: 'The airline declines for good, while the hotel’s answer is lost and the rental takes its time',
    ends: ['compensated', 'failed'],
    play: async (stage, trip) => {
      const match = { about: trip };
      await stage.world.behave({ service: 'airline', mode: 'decline', match });
      await stage.world.behave({ service: 'hotels', mode: 'drop-reply', times: 1, match });
      await stage.world.behave({ service: 'rental', mode: 'slow', ms: 2_000, times: 1, match });
      return start(stage, trip);
    },
    tell: () =>
      'What had been booked beside it was given back, also what nobody had an answer of; then customer service was told.',
  },
  {
    name: 'silent-desk',
    wrong: 'The travel desk takes the request, says once that it is at it, and then nothing more',
    ends: ['compensated'],
    play: async (stage, trip) => {
      const executionId = await start(stage, trip);
      await answer(stage, trip, executionId, false);
      return executionId;
    },
    tell: () =>
      'Its heartbeats stopped, so nobody waited half an hour: all was given back, and customer service was told.',
  },
];

export default {
  title:
    'Holiday booking: flight, hotel and car side by side, another hotel if one is full, no car if there is none; a person confirms it.',
  world: 'HOLIDAY_WORLD_URL',
  scenes,
  audit: async ({ stage, played }) =>
    auditDeeds(DEEDS, await stage.world.ledger(), played, ({ scene, end }) => {
      // The only mail goes to the traveller, or to customer service.
      if (end.status !== 'succeeded') return { mail: 1 };
      return { seat: 1, room: 1, car: scene.name === 'hotel-full' ? 0 : 1, request: 1, mail: 1 };
    }),
} satisfies Example;
