/**
 * The writes of a claim, a heartbeat and the end of a lease, field by field, and a report for an unclaimed
 * step (S3, S4, S5, S9).
 */

import type { AgentStep } from '../../../lib/core/plan/plan.ts';
import type { Report } from '../../../lib/core/decisions/events.ts';
import type { LeasedStep, Mode, Step } from '../../../lib/core/records/state.ts';
import { claimed } from '../../../lib/core/execution/on-message.ts';
import { afterHeartbeat } from '../../../lib/core/step/lease.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { CLOCKS_DIFFER_MS } from '../../../lib/core/step/process-deadline.ts';
import { leaseLost, reported } from '../../../lib/core/step/report.ts';
import { always, changesOf, failure, heldAs, probed, stalling, inputs, stateOf, step } from '../one-step.ts';
import { NOW } from '../states.ts';

const ofReport = (given: object, token = 't') => ({
  token,
  report: { codeReturned: true, ...given } as Report,
  ...inputs,
});

describe('a report of an attempt that nobody holds any more (S5)', () => {
  const record = (status: Step['status'], mode: Mode = 'execute'): Step => {
    const { leaseUntil: _, ...rest } = heldAs(mode, { failure, retryAt: NOW + 5 });
    return { ...rest, status };
  };
  const late = (before: Step, kind = 'done', token = 't') =>
    changesOf(before, reported(step, before, ofReport({ kind, output: 1, failure }, token)));
  const adopted = {
    status: 'done',
    version: 8,
    writeId: 'w-new',
    output: 1,
    changedAt: NOW,
    retryAt: null,
    failure: null,
  };
  it.each(['unknown', 'retrying', 'waiting'] as const)(
    'counts when it is done and the step is %s',
    (status) => {
      expect(late(record(status))).toEqual(adopted);
      expect(late(record(status), 'failed')).toBeUndefined();
      expect(late(record(status, 'undo'))).toBeUndefined();
      expect(late(record(status), 'done', 'other')).toBeUndefined();
    },
  );
});

