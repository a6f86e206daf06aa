/** What an execution remembers of the commands that it has obeyed. */

import {
  isMemoryFull,
  MAX_REMEMBERED,
  obeyedOf,
  remembering,
} from '../../../lib/core/operators/remembered.ts';
import { NOW } from '../states.ts';

const DAY_MS = 86_400_000;
const after = (commands: readonly string[], commandId: string | undefined, now = NOW) => ({
  commands: remembering({ commands }, commandId === undefined ? { now } : { commandId, now }),
});
/** Ids of one length that differ in one place, as those of a program do. */
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
    expect(obeyedOf(full, idOf(number))).toEqual({ at: NOW + number });
  expect(obeyedOf(full, idOf(MAX_REMEMBERED))).toBeUndefined();
  expect(obeyedOf(full, undefined)).toBeUndefined();
  expect(JSON.stringify(full.commands).length).toBeLessThan(8_192);
});

it('is nothing new of a repeated command, nor of one without an id', () => {
  const one = after([], 'c');
  expect(remembering(one, { commandId: 'c', now: NOW + 9 })).toBe(one.commands);
  expect(remembering(one, { now: NOW + 9 })).toBe(one.commands);
});

it('is kept for thirty days', () => {
  const full = filled(MAX_REMEMBERED);
  expect(isMemoryFull(full, NOW + 30 * DAY_MS - 1)).toBe(true);
  expect(isMemoryFull(full, NOW + 30 * DAY_MS)).toBe(false);
  const later = after(full.commands, 'next', NOW + 30 * DAY_MS + 9);
  expect(obeyedOf(later, idOf(9))).toBeUndefined();
  expect(obeyedOf(later, idOf(10))).toEqual({ at: NOW + 10 });
  expect(later.commands).toHaveLength(MAX_REMEMBERED - 9);
});

it('is, where there is no room, all but the oldest', () => {
  const one = after(filled(MAX_REMEMBERED).commands, 'cancel', NOW + MAX_REMEMBERED);
  expect(one.commands).toHaveLength(MAX_REMEMBERED);
  expect(obeyedOf(one, idOf(0))).toBeUndefined();
  expect(obeyedOf(one, idOf(1))).toEqual({ at: NOW + 1 });
  expect(obeyedOf(one, 'cancel')).toEqual({ at: NOW + MAX_REMEMBERED });
});

it('is of a retry also which questions it is about', () => {
  const commands = remembering({ commands: [] }, { commandId: 'c', now: NOW }, 40);
  expect(obeyedOf({ commands }, 'c')).toEqual({ at: NOW, upTo: 40 });
  expect(after(commands, 'd', NOW + 30 * DAY_MS).commands).toHaveLength(1);
});

it('is also what the release before wrote: ids, and no time', () => {
  const old = { commands: Array.from({ length: 10 }, (_, at) => `cancel order ${at}`) };
  expect(obeyedOf(old, 'cancel order 3')).toEqual({ at: 0 });
  const now = after(old.commands, 'c');
  expect(now.commands).toHaveLength(11);
  expect(obeyedOf(now, 'cancel order 3')).toEqual({ at: NOW });
  expect(obeyedOf(now, 'c')).toEqual({ at: NOW });
  expect(obeyedOf(now, 'cancel order 10')).toBeUndefined();
});
