/** The step that waits for a place: by when its execution reads the lane again (S12). */

import type { LaneStep } from '../../../lib/core/plan/plan.ts';
import { decide } from '../../../lib/core/decide.ts';
import { inLane, LANE_STEP } from '../../../lib/core/plan/lane.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { inputs, planOf, recordOf, stateOf } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';

const lane: LaneStep = {
  kind: 'lane',
  name: LANE_STEP,
  after: [],
  lane: 'flow',
  by: { $ref: 'input', path: ['account'] },
  atMost: 1,
  withinMs: 3_600_000,
};
const plan = planOf(...inLane(lane, [{ ...planStep, effect: 'probed' }]));

const queuedWith = (record: Step) =>
  decide(
    plan,
    stateOf([record], {
      startedAt: NOW,
      epoch: 2,
      deadlineAt: NOW + 7_200_000,
      wakeAt: NOW + 29_000,
      lane: { key: 'k' },
    }),
    { type: 'lane-seen', step: LANE_STEP, epoch: 2, placed: false, first: true, ...inputs },
  );

it.each([
  ['nothing to do', recordOf('it', 'failed', { epoch: 1 })],
  [
    'work that an earlier epoch left to be asked about',
    recordOf('it', 'accepted', {
      epoch: 1,
      mayHaveActed: true,
      retryAt: NOW + 60_000,
      accepted: { at: NOW, untilAt: NOW + 600_000, askFrom: NOW, everyMs: 5_000, seq: 1, asked: 0 },
    }),
  ],
])('wakes its execution for the check while it has %s', (_what, record) => {
  const { write } = queuedWith(record);
  expect(write?.step?.status).toBe('waiting');
  expect(write?.execution).toMatchObject({ lane: { checkAt: NOW + 5_000 }, wakeAt: NOW + 5_000 });
});