describe('a claim', () => {
  const claim = (mode: Mode, more: Partial<Step> = {}, of = step) => {
    const {
      leaseUntil: _,
      token: __,
      mode: ___,
      claimedAt: ____,
      ...free
    } = heldAs(mode, {
      processDeadlineAt: NOW,
      progress: 'p',
      progressAt: 5,
      heartbeatAt: 4,
      retryAt: 6,
      restarted: true,
      ...more,
    });
    const status = mode === 'execute' ? 'retrying' : mode === 'probe' ? 'unknown' : 'done';
    const before: Step = { ...free, status };
    const work: Work = { step: of, mode, attempt: 4, sinceAt: NOW, dueAt: NOW };
    return changesOf(
      before,
      claimed(work, stateOf([before], { epoch: 2 }), {
        token: 'fresh',
        processDeadlineAt: NOW + 60_000,
        ...inputs,
      }),
    );
  };
  const claimAfter = (of: Pick<Step, 'token' | 'mode'>, more: Partial<Step>): object => {
    const { leaseUntil: _, ...free } = heldAs('execute', { ...of, ...more, status: 'retrying' });
    const work: Work = { step, mode: 'execute', attempt: 4, sinceAt: NOW, dueAt: NOW };
    const event = { token: 'fresh', processDeadlineAt: NOW + 60_000, ...inputs };
    const { processDeadlineAt, processes } = claimed(work, stateOf([free]), event);
    return { processDeadlineAt, processes };
  };
  const same = {
    version: 8,
    writeId: 'w-new',
    epoch: 2,
    token: 'fresh',
    claimedAt: NOW,
    leaseUntil: NOW + 30_000,
    progress: null,
    progressAt: null,
    heartbeatAt: null,
    retryAt: null,
    heartbeat: 0,
  };
  it('to execute counts an attempt and one of its stage', () => {
    const counts = {
      attempt: 4,
      stageAttempt: 2,
      processDeadlineAt: NOW + 60_000 + CLOCKS_DIFFER_MS,
      restarted: null,
    };
    expect(claim('execute')).toEqual({ ...same, status: 'running', mode: 'execute', ...counts });
  });
  it('to probe counts none, and nothing waits for its process', () => {
    expect(claim('probe')).toEqual({ ...same, status: 'probing', mode: 'probe' });
  });
  it('to undo counts an attempt to undo', () => {
    const counts = { undoAttempt: 4, processDeadlineAt: NOW + 60_000 + CLOCKS_DIFFER_MS };
    expect(claim('undo')).toEqual({
      ...same,
      status: 'compensating',
      mode: 'undo',
      keySpent: true,
      ...counts,
    });
  });
  it('keeps apart by when the process of an earlier attempt is dead that may still be alive (S10)', () => {
    const alive = { processDeadlineAt: NOW + 1 };
    const own = { token: 'fresh', deadlineAt: NOW + 60_000 + CLOCKS_DIFFER_MS };
    const processes = [{ token: 'earlier', deadlineAt: NOW + 1 }, own];
    const earlier = { token: 'earlier', mode: 'execute' } as const;
    expect(claimAfter(earlier, alive)).toEqual({ processDeadlineAt: own.deadlineAt, processes });
    // The same if a probe came last: `actedToken` is then the token of the attempt.
    const asked = { token: 'probe', actedToken: 'earlier', mode: 'probe' } as const;
    expect(claimAfter(asked, alive)).toEqual({ processDeadlineAt: own.deadlineAt, processes });
    const longer = [{ token: 'earlier', deadlineAt: NOW + 99_000 }, own];
    expect(claimAfter(earlier, { processDeadlineAt: NOW + 99_000 })).toEqual({
      processDeadlineAt: NOW + 99_000,
      processes: longer,
    });
    expect(claimAfter(earlier, { processDeadlineAt: NOW, processes: longer.slice(1, 1) })).toEqual({
      processDeadlineAt: own.deadlineAt,
      processes: undefined,
    });
  });
  it('keeps four of them apart, and of the earliest together by when they all are', () => {
    const at = [5, 9, 7, 3, 4].map((ms) => ({ token: `t${ms}`, deadlineAt: NOW + ms }));
    const known = { processDeadlineAt: NOW + 9, processes: at };
    const own = { token: 'fresh', deadlineAt: NOW + 60_000 + CLOCKS_DIFFER_MS };
    expect(claimAfter({ token: 't4', mode: 'execute' }, known)).toEqual({
      processDeadlineAt: own.deadlineAt,
      processes: [{ deadlineAt: NOW + 9 }, ...at.slice(3), own],
    });
  });
  it('is no longer than an attempt may stand still, but for an undo', () => {
    expect(claim('execute', {}, stalling(9_000))).toMatchObject({ leaseUntil: NOW + 9_000 });
    expect(claim('undo', {}, stalling(9_000))).toMatchObject({ leaseUntil: NOW + 30_000 });
  });
});

