/** What a claim, a beat and the end of a lease write, field by field, and a report that comes when nobody holds the step (S3, S4, S5, S9). */

import type { AgentStep } from '../../../lib/core/plan/plan.ts';
import type { Report } from '../../../lib/core/records/events.ts';
import type { HeldStep, Mode, Step } from '../../../lib/core/records/state.ts';
import { claimed, CLOCKS_DIFFER_MS } from '../../../lib/core/step/claim.ts';
import { beaten } from '../../../lib/core/step/lease.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { expired, reported } from '../../../lib/core/step/report.ts';
import { always, changesOf, failure, heldAs, probed, stalling, stamp, step } from '../one-step.ts';
import { NOW } from '../states.ts';

const PRIOR = NOW - 30_000;
const report = (given: object): Report => ({ settled: true, ...given }) as Report;

describe('a report of an attempt that nobody holds any more (S5)', () => {
  const record = (status: Step['status'], mode: Mode = 'execute'): Step => {
    const { leaseUntil: _, ...rest } = heldAs(mode, { failure, retryAt: NOW + 5 });
    return { ...rest, status };
  };
  const late = (before: Step, kind = 'done', token = 't') =>
    changesOf(before, reported(step, before, token, report({ kind, output: 1, failure }), PRIOR, stamp));
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
      progress: 'p',
      progressAt: 5,
      heartbeatAt: 4,
      retryAt: 6,
      anew: true,
      ...more,
    });
    const status = mode === 'execute' ? 'retrying' : mode === 'probe' ? 'unknown' : 'done';
    const before: Step = { ...free, status };
    const work: Work = { step: of, mode, attempt: 4, sinceAt: NOW, dueAt: NOW };
    return changesOf(
      before,
      claimed(work, before, { life: 'life1', epoch: 2 }, 'fresh', NOW + 60_000, stamp),
    );
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
    beat: 0,
  };
  it('to execute counts an attempt and one of its rung', () => {
    const counts = { attempt: 4, rungAttempt: 2, hardEndAt: NOW + 60_000 + CLOCKS_DIFFER_MS, anew: null };
    expect(claim('execute')).toEqual({ ...same, status: 'running', mode: 'execute', ...counts });
  });
  it('to probe counts none, and nothing waits for its process', () => {
    expect(claim('probe')).toEqual({ ...same, status: 'probing', mode: 'probe' });
  });
  it('to undo counts an attempt to undo', () => {
    const counts = { undoAttempt: 4, hardEndAt: NOW + 60_000 + CLOCKS_DIFFER_MS };
    expect(claim('undo')).toEqual({ ...same, status: 'undoing', mode: 'undo', keySpent: true, ...counts });
  });
  it('is no longer than an attempt may stand still, but for an undo', () => {
    expect(claim('execute', {}, stalling(9_000))).toMatchObject({ leaseUntil: NOW + 9_000 });
    expect(claim('undo', {}, stalling(9_000))).toMatchObject({ leaseUntil: NOW + 30_000 });
  });
});

