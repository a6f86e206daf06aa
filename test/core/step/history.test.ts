/** The history of a step: which of many attempts are stored, and the number of those left out. */

import type { Attempt, LeasedStep, Step } from '../../../lib/core/records/state.ts';
import { historyOf, isAfterLeftOut, leftOutOf } from '../../../lib/core/step/history.ts';
import { heldAs } from '../one-step.ts';
import { NOW } from '../states.ts';

const after = (
  times: number,
  from: Partial<Step> = {},
  mode: (at: number) => Attempt['mode'] = () => 'execute',
) => {
  let record: Step = { ...heldAs('execute'), ...from };
  const first = record.attempt;
  for (let at = 0; at < times; at += 1) {
    const leased = { ...record, mode: mode(at), attempt: first + at, undoAttempt: at } as LeasedStep;
    record = { ...leased, ...historyOf(leased, 'failed', NOW + at, undefined) };
  }
  return record;
};

it('keeps the first five attempts and the latest, and counts those between', () => {
  const twenty = after(20);
  expect(twenty.attempts.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(twenty).not.toHaveProperty('leftOut');
  expect(leftOutOf(twenty)).toBeUndefined();
  const more = after(32);
  expect(more.attempts.map(({ number }) => number)).toEqual(
    [1, 2, 3, 4, 5].concat(Array.from({ length: 15 }, (_, at) => 18 + at)),
  );
  expect(leftOutOf(more)).toStrictEqual({ count: 12 });
});

it('leaves no latest word out on why the step failed, however often it is undone', () => {
  const record = after(60, {}, (at) => (at < 6 ? 'execute' : 'undo'));
  expect(record.attempts.findLast(({ mode }) => mode !== 'undo')).toMatchObject({ number: 6 });
  expect(record.attempts).toHaveLength(20);
  expect(leftOutOf(record)).toStrictEqual({ count: 40 });
});

it.each<[string, Step, number[]]>([
  ['in the middle of attempts alone', after(32), [5]],
  ['behind the latest word on why it failed', after(60, {}, (at) => (at < 6 ? 'execute' : 'undo')), [6]],
  ['on both sides of that word', after(60, {}, (at) => (at < 30 ? 'execute' : 'undo')), [5, 6]],
])('tells where attempts are missing: %s', (_, { attempts }, at) => {
  const places = Array.from({ length: 20 }, (__, place) => place);
  expect(places.filter((place) => isAfterLeftOut(attempts, place))).toEqual(at);
});
