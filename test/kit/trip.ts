/** A workflow for testing the test kit: a trip that is booked at two services and then confirmed. */

import {
  type AgentOptions,
  agent,
  done,
  askPerson,
  notDone,
  retry,
  workflow,
  type Workflow,
} from 'steadfast';
import { externalWorld, type ExternalWorld, type TestAgent } from 'steadfast/testing';
import * as z from 'zod/mini';

const Text = z.string().check(z.minLength(1));
const Booking = { input: z.object({ trip: Text }), output: z.object({ booking: Text }) };
const LIMITS = { timeout: '20s', lease: '10s', claimWithin: '10s', lateEffectWithin: '1s' } as const;

export const bookFlight = agent('book-flight', { ...Booking, ...LIMITS, effect: 'probed' });
export const bookHotel = agent('book-hotel', { ...Booking, ...LIMITS, effect: 'idempotent' });
export const confirmTrip = agent('confirm-trip', {
  input: z.object({ flight: Text, hotel: Text }),
  output: z.object({ mail: Text }),
  ...LIMITS,
  effect: 'idempotent',
  undo: 'none',
});

const Input = z.object({ trip: Text });
export type Input = z.infer<typeof Input>;

export const bookTrip: Workflow<Input> = workflow('book-trip', { input: Input, within: '1d' }, (w) => {
  const flight = w.step('flight', bookFlight, { trip: w.input.trip });
  const hotel = w.step('hotel', bookHotel, { trip: w.input.trip }, { recovery: [retry(2)] });
  const confirm = w.step(
    'confirm',
    confirmTrip,
    { flight: flight.output.booking, hotel: hotel.output.booking },
    { recovery: [retry(1), askPerson({ within: '2h' })] },
  );
  return { mail: confirm.output.mail };
});

/** Correct agents with their own outside world. */
export function goodAgents(): { world: ExternalWorld; agents: readonly TestAgent[] } {
  const world = externalWorld();
  return {
    world,
    agents: [
      bookFlight.handler({
        execute: async (ctx) => ({ booking: await world.act(ctx.idempotencyKey, 'flight') }),
        probe: async (ctx) => {
          const booking = await world.find(ctx.idempotencyKey);
          return booking === undefined ? notDone() : done({ booking });
        },
        undo: async (ctx) => world.undo(ctx.idempotencyKey),
      }),
      bookHotel.handler({
        execute: async (ctx) => ({ booking: await world.actOnce(ctx.idempotencyKey, 'hotel') }),
        undo: async (ctx) => world.undo(ctx.idempotencyKey),
      }),
      confirmTrip.handler({
        execute: async (ctx) => ({ mail: await world.actOnce(ctx.idempotencyKey, 'mail') }),
      }),
    ],
  };
}

/** Replaces the good agent of the same name. */
export const insteadOf = (agents: readonly TestAgent[], other: TestAgent): readonly TestAgent[] =>
  agents.map((one) => (one.worker.agent.spec.name === other.worker.agent.spec.name ? other : one));

/** A workflow of one step, for an agent with any options. */
export const oneStep = (options: Partial<AgentOptions<unknown, unknown>> = {}) => {
  const only = agent('only-agent', {
    input: z.any(),
    output: z.any(),
    effect: 'idempotent',
    ...LIMITS,
    undo: 'none',
    ...options,
  });
  return {
    only,
    flow: workflow('one-step', { input: z.any(), within: '1h' }, (w) => void w.step('only', only, {})),
  };
};
