/**
 * How long the records of an ended execution are stored, and what the audit does with a record (S6, S11,
 * S12).
 */

import type { Parent } from '../../../lib/core/records/children.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import {
  expiresAt,
  isAbandoned,
  isLongAgo,
  isOfEarlierLife,
  isPastChild,
  MIN_RETENTION_MS,
  START_MS,
} from '../../../lib/core/records/retention.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import {
  besideOf,
  type Found,
  heal,
  isLeftBehind,
  recordOf as recordIn,
} from '../../../lib/core/supervision/audit.ts';
import { recordOf, inputs, stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const incidentAt = (openedAt: number, more: Partial<Incident> = {}): Incident => ({
  number: 1,
  life: 'life1',
  workflow: 'shop',
  version: 2,
  writeId: 'w-i',
  kind: 'recovery',
  step: 'a',
  stepVersion: 1,
  failure: { code: 'x', message: 'y' },
  openedAt,
  deadlineAt: NOW + DAY,
  otherwise: 'keep',
  reminders: 0,
  ...more,
});
const stepAt = (changedAt: number) => recordOf('a', 'done', { changedAt });
const executionOf = (more: Partial<Execution> = {}): Execution => stateOf([], more).execution;

it('a day is kept, and no start takes a quarter of an hour', () => {
  expect([MIN_RETENTION_MS, START_MS]).toEqual([DAY, 900_000]);
});

it('it is abandoned when nobody has touched it for a day', () => {
  expect(isAbandoned(stepAt(NOW - DAY - 1), NOW)).toBe(true);
  expect(isAbandoned(stepAt(NOW - DAY), NOW)).toBe(false);
  expect(isAbandoned(stepAt(0), NOW)).toBe(false);
  expect(isLongAgo(NOW - DAY - 1, NOW)).toBe(true);
  expect(isLongAgo(NOW - DAY, NOW)).toBe(false);
});

describe('the record of an execution', () => {
  const ended: Partial<Execution> = { status: 'succeeded', endedAt: NOW };
  const parent: Parent = { executionId: 'p-1', step: 'list', index: 0, since: NOW };
  it('expires a certain time after its end, once the end was announced', () => {
    expect(expiresAt(executionOf(ended), 5)).toBe(NOW + 5);
    expect(expiresAt(executionOf({ ...ended, wakeAt: NOW }), 5)).toBeUndefined();
    expect(expiresAt(executionOf({ status: 'succeeded' }), 5)).toBeUndefined();
    expect(expiresAt(executionOf({ ...ended, parent }), 5)).toBeUndefined();
  });
  it('of a child may go once that time is over, and its parent is gone', () => {
    const child = executionOf({ ...ended, parent });
    expect(isPastChild(child, 5, NOW + 6)).toBe(true);
    expect(isPastChild(child, 5, NOW + 5)).toBe(false);
    expect(isPastChild(executionOf({ parent }), 5, NOW + 99)).toBe(false);
    expect(isPastChild(executionOf(ended), 5, NOW + 6)).toBe(false);
  });
  it('of a child is of an earlier life if its parent started later', () => {
    const { since: _, ...timeless } = parent;
    expect(isOfEarlierLife({ parent }, { ...parent, since: NOW + 1 })).toBe(true);
    expect(isOfEarlierLife({ parent }, parent)).toBe(false);
    expect(isOfEarlierLife({ parent }, timeless)).toBe(false);
    expect(isOfEarlierLife({ parent: timeless }, { ...parent, since: NOW + 1 })).toBe(false);
    expect(isOfEarlierLife({}, parent)).toBe(false);
    expect(isOfEarlierLife({ parent }, undefined)).toBe(false);
  });
});

describe('what an audit finds', () => {
  const execution = executionOf({ wakeAt: NOW + 9 });
  const input = {
    kind: 'input',
    executionId: 'e-1',
    key: 'k',
    version: 4,
    writeId: 'w-k',
    storedAt: NOW,
  } as const;
  const step = { kind: 'step', executionId: 'e-1', step: stepAt(NOW - DAY - 1) } as const;
  const asked = { kind: 'question', executionId: 'e-1', question: incidentAt(NOW) } as const;
  const found = (
    wake: 'none' | 'unswept' | 'swept',
    of: Execution = execution,
  ): Extract<Found, { kind: 'execution' }> => ({ kind: 'execution', execution: of, wake });

  it('is a record with a version', () => {
    expect([found('none'), input, step, asked].map(recordIn)).toEqual([
      execution,
      input,
      step.step,
      asked.question,
    ]);
    expect([besideOf(step), besideOf(asked)]).toEqual([step.step, asked.question]);
  });

  it('is watched again, from now on, where nobody would have found it', () => {
    expect(heal(found('none'), inputs)).toEqual({
      write: { executionId: 'e-1', execution: { ...execution, version: 2, writeId: 'w-new', wakeAt: NOW } },
      sends: [],
      next: { kind: 'idle' },
      notes: [{ what: 'wake-time-healed', executionId: 'e-1', detail: 'none' }],
    });
    expect(heal(found('unswept'), inputs)?.notes).toMatchObject([{ detail: 'unswept' }]);
    const overdue = executionOf({ wakeAt: NOW - 9 });
    expect(heal(found('none', overdue), inputs)?.write?.execution?.wakeAt).toBe(NOW - 9);
    expect(heal(found('none', executionOf()), inputs)?.write?.execution?.wakeAt).toBe(NOW);
  });

  it('is in order if it has a wake time, or if its end was announced', () => {
    const ended = executionOf({ status: 'failed', endedAt: NOW });
    expect(heal(found('swept'), inputs)).toBeUndefined();
    expect(heal(found('none', ended), inputs)).toBeUndefined();
    expect(heal(found('swept', ended), inputs)).toBeUndefined();
    expect(heal(found('unswept', ended), inputs)).toBeDefined();
  });

  it('is left behind where its execution is gone, or another', () => {
    expect(isLeftBehind(step, undefined, NOW)).toBe(true);
    expect(isLeftBehind({ ...step, step: stepAt(NOW - DAY) }, undefined, NOW)).toBe(false);
    expect(isLeftBehind(asked, undefined, NOW)).toBe(false);
    expect(isLeftBehind(asked, undefined, NOW + DAY + 1)).toBe(true);
    expect(isLeftBehind(step, executionOf({ life: 'life2' }), NOW)).toBe(true);
    expect(isLeftBehind(step, executionOf(), NOW)).toBe(false);
    // A writer from an earlier life may still be working on it.
    expect(isLeftBehind({ ...step, step: stepAt(NOW - DAY) }, executionOf({ life: 'life2' }), NOW)).toBe(
      false,
    );
    expect(isLeftBehind(asked, execution, NOW + 9 * DAY)).toBe(false);
  });

  it('is an input that no record names, and none of a start under way', () => {
    const naming = executionOf({ inputKey: 'k' });
    const later = NOW + DAY + 1;
    expect(isLeftBehind(input, undefined, later)).toBe(true);
    expect(isLeftBehind(input, execution, later)).toBe(true);
    expect(isLeftBehind(input, executionOf({ inputKey: 'other' }), later)).toBe(true);
    expect(isLeftBehind(input, naming, later)).toBe(false);
    expect(isLeftBehind(input, undefined, NOW + DAY)).toBe(false);
  });
});
