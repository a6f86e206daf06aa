/** `crashEverywhere` names items of lists by the list's step and their index. */

import { PermanentError, workflow } from 'steadfast';
import { crashEverywhere, type CrashOptions } from 'steadfast/testing';
import * as z from 'zod/mini';
import { bookHotel, confirmTrip, goodAgents, insteadOf } from './trip.ts';

const Input = z.object({ guests: z.array(z.string()) });
type Input = z.infer<typeof Input>;

const stay = workflow('stay', { input: z.object({ guest: z.string() }), within: '1d' }, (w) => {
  w.step('bed', bookHotel, { trip: w.input.guest });
});
const group = (what: 'agent' | 'workflow') =>
  workflow('group', { input: Input, within: '1d' }, (w) => {
    const rooms =
      what === 'agent'
        ? w.map('rooms', bookHotel, w.input.guests, (guest) => ({ trip: guest }))
        : w.map('rooms', stay, w.input.guests, (guest) => ({ guest }));
    w.step('mail', confirmTrip, { flight: 'none', hotel: 'several' }, { after: [rooms] });
  });

/** Runs a trip with an undo that does nothing and a last step that fails permanently. */
async function left(what: 'agent' | 'workflow', guests: readonly string[], only?: string) {
  const { world, agents } = goodAgents();
  const forgets = bookHotel.handler({
    execute: async (ctx) => ({ booking: await world.actOnce(ctx.idempotencyKey, 'room') }),
    undo: async () => undefined,
  });
  const scenario: CrashOptions<Input>['scenario'] = (trial, given) => {
    trial.fail(confirmTrip, { times: Infinity, with: new PermanentError('no') });
    return trial.start(given);
  };
  const options = { input: { guests: [...guests] }, agents: insteadOf(agents, forgets), world, scenario };
  return crashEverywhere(group(what), { ...options, ...(only === undefined ? {} : { only }) });
}

it('an item is named by its list and its place, across the parts of a long one', async () => {
  const guests = Array.from({ length: 27 }, (_, n) => `guest ${n}`);
  const { findings } = await left('agent', guests);
  expect(findings.map(({ step }) => step)).toEqual(guests.map((_, n) => `rooms[${n}]`));
  expect(findings[26]?.message).toMatch(
    /^step 'rooms\[26\]': the execution has ended .*, but 'room' was not undone$/,
  );
});

it('a step of a workflow that is run for an item is named with the item', async () => {
  const { findings } = await left('workflow', ['ada', 'ben']);
  expect(findings.map(({ message }) => message.split(':', 1)[0])).toEqual([
    "step 'bed' of 'rooms[0]'",
    "step 'bed' of 'rooms[1]'",
  ]);
});

it('what is struck is named so, too', async () => {
  const { world, agents } = goodAgents();
  const twice = bookHotel.handler({
    execute: async (ctx) => ({ booking: await world.act(ctx.idempotencyKey, 'room') }),
    undo: async (ctx) => world.undo(ctx.idempotencyKey),
  });
  const { findings, text } = await crashEverywhere(group('agent'), {
    input: { guests: ['ada', 'ben'] },
    agents: insteadOf(agents, twice),
    world,
  });
  expect(new Set(findings.map(({ step }) => step))).toEqual(new Set(['rooms[0]', 'rooms[1]']));
  expect(findings.map(({ about }) => about)).toContain("book-hotel executes 'rooms[1]', attempt 1");
  expect(text).toContain("book-hotel writes step 'rooms[1]' as done");
  expect(text).not.toMatch(/'i\d/);
});