describe('a beat', () => {
  const beat = (more: Partial<Step> = {}, of = step, at?: { token: string; at: number }) => {
    const before = heldAs(more.mode ?? 'execute', more);
    return changesOf(before, beaten(of, before, 't', at, stamp));
  };
  const same = { version: 8, writeId: 'w-new', beat: 4, heartbeatAt: NOW };
  it.each<[string, Partial<Step>, AgentStep, object | undefined]>([
    ['renews the lease', {}, step, { leaseUntil: NOW + 30_000 }],
    ['never shortens it', { leaseUntil: NOW + 40_000 }, step, {}],
    ['ends with its time and its grace', { claimedAt: NOW - 40_000 }, step, { leaseUntil: NOW + 25_000 }],
    ['ends with its process', { hardEndAt: NOW + 22_000 }, step, { leaseUntil: NOW + 22_000 }],
    [
      'of a probe ends with its own time',
      { hardEndAt: 0, mode: 'probe' },
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
    expect(beat(more, of)).toEqual(changes === undefined ? undefined : { ...same, ...changes });
  });
  it('with progress that is new moves the end of standing still', () => {
    const changes = { leaseUntil: NOW + 28_000, progress: 'b', progressAt: NOW - 2_000 };
    expect(beat({ progress: 'a' }, stalling(30_000), { token: 'b', at: NOW - 2_000 })).toEqual({
      ...same,
      ...changes,
    });
    expect(beat({ progress: 'b' }, stalling(30_000), { token: 'b', at: NOW - 2_000 })).toEqual({ ...same });
  });
  it('under another token, or of what nobody holds, is none', () => {
    expect(beaten(step, heldAs('execute'), 'other', undefined, stamp)).toBeUndefined();
    expect(beaten(step, undefined, 't', undefined, stamp)).toBeUndefined();
    const { leaseUntil: _, ...free } = heldAs('execute');
    expect(beaten(step, free, 't', undefined, stamp)).toBeUndefined();
  });
});

const silent = { failure: { code: 'lease-ended', message: expect.any(String) } };
const still = { failure: { code: 'no-progress', message: expect.any(String) } };
/** Its lease ended so long ago, with its latest beat just before. */
const cut = (more: Partial<Step>, agoMs = 0): HeldStep =>
  heldAs('execute', { leaseUntil: NOW - agoMs, heartbeatAt: NOW - agoMs - 3_000, ...more });
const neverHeard = heldAs('execute', { leaseUntil: NOW - 1_000, beat: 0 });
const onFirstRung = { status: 'retrying', rung: 1, rungAttempt: 0, mayHaveActed: true, retryAt: NOW };
it.each<[string, AgentStep, HeldStep, string, object, object]>([
  ['to execute', step, heldAs('execute'), 'unknown', silent, onFirstRung],
  ['whose lease was cut while it beat', stalling(10_000), cut({}), 'unknown', still, onFirstRung],
  ['whose lease was cut long ago', stalling(9_000), cut({}, 1_000), 'unknown', still, onFirstRung],
  ['whose lease was not cut', stalling(10_001), cut({}), 'unknown', silent, onFirstRung],
  [
    'that had advanced since',
    stalling(10_000),
    cut({ progressAt: NOW - 9_999 }),
    'unknown',
    silent,
    onFirstRung,
  ],
  [
    'that advanced and then stood still',
    stalling(9_000),
    cut({ progressAt: NOW - 9_000 }),
    'unknown',
    still,
    onFirstRung,
  ],
  [
    'that was silent for one beat of three and a half one before its lease was cut',
    stalling(9_000),
    cut({ heartbeatAt: NOW - 5_500 }, 1_000),
    'unknown',
    still,
    onFirstRung,
  ],
  [
    'that was silent for longer before its lease was cut',
    stalling(9_000),
    cut({ heartbeatAt: NOW - 5_501 }, 1_000),
    'unknown',
    silent,
    onFirstRung,
  ],
  ['that never beat', stalling(9_000), neverHeard, 'unknown', silent, onFirstRung],
  [
    'that is probed',
    probed,
    heldAs('execute'),
    'unknown',
    silent,
    { status: 'unknown', mayHaveActed: true, retryAt: NOW },
  ],
  [
    'to probe',
    stalling(1),
    heldAs('probe'),
    'cannot-tell',
    silent,
    { status: 'unknown', probes: 1, retryAt: NOW + 500 },
  ],
  ['to undo', stalling(1), heldAs('undo'), 'unknown', silent, { retryAt: NOW + 55_000 }],
])(
  'the end of the lease of an attempt %s writes this and nothing else',
  (_, of, record, outcome, said, rest) => {
    expect(changesOf(record, expired(of, record, stamp))).toEqual({
      ...always(record, outcome, said),
      ...rest,
    });
  },
);

it('history keeps the latest twenty attempts', () => {
  const attempts = Array.from({ length: 20 }, (_, at) => ({
    number: at,
    mode: 'execute' as const,
    claimedAt: 0,
    endedAt: 0,
    outcome: 'failed' as const,
  }));
  const record = heldAs('execute', { attempt: 20, attempts });
  const after = reported(step, record, 't', report({ kind: 'done', output: 1 }), PRIOR, stamp);
  expect(after?.attempts.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});
