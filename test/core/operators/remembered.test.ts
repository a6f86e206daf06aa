/** How an execution remembers the commands that it has obeyed. */

import { isMemoryFull, MAX_REMEMBERED, obeyedOf, remembering } from '../../../lib/core/operators/obey.ts';
import type { Command } from '../../../lib/core/decisions/events.ts';
import type { Json } from '../../../lib/core/values/json.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import { NOW } from '../states.ts';

const DAY_MS = 86_400_000;
const of = (commandId?: string, type: Command['type'] = 'pause') =>
  commandId === undefined ? { type } : { type, commandId };
const known = (execution: Pick<Execution, 'commands'>, commandId?: string) =>
  obeyedOf(execution, of(commandId));
const after = (commands: readonly string[], commandId: string | undefined, now = NOW) => ({
  commands: remembering({ commands }, { ...of(commandId), now }),
});
/** Ids of equal length that differ in one place, as a program's ids do. */
const idOf = (number: number): string => `bulk-${String(number).padStart(4, '0')}.execution`;
const filled = (count: number, now = NOW) => {
  let execution: { readonly commands: readonly string[] } = { commands: [] };
  for (let number = 0; number < count; number += 1)
    execution = after(execution.commands, idOf(number), now + number);
  return execution;
};

it('is each command by its id, and when it was obeyed', () => {
  const full = filled(MAX_REMEMBERED);
  for (let number = 0; number < MAX_REMEMBERED; number += 1)
    expect(known(full, idOf(number))).toEqual({ at: NOW + number });
  expect(known(full, idOf(MAX_REMEMBERED))).toBeUndefined();
  expect(known(full, undefined)).toBeUndefined();
  expect(JSON.stringify(full.commands).length).toBeLessThan(8_192);
});

it('is nothing new of a repeated command, nor of one without an id', () => {
  const one = after([], 'c');
  expect(remembering(one, { ...of('c'), now: NOW + 9 })).toBe(one.commands);
  expect(remembering(one, { ...of(), now: NOW + 9 })).toBe(one.commands);
});

it('is kept for thirty days', () => {
  const full = filled(MAX_REMEMBERED);
  expect(isMemoryFull(full, NOW + 30 * DAY_MS - 1)).toBe(true);
  expect(isMemoryFull(full, NOW + 30 * DAY_MS)).toBe(false);
  const later = after(full.commands, 'next', NOW + 30 * DAY_MS + 9);
  expect(known(later, idOf(9))).toBeUndefined();
  expect(known(later, idOf(10))).toEqual({ at: NOW + 10 });
  expect(later.commands).toHaveLength(MAX_REMEMBERED - 9);
});

it('forgets the oldest if there is no room', () => {
  const one = after(filled(MAX_REMEMBERED).commands, 'cancel', NOW + MAX_REMEMBERED);
  expect(one.commands).toHaveLength(MAX_REMEMBERED);
  expect(known(one, idOf(0))).toBeUndefined();
  expect(known(one, idOf(1))).toEqual({ at: NOW + 1 });
  expect(known(one, 'cancel')).toEqual({ at: NOW + MAX_REMEMBERED });
});

it('is of a retry also which questions it is about', () => {
  const commands = remembering({ commands: [] }, { ...of('c'), now: NOW }, 40);
  expect(known({ commands }, 'c')).toEqual({ at: NOW, upTo: 40 });
  expect(after(commands, 'd', NOW + 30 * DAY_MS).commands).toHaveLength(1);
});

describe('of an id that was given to another command', () => {
  const asked: readonly Parameters<typeof obeyedOf>[1][] = [
    { type: 'cancel' },
    { type: 'cancel', undo: false },
    { type: 'pause' },
    { type: 'pause', withinMs: 5 },
    { type: 'pause', withinMs: 6 },
    { type: 'resume' },
    { type: 'retry' },
    { type: 'retry', step: 'a' },
    { type: 'retry', step: 'b', input: 1 },
    { type: 'retry', input: null },
    { type: 'retry', input: { a: 1, b: [2, '3'] } },
    { type: 'retry', input: { a: 1, b: [2, 3] } },
  ];
  const commandId = 'c';
  const pairs = asked.flatMap((one) => asked.map((two) => [one, two] as const));

  it.each(pairs)('%j, then %j', (one, two) => {
    const commands = remembering({ commands: [] }, { ...one, commandId, now: NOW });
    const reworded = { ...two, commandId, reason: 'another' };
    expect(obeyedOf({ commands }, reworded)).toEqual(
      one === two ? { at: NOW } : { at: NOW, other: one.type },
    );
    expect(remembering({ commands }, { ...reworded, now: NOW + 9 })).toBe(commands);
  });

  it('is a repeat in whatever order its input was written', () => {
    const retryOf = (input: Json) => ({ type: 'retry', commandId, input }) as const;
    const commands = remembering({ commands: [] }, { ...retryOf({ a: 1, b: 2 }), now: NOW }, 40);
    expect(obeyedOf({ commands }, retryOf({ b: 2, a: 1 }))).toEqual({ at: NOW, upTo: 40 });
  });
});
