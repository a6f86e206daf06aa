/** Counting the work that waits for an agent's rate. */

import { type AgentRate, rateQueueOf, withSlots } from '../../../lib/core/records/slots.ts';

const T = 1_700_000_000_000;

/** The record after this many claims at one instant. @param groups the groups of the claims, in turns */
function claimed(count: number, perSecond: number, groups: readonly string[]) {
  let record: AgentRate | undefined;
  let deferred = 0;
  for (let at = 0; at < count; at += 1) {
    const group = groups[at % groups.length];
    const asked = { wanted: 1, hasTurn: false, group };
    const given = withSlots(record, 'carrier', perSecond, asked, { now: T, writeId: `w${at}` });
    if ('turnAt' in given) deferred += 1;
    ({ record } = given);
  }
  return { record, deferred };
}

it.each([
  ['one group', 300, 10, ['a'], 0.15],
  ['two groups', 300, 10, ['a', 'b'], 0.15],
  ['a slow rate', 40, 0.5, ['a'], 0.15],
  ['a large group beside a small one', 330, 10, [...Array.from({ length: 10 }, () => 'a'), 'b'], 0.3],
] as const)('is about right for %s', (_, count, perSecond, groups, most) => {
  const { record, deferred } = claimed(count, perSecond, groups);
  const queue = rateQueueOf(record, T);
  expect(queue).toMatchObject({ perSecond });
  expect(Math.abs((queue?.waiting ?? 0) - deferred) / deferred).toBeLessThan(most);
  expect(queue?.lastTurnAt).toBeGreaterThan(T);
});

it('is nothing once the last turn has come, and of a record without a rate', () => {
  const { record } = claimed(40, 10, ['a']);
  const { lastTurnAt = 0 } = rateQueueOf(record, T) ?? {};
  expect(rateQueueOf(record, lastTurnAt)).toBeUndefined();
  expect(rateQueueOf(undefined, T)).toBeUndefined();
  const { perSecond: _, ...before } = record as AgentRate;
  expect(rateQueueOf(before, T)).toBeUndefined();
});
