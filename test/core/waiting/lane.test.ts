/**
 * A step that waits for a place in a lane: its position, when it reads the lane again (S12), how long it
 * keeps the place (N1).
 */

import type { AgentStep, LaneStep, Plan } from '../../../lib/core/plan/plan.ts';
import { decide } from '../../../lib/core/decide.ts';
import { inLane, LANE_STEP } from '../../../lib/core/plan/lane.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { laneFreeAt, queuedOf } from '../../../lib/core/waiting/lane.ts';
import { child, childrenOf } from '../family.ts';
import { heldAs, inputs, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
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

it('leaves its wake time where a person is to be asked, though no check is near (S12, seed 50886)', () => {
  const failure = { code: 'bad-output', message: 'y' };
  const record = recordOf('it', 'waiting', { epoch: 2, mayHaveActed: true, restarted: true, failure });
  const at = { startedAt: NOW, epoch: 2, deadlineAt: NOW + 7_200_000, wakeAt: NOW + 29_000 };
  const { write } = decide(plan, stateOf([record], { ...at, lane: { key: 'k' } }), {
    type: 'lane-seen',
    step: LANE_STEP,
    epoch: 2,
    placed: false,
    first: false,
    ...inputs,
  });
  expect(write).toMatchObject({ step: { status: 'waiting' }, execution: { wakeAt: NOW + 29_000 } });
});

it('uses up no time of a step, whose earlier work is asked about when its service wishes (seed 50753)', () => {
  const taking: AgentStep = { ...planStep, effect: 'idempotent', acceptsMs: 600_000, withinMs: 40_000 };
  const accepted = {
    at: NOW - 60_000,
    untilAt: NOW + 600_000,
    askFrom: NOW,
    everyMs: 5_000,
    seq: 2,
    asked: 1,
  };
  const probing = heldAs('probe', { epoch: 2, mayHaveActed: true, restarted: true, accepted });
  const placed = (status: Step['status']) =>
    decide(
      planOf(...inLane(lane, [taking])),
      stateOf([probing, recordOf(LANE_STEP, status, { epoch: 2, changedAt: NOW - 35_000 })], {
        startedAt: NOW - 900_000,
        epoch: 2,
        retries: [{ at: NOW - 35_000, reason: '' }],
        deadlineAt: NOW + 7_200_000,
        lane: { key: 'k' },
      }),
      {
        type: 'report',
        step: 'it',
        token: 't',
        onTime: true,
        report: { kind: 'found', verdict: 'running', askAfterMs: 30_000, codeReturned: true },
        ...inputs,
      },
    ).write?.step?.retryAt;
  expect([placed('waiting'), placed('done')]).toEqual([NOW + 30_000, NOW + 5_000]);
});

it('is evaluated soon where an earlier epoch left a round whose answer is not read yet (S12)', () => {
  const rounds = { until: false, next: {}, atMost: 5 };
  const children = childrenOf(
    1,
    { 0: { status: 'succeeded', version: 3, clean: false } },
    { try: 2, rounds: { done: 1 } },
  );
  const { write } = decide(
    planOf(...inLane(lane, [{ ...child, rounds }])),
    stateOf([recordOf('sub', 'failed', { epoch: 1, children })], {
      startedAt: NOW,
      epoch: 2,
      deadlineAt: NOW + 7_200_000,
      wakeAt: NOW + 7_200_000,
      lane: { key: 'k' },
    }),
    { type: 'lane-seen', step: LANE_STEP, epoch: 2, placed: false, first: false, ...inputs },
  );
  expect(write?.step?.status).toBe('waiting');
  expect(write?.execution?.wakeAt).toBeLessThanOrEqual(NOW + 60_000);
});

it.each<[string, Partial<Execution>, number]>([
  ['by its start', {}, NOW],
  [
    'by its latest retry',
    {
      retries: [
        { at: NOW + 5, reason: '' },
        { at: NOW + 9, reason: '' },
      ],
    },
    NOW + 9,
  ],
  ['by its priority', { lane: { key: 'k', priority: 2 } }, NOW - 720_000],
])('stands in the queue %s', (_, changes, place) => {
  const { execution } = stateOf([], { startedAt: NOW, ...changes });
  expect(queuedOf(lane, execution).place).toBe(place);
});

describe('after a pause, in which it was passed over', () => {
  const waiting = recordOf(LANE_STEP, 'waiting', { changedAt: NOW - 60_000 });
  const resumed = (endedAt: number) =>
    stateOf([waiting], {
      startedAt: NOW - 90_000,
      deadlineAt: NOW + 7_200_000,
      wakeAt: NOW,
      lane: { key: 'k', checkAt: NOW + 240_000 },
      pauses: [{ number: 1, at: NOW - 50_000, withinMs: 60_000, reason: '', endedAt }],
    });

  it('is seen to soon where the lane cannot be reached', () => {
    const { write } = decide(plan, resumed(NOW - 1_000), {
      type: 'evaluate',
      by: 'supervisor',
      affected: 'all',
      fresh: true,
      readAt: NOW,
      failing: [LANE_STEP],
      admissions: {},
      ...inputs,
    });
    expect(write?.execution?.wakeAt).toBe(NOW + 5_000);
  });

  it('has queued since then, also by a clock that is behind', () => {
    const ofLane = { type: 'lane-seen', step: LANE_STEP, epoch: 1, placed: false, first: true } as const;
    const { write } = decide(plan, resumed(NOW + 1_500), { ...ofLane, ...inputs });
    expect(write?.step?.changedAt).toBe(NOW + 1_500);
  });
});

describe('holds its place', () => {
  const dead = { processDeadlineAt: NOW + 50 };
  const attempt = { number: 1, mode: 'execute', claimedAt: NOW, endedAt: NOW, outcome: 'unknown' } as const;
  const lost = NOW + 50 + planStep.settleMs;
  const whole = { ...planOf(planStep, child), onFailure: [{ ...planStep, name: 'tell' }] };
  it.each<[string, Step, number]>([
    ['no longer than its end, where nothing was lost', recordOf('it', 'done', dead), 0],
    [
      'as long as a lost attempt may act, also after a later one has succeeded',
      recordOf('it', 'done', { ...dead, attempts: [attempt] }),
      lost,
    ],
    [
      'as long as one of an on-failure step may act',
      recordOf('tell', 'failed', { ...dead, mayHaveActed: true }),
      lost,
    ],
    [
      'as long as an earlier try of a child may act',
      recordOf('sub', 'done', { children: childrenOf(1, {}, { lateUntil: NOW + 7 }) }),
      NOW + 7,
    ],
  ])('%s', (_, record, until) => {
    expect(laneFreeAt(whole, { [record.name]: record })).toBe(until);
  });
});

it('keeps its wake time past its announced end, for the time at which its place is handed on (N4)', () => {
  const freeAt = NOW + 90_000;
  const ended = { status: 'failed', endedAt: NOW, wakeAt: NOW, lane: { key: 'k', freeAt } } as const;
  const { write } = see(plan, stateOf([recordOf('it', 'failed')], ended), { affected: 'all' });
  expect(write?.execution).toMatchObject({ wakeAt: freeAt, lane: { announced: true } });
});

it.each([
  ['soon, where its lane could not be reached', {}, NOW + 5_000],
  ['no sooner, once it has left', { left: 1 }, NOW + 30_000],
])('is evaluated before its on-failure steps %s (N4)', (_, left, wakeAt) => {
  const asking: Plan = { ...plan, onFailure: [{ ...planStep, name: 'tell', recovery: [] }] };
  const cause = { kind: 'cancel', at: NOW - 5, failure: { code: 'x', message: 'y' } } as const;
  const end = { status: 'canceled', at: NOW - 2, version: 4 } as const;
  const more = { status: 'following-up', cause, end, wakeAt: NOW, lane: { key: 'k', ...left } } as const;
  const records = [recordOf(LANE_STEP, 'fenced'), recordOf('tell', 'running', { leaseUntil: NOW + 90_000 })];
  const { write } = see(asking, stateOf(records, more), { failing: [LANE_STEP] });
  expect(write?.execution?.wakeAt).toBe(wakeAt);
});
