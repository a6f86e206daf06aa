/** Which places of a lane are free, and which executions may still get one (N1, N2). */

import { isFree, mayBePlaced, waitsAgain } from '../../../lib/core/records/in-lane.ts';
import type { OwnLane } from '../../../lib/core/records/lane.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import { anExecution } from '../../contract/records.ts';

const entry = { id: 'e-1', life: 'life1', epoch: 1 };
const holder = (changes: Partial<Execution>): Execution =>
  anExecution({ lane: { key: 'k', admitted: 1 }, ...changes });
const lateTill = (freeAt: number): OwnLane => ({ key: 'k', admitted: 1, freeAt });

describe('a place', () => {
  it.each<[string, Execution | undefined, boolean]>([
    ['while its holder goes forward', holder({}), false],
    ['while it is undone', holder({ status: 'compensating' }), false],
    ['while it is paused', holder({ status: 'paused' }), false],
    ['while it follows up', holder({ status: 'following-up' }), false],
    ['once it has ended', holder({ status: 'failed' }), true],
    ['once it has ended, while a lost call may act', holder({ status: 'failed', lane: lateTill(11) }), false],
    ['once that is over', holder({ status: 'failed', lane: lateTill(10) }), true],
    ['of an epoch that is over', holder({ epoch: 2 }), true],
    ['of an epoch whose lost call may act', holder({ epoch: 2, lane: lateTill(11) }), false],
    ['of what is gone', undefined, true],
    ['of what is gone, though its key has begun another', holder({ life: 'life2' }), true],
  ])('%s', (_, execution, free) => {
    expect(isFree(entry, execution, 10)).toBe(free);
  });
});

it.each<[string, Execution, boolean]>([
  ['who waits', holder({ lane: { key: 'k' } }), true],
  ['who is paused', holder({ lane: { key: 'k' }, status: 'paused' }), true],
  ['who has its place', holder({}), false],
  ['who was tried again since', holder({ epoch: 2 }), false],
  ['who is undone', holder({ lane: { key: 'k' }, status: 'compensating' }), false],
  ['another with its key', holder({ lane: { key: 'k' }, life: 'life2' }), false],
])('%s may get a place or not', (_, execution, may) => {
  expect(mayBePlaced(entry, execution)).toBe(may);
});

it.each<[string, Execution, boolean]>([
  ['who was tried again', holder({ epoch: 2 }), true],
  ['who has its place again', holder({ epoch: 2, lane: { key: 'k', admitted: 2 } }), false],
  ['who waits for the first time', holder({ lane: { key: 'k' } }), false],
  ['who is in no lane', anExecution({ epoch: 2 }), false],
])('%s waits for a place again or not', (_, execution, waits) => {
  expect(waitsAgain(execution)).toBe(waits);
});