describe('a heartbeat', () => {
  const event = { token: 't', ...inputs };
  const heartbeat = (more: Partial<Step> = {}, of = step, progress?: { token: string; at: number }) => {
    const before = heldAs(more.mode ?? 'execute', more);
    return changesOf(before, afterHeartbeat(of, before, { ...event, ...(progress && { progress }) }));
  };
  const same = { version: 8, writeId: 'w-new', heartbeat: 4, heartbeatAt: NOW };
  it.each<[string, Partial<Step>, AgentStep, object | undefined]>([
    ['renews the lease', {}, step, { leaseUntil: NOW + 30_000 }],
    ['never shortens it', { leaseUntil: NOW + 40_000 }, step, {}],
    ['ends with its time and its grace', { claimedAt: NOW - 40_000 }, step, { leaseUntil: NOW + 25_000 }],
    ['ends with its process', { processDeadlineAt: NOW + 22_000 }, step, { leaseUntil: NOW + 22_000 }],
    [
      'of a probe ends with its own time',
      { processDeadlineAt: 0, mode: 'probe' },
      step,
      { leaseUntil: NOW + 30_000 },
    ],
    ['comes too late after its time', { claimedAt: NOW - 65_000 }, step, undefined],
    ['comes too late for one that stands still', {}, stalling(10_000), undefined],
    ['lasts as long as it may stand still', {}, stalling(32_000), { leaseUntil: NOW + 22_000 }],
    ['of an undo does not have to advance', { mode: 'undo' }, stalling(10_000), { leaseUntil: NOW + 30_000 }],
    [
      'remembers when it last advanced',
      { progressAt: NOW - 1_000 },
      stalling(25_000),
      { leaseUntil: NOW + 24_000 },
    ],
  ])('%s', (_, more, of, changes) => {
    expect(heartbeat(more, of)).toEqual(changes === undefined ? undefined : { ...same, ...changes });
  });
  it.each<[string, Partial<Step>, AgentStep]>([
    ['its own', { claimedAt: NOW - 65_000 }, step],
    ['its process', { processDeadlineAt: NOW - 1_000 }, step],
    ['standing still', {}, stalling(10_000)],
  ])('a clock that was set forward since is no time of %s', (_, more, of) => {
    const before = heldAs('execute', more);
    const after = (untilAt: number) =>
      afterHeartbeat(of, before, { ...event, away: [{ untilAt, ms: 600_000 }] })?.leaseUntil;
    expect(after(NOW - 500)).toBe(NOW + 30_000);
    // A clock that was set before the claim does not extend the lease.
    expect(after(NOW - 70_000)).toBeUndefined();
  });
  it('with progress that is new moves the end of standing still', () => {
    const changes = { leaseUntil: NOW + 28_000, progress: 'b', progressAt: NOW - 2_000 };
    expect(heartbeat({ progress: 'a' }, stalling(30_000), { token: 'b', at: NOW - 2_000 })).toEqual({
      ...same,
      ...changes,
    });
    expect(heartbeat({ progress: 'b' }, stalling(30_000), { token: 'b', at: NOW - 2_000 })).toEqual({
      ...same,
    });
  });
  it('with another token, or for a step without a lease, is ignored', () => {
    expect(afterHeartbeat(step, heldAs('execute'), { ...event, token: 'other' })).toBeUndefined();
    expect(afterHeartbeat(step, undefined, event)).toBeUndefined();
    const { leaseUntil: _, ...free } = heldAs('execute');
    expect(afterHeartbeat(step, free, event)).toBeUndefined();
  });
});

const silent = { failure: { code: 'lease-ended', message: expect.any(String) } };
const still = { failure: { code: 'no-progress', message: expect.any(String) } };
/** The record of an attempt whose lease ended this long ago, with its latest heartbeat 3 s before. */
const cut = (more: Partial<Step>, agoMs = 0): LeasedStep =>
  heldAs('execute', { leaseUntil: NOW - agoMs, heartbeatAt: NOW - agoMs - 3_000, ...more });
const neverHeard = heldAs('execute', { leaseUntil: NOW - 1_000, heartbeat: 0 });
const onFirstStage = { status: 'retrying', stage: 1, stageAttempt: 0, mayHaveActed: true, retryAt: NOW };
it.each<[string, AgentStep, LeasedStep, object, object?, string?]>([
  ['to execute', step, heldAs('execute'), silent],
  ['whose lease was cut while it heartbeat', stalling(10_000), cut({}), still],
  ['whose lease was cut long ago', stalling(9_000), cut({}, 1_000), still],
  ['whose lease was not cut', stalling(10_001), cut({}), silent],
  ['that had advanced since', stalling(10_000), cut({ progressAt: NOW - 9_999 }), silent],
  ['that advanced and then stood still', stalling(9_000), cut({ progressAt: NOW - 9_000 }), still],
  [
    'that was silent for a heartbeat of three and a half',
    stalling(9_000),
    cut({ heartbeatAt: NOW - 5_500 }, 1_000),
    still,
  ],
  [
    'that was silent for longer before it was cut',
    stalling(9_000),
    cut({ heartbeatAt: NOW - 5_501 }, 1_000),
    silent,
  ],
  ['that never heartbeat', stalling(9_000), neverHeard, silent],
  [
    'that is probed',
    probed,
    heldAs('execute'),
    silent,
    { status: 'unknown', mayHaveActed: true, retryAt: NOW },
  ],
  [
    'to probe',
    stalling(1),
    heldAs('probe'),
    silent,
    { status: 'unknown', probes: 1, retryAt: NOW + 500 },
    'cannot-tell',
  ],
  ['to undo', stalling(1), heldAs('undo'), silent, { retryAt: NOW + 55_000 }],
])(
  'the end of the lease of an attempt %s writes this and nothing else',
  (_, of, record, said, ...[rest, outcome]) => {
    const all = { ...always(record, outcome ?? 'unknown', said), ...(rest ?? onFirstStage) };
    expect(changesOf(record, leaseLost(of, record, inputs))).toEqual(all);
  },
);
