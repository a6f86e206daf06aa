/** The write of each report of an attempt, field by field (S5, S6, S9, S10). */

import type { AgentStep } from '../../../lib/core/plan/plan.ts';
import type { Report } from '../../../lib/core/decisions/events.ts';
import type { LeasedStep, Mode } from '../../../lib/core/records/state.ts';
import { reported } from '../../../lib/core/step/report.ts';
import { always, changesOf, failure, heldAs, probed, inputs, step } from '../one-step.ts';
import { NOW } from '../states.ts';

const report = (given: object, codeReturned = true): Report => ({ codeReturned, ...given }) as Report;
const FAILED = report({ kind: 'failed', permanent: false, failure });
const FOR_GOOD = report({ kind: 'failed', permanent: true, failure });
const UNKNOWN = report({ kind: 'unknown', failure });
const LOST = report({ kind: 'unknown', failure }, false);
const UNDONE = report({ kind: 'compensated' });
const found = (verdict: string, more: object = {}): Report => report({ kind: 'found', verdict, ...more });
const [EXECUTE, PROBE, UNDO] = [heldAs('execute'), heldAs('probe'), heldAs('undo')];
const [LAST, LAST_UNDO] = [heldAs('execute', { stage: 2 }), heldAs('undo', { undoAttempt: 3 })];
const wishing = (retryAfterMs: number): Report => report({ ...FAILED, retryAfterMs });
const WRONG = report({ kind: 'wrong-answer', failure, answer: '{"id":1}' });
const REFUSED = report({ ...FOR_GOOD, inputRefused: true });
const CANNOT = found('cannot-tell', { failure });
const GOES_ON = report({ kind: 'done', output: 1 }, false);
const NOTHING = found('not-done');
const PERSON: AgentStep = {
  ...probed,
  recovery: [{ kind: 'askPerson', withinMs: 60_000, otherwise: 'keep' }],
};
const NEXT = { status: 'retrying', stage: 1, stageAttempt: 0 };
const AGAIN = { status: 'retrying', stageAttempt: 0 };
const UNSURE = { mayHaveActed: true };
const SURE = { mayHaveActed: false };
const notBefore = { why: 'breaker' as const, since: NOW - 60_000, at: NOW + 40_000 };
/** The changes by an attempt that uses up no try, because its service is down. */
const notCharged = (mode: Mode, more: object = {}): object => ({
  retryAt: NOW + 55_001,
  deferred: { mode, why: 'breaker', at: NOW, since: notBefore.since },
  ...more,
});
const undoExcused = notCharged('undo', { undoAttempt: 0, undoDeferredAt: NOW });
const afterMs = (ms: number): object => ({ retryAt: NOW + ms });
/** A step whose outcome is being probed, with these further fields. */
const probing = (more: Partial<LeasedStep>): LeasedStep => heldAs('probe', { processDeadlineAt: 0, ...more });
const OUTCOMES: Readonly<Record<string, string>> = { running: 'still-running' };
const outcomeOf = (said: Report, mode: Mode): string => {
  if (said.kind === 'wrong-answer') return mode === 'probe' ? 'done' : 'failed';
  return said.kind === 'found' ? (OUTCOMES[said.verdict] ?? said.verdict) : said.kind;
};

type Row = [name: string, record: LeasedStep, said: Report, writes?: object, of?: AgentStep];
const HAD_FAILED = heldAs('execute', { failure });
const GIVEN = heldAs('execute', { givenInput: 1 });
const ASKED_TWICE = heldAs('execute', { probes: 2 });
const LAST_PROBE = heldAs('probe', { probes: 19 });
const DECLINED = { isPermanent: true } as const;
const IN_DOUBT = heldAs('execute', { mayHaveActed: true });
const PROBE_OF_FAILED = heldAs('probe', { failure });
const RESTARTED = probing({ restarted: true, stage: 1, stageAttempt: 2 });
const NOBODY = found('cannot-tell', { failure: { code: 'no-probe', message: '' } });
const DOUBT = { status: 'unknown', ...UNSURE };
const KNOWN = { wrongAnswer: '{"id":1}', ...DECLINED };
const ASKED = { status: 'waiting', ...UNSURE, ...KNOWN };
const PUT_OFF = { ...UNDO, undoDeferredAt: NOW - 1 };
const SECOND = { ...NEXT, stage: 2, retryAt: NOW };
const DEFERRED = notCharged('execute');
const EXHAUSTED = { status: 'failed', probes: 20 };
const rows: readonly Row[] = [
  ['done', EXECUTE, report({ kind: 'done', output: { a: 1 } }), { status: 'done', output: { a: 1 } }],
  ['done, its function going on', HAD_FAILED, GOES_ON, { status: 'done', failure: null, output: 1 }],
  ['failed', EXECUTE, FAILED, { ...NEXT, ...afterMs(5_000) }],
  ['failed, with a wish', EXECUTE, wishing(77_000), { ...NEXT, ...afterMs(77_000) }],
  ['failed for good', GIVEN, FOR_GOOD, { ...SECOND, givenInput: null }],
  ['a wrong answer', EXECUTE, WRONG, ASKED],
  ['a wrong answer on the last stage', LAST, WRONG, ASKED],
  ['a wrong answer that a probe found', PROBE, WRONG, { ...KNOWN, status: 'waiting' }],
  ['a wrong answer of an on-failure step', EXECUTE, WRONG, { ...ASKED, status: 'failed' }],
  ['a wrong answer that a probe of an on-failure step found', PROBE, WRONG, { ...KNOWN, status: 'failed' }],
  ['failed on the last stage', LAST, FAILED, { status: 'failed' }],
  ['input refused on the last stage', LAST, REFUSED, { status: 'waiting', isPermanent: true }],
  ['failed, excused', EXECUTE, FAILED, { ...AGAIN, ...DEFERRED }],
  ['failed, excused, with a wish', EXECUTE, wishing(99_000), { ...AGAIN, ...DEFERRED, ...afterMs(99_000) }],
  ['failed for good, which a dead service does not make excused', EXECUTE, FOR_GOOD, SECOND],
  ['unknown, repeatable', EXECUTE, UNKNOWN, { ...NEXT, ...UNSURE, ...afterMs(5_000) }],
  ['unknown, repeatable, excused', EXECUTE, UNKNOWN, { ...AGAIN, ...UNSURE, ...DEFERRED }],
  ['unknown, to be probed', ASKED_TWICE, UNKNOWN, { ...DOUBT, probes: 0, retryAt: NOW }, probed],
  [
    'unknown, to be probed, excused',
    EXECUTE,
    UNKNOWN,
    { ...DOUBT, stageAttempt: 0, ...notCharged('probe') },
    probed,
  ],
  [
    'failed for good, an earlier one being unknown',
    IN_DOUBT,
    FOR_GOOD,
    { status: 'unknown', ...DECLINED, retryAt: NOW },
  ],
  ['undone of an execute', EXECUTE, UNDONE],
  ['found done', PROBE_OF_FAILED, found('done', { output: 5 }), { status: 'done', failure: null, output: 5 }],
  [
    'found done, the latest having failed for good',
    probing(DECLINED),
    found('done', { output: 5 }),
    { status: 'done', isPermanent: null, output: 5 },
  ],
  ['found running', PROBE, found('running'), { status: 'unknown', ...afterMs(30_000) }],
  ['found nothing, asked too early', PROBE, NOTHING, { status: 'unknown', ...afterMs(55_000) }],
  [
    'found nothing',
    probing({ processDeadlineAt: NOW - 15_000 }),
    NOTHING,
    { ...NEXT, ...SURE, ...afterMs(5_000) },
  ],
  [
    'found nothing, begun anew',
    RESTARTED,
    NOTHING,
    { ...AGAIN, stage: 0, ...SURE, restarted: null, retryAt: NOW },
  ],
  [
    'found nothing, uncharged',
    probing({ stageAttempt: 0, stage: 2 }),
    NOTHING,
    { status: 'retrying', ...SURE, retryAt: NOW },
  ],
  [
    'found nothing, the latest having failed for good',
    probing({ ...DECLINED, processDeadlineAt: NOW - 15_000 }),
    NOTHING,
    { ...SECOND, ...SURE, isPermanent: null },
  ],
  [
    'nobody to ask, where an answer had said that it was done',
    probing({ ...KNOWN, ...UNSURE, failure }),
    NOBODY,
    { status: 'waiting', probes: 20, failure: undefined },
  ],
  [
    'nobody to ask, the latest having failed for good',
    probing({ ...DECLINED, failure }),
    NOBODY,
    // The step keeps its earlier failure.
    { status: 'failed', probes: 20, nextStage: 2, failure: undefined },
  ],
  ['found nothing after the last try', probing({ stage: 2 }), NOTHING, { status: 'failed', ...SURE }],
  ['found nothing, a person being next', probing({}), NOTHING, { status: 'waiting', ...SURE }, PERSON],
  ['cannot tell', PROBE, found('cannot-tell'), { status: 'unknown', probes: 1, ...afterMs(500) }],
  ['cannot tell, the last time', LAST_PROBE, CANNOT, EXHAUSTED],
  ['nobody to ask', PROBE, NOBODY, EXHAUSTED],
  ['cannot tell, excused', PROBE, CANNOT, { status: 'unknown', ...notCharged('probe') }],
  ['compensated', UNDO, UNDONE, { status: 'compensated', ...SURE }],
  ['undo failed', UNDO, FAILED, afterMs(1_000)],
  ['undo failed for good', UNDO, FOR_GOOD, { status: 'compensation-failed' }],
  ['undo failed the last time', LAST_UNDO, FAILED, { status: 'compensation-failed' }],
  ['undo failed, excused', UNDO, FAILED, undoExcused],
  ['undo failed that was put off before', PUT_OFF, FAILED, { ...afterMs(1_000), undoDeferredAt: null }],
  ['undo unknown', UNDO, LOST, afterMs(55_000)],
  ['undo unknown the last time', LAST_UNDO, LOST, { status: 'compensation-failed' }],
  ['undo unknown, excused', UNDO, LOST, undoExcused],
  ['done of an undo', UNDO, report({ kind: 'done', output: 1 })],
];
it('a report of code that may still go on lets it have as much longer as a clock skipped', () => {
  const until = (said: Report, untilAt: number): number | undefined =>
    reported(step, EXECUTE, { token: 't', report: said, away: [{ untilAt, ms: 600_000 }], ...inputs })
      ?.processDeadlineAt;
  expect(until(LOST, NOW - 500)).toBe(EXECUTE.processDeadlineAt + 600_000);
  // Time away before the claim does not lengthen the process's life. If the code has returned, the process
  // deadline is now.
  expect(until(LOST, NOW - 70_000)).toBe(EXECUTE.processDeadlineAt);
  expect(until(UNKNOWN, NOW - 500)).toBe(NOW);
});

it.each(rows)('a report of %s writes this and nothing else', (name, record, said, ...[writes, given]) => {
  const of = given ?? (record.mode === 'probe' ? probed : step);
  const held = name.includes('excused') ? { notBefore } : {};
  const isOnFailure = name.includes('on-failure');
  const event = { token: 't', report: said, isOnFailure, ...held, ...inputs };
  const after = changesOf(record, reported(of, record, event));
  if (writes === undefined) return expect(after).toBeUndefined();
  const failed = 'failure' in said ? { failure: said.failure } : {};
  // If the attempt's function has returned, its process deadline is now. A probe's return says nothing about
  // the process of the attempt that it asks about.
  const over = said.codeReturned && record.mode !== 'probe' ? { processDeadlineAt: NOW } : {};
  return expect(after).toEqual({
    ...always(record, outcomeOf(said, record.mode), failed),
    ...over,
    ...writes,
  });
});
