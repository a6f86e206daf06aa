/** What each end of an attempt writes, field by field: a report (S5, S6, S9, S10). */

import type { AgentStep } from '../../../lib/core/plan/plan.ts';
import type { Report } from '../../../lib/core/records/events.ts';
import type { HeldStep, Mode } from '../../../lib/core/records/state.ts';
import { reported } from '../../../lib/core/step/report.ts';
import { always, changesOf, failure, heldAs, probed, stamp, step } from '../one-step.ts';
import { NOW } from '../states.ts';

const report = (given: object, settled = true): Report => ({ settled, ...given }) as Report;
const FAILED = report({ kind: 'failed', permanent: false, failure });
const FOR_GOOD = report({ kind: 'failed', permanent: true, failure });
const UNKNOWN = report({ kind: 'unknown', failure });
const LOST = report({ kind: 'unknown', failure }, false);
const UNDONE = report({ kind: 'undone' });
const found = (verdict: string, more: object = {}): Report => report({ kind: 'found', verdict, ...more });
const [EXECUTE, PROBE, UNDO] = [heldAs('execute'), heldAs('probe'), heldAs('undo')];
const [LAST, LAST_UNDO] = [heldAs('execute', { rung: 2 }), heldAs('undo', { undoAttempt: 3 })];
const wishing = (retryAfterMs: number): Report => report({ ...FAILED, retryAfterMs });
const ACTED = report({ ...FOR_GOOD, acted: true });
const REFUSED = report({ ...FOR_GOOD, inputRefused: true });
const BACK = { rungAttempt: 0, retryAt: NOW + 55_001 };
const NO = undefined;
const NEXT = { status: 'retrying', rung: 1, rungAttempt: 0 };
const PRIOR = NOW - 30_000;
const hold = { agent: 'worker', since: NOW - 60_000, until: NOW + 40_000 };

const parkedAs = (mode: Mode) => ({ mode, why: 'breaker', at: NOW, since: hold.since });
type Row = [string, AgentStep, HeldStep, Report, typeof hold | undefined, string | undefined, object];

it.each<Row>([
  [
    'done',
    step,
    EXECUTE,
    report({ kind: 'done', output: { a: 1 } }),
    NO,
    'done',
    { status: 'done', output: { a: 1 } },
  ],
  [
    'done, its function going on',
    step,
    heldAs('execute', { failure }),
    report({ kind: 'done', output: 1 }, false),
    NO,
    'done',
    { status: 'done', failure: null, output: 1 },
  ],
  ['failed', step, EXECUTE, FAILED, NO, 'failed', { ...NEXT, retryAt: NOW + 5_000 }],
  ['failed, with a wish', step, EXECUTE, wishing(77_000), NO, 'failed', { ...NEXT, retryAt: NOW + 77_000 }],
  [
    'failed for good',
    step,
    heldAs('execute', { givenInput: 1 }),
    FOR_GOOD,
    NO,
    'failed',
    { ...NEXT, rung: 2, givenInput: null, retryAt: NOW },
  ],
  [
    'failed for good, and acted',
    step,
    EXECUTE,
    ACTED,
    NO,
    'failed',
    { status: 'unknown', mayHaveActed: true, retryAt: NOW },
  ],
  ['failed on the last rung', step, LAST, FAILED, NO, 'failed', { status: 'failed' }],
  ['input refused on the last rung', step, LAST, REFUSED, NO, 'failed', { status: 'waiting' }],
  [
    'failed, excused',
    step,
    EXECUTE,
    FAILED,
    hold,
    'failed',
    { status: 'retrying', ...BACK, parked: parkedAs('execute') },
  ],
  [
    'failed, excused, with a wish',
    step,
    EXECUTE,
    wishing(99_000),
    hold,
    'failed',
    { status: 'retrying', rungAttempt: 0, retryAt: NOW + 99_000, parked: parkedAs('execute') },
  ],
  [
    'failed for good, a service dead',
    step,
    EXECUTE,
    FOR_GOOD,
    hold,
    'failed',
    { ...NEXT, rung: 2, retryAt: NOW },
  ],
  [
    'unknown, repeatable',
    step,
    EXECUTE,
    UNKNOWN,
    NO,
    'unknown',
    { ...NEXT, mayHaveActed: true, retryAt: NOW + 5_000 },
  ],
  [
    'unknown, repeatable, excused',
    step,
    EXECUTE,
    UNKNOWN,
    hold,
    'unknown',
    {
      status: 'retrying',
      rungAttempt: 0,
      mayHaveActed: true,
      retryAt: NOW + 55_001,
      parked: parkedAs('execute'),
    },
  ],
  [
    'unknown, to be probed',
    probed,
    heldAs('execute', { probes: 2 }),
    UNKNOWN,
    NO,
    'unknown',
    { status: 'unknown', mayHaveActed: true, probes: 0, retryAt: NOW },
  ],
  [
    'unknown, to be probed, excused',
    probed,
    EXECUTE,
    UNKNOWN,
    hold,
    'unknown',
    {
      status: 'unknown',
      rungAttempt: 0,
      mayHaveActed: true,
      retryAt: NOW + 55_001,
      parked: parkedAs('probe'),
    },
  ],
  ['undone of an execute', step, EXECUTE, UNDONE, NO, undefined, {}],
  [
    'found done',
    probed,
    heldAs('probe', { failure }),
    found('done', { output: 5 }),
    NO,
    'done',
    { status: 'done', failure: null, output: 5 },
  ],
  [
    'found running',
    probed,
    PROBE,
    found('running'),
    NO,
    'still-running',
    { status: 'unknown', retryAt: NOW + 30_000 },
  ],
  [
    'found nothing, asked too early',
    probed,
    PROBE,
    found('not-done'),
    NO,
    'not-done',
    { status: 'unknown', retryAt: NOW + 55_000 },
  ],
  [
    'found nothing',
    probed,
    heldAs('probe', { hardEndAt: NOW - 15_000 }),
    found('not-done'),
    NO,
    'not-done',
    { ...NEXT, mayHaveActed: false, retryAt: NOW + 5_000 },
  ],
  [
    'found nothing, begun anew',
    probed,
    heldAs('probe', { hardEndAt: 0, anew: true, rung: 1, rungAttempt: 2 }),
    found('not-done'),
    NO,
    'not-done',
    { status: 'retrying', rung: 0, rungAttempt: 0, mayHaveActed: false, anew: null, retryAt: NOW },
  ],
  [
    'found nothing, uncharged',
    probed,
    heldAs('probe', { hardEndAt: 0, rungAttempt: 0, rung: 2 }),
    found('not-done'),
    NO,
    'not-done',
    { status: 'retrying', mayHaveActed: false, retryAt: NOW },
  ],
  [
    'found nothing after the last try',
    probed,
    heldAs('probe', { hardEndAt: 0, rung: 2 }),
    found('not-done'),
    NO,
    'not-done',
    { status: 'failed', mayHaveActed: false },
  ],
  [
    'found nothing, a person being next',
    { ...probed, ladder: [{ kind: 'human', withinMs: 60_000, otherwise: 'fail' }] },
    heldAs('probe', { hardEndAt: 0 }),
    found('not-done'),
    NO,
    'not-done',
    { status: 'waiting', mayHaveActed: false },
  ],
  [
    'cannot tell',
    probed,
    PROBE,
    found('cannot-tell'),
    NO,
    'cannot-tell',
    { status: 'unknown', probes: 1, retryAt: NOW + 500 },
  ],
  [
    'cannot tell, the last time',
    probed,
    heldAs('probe', { probes: 19 }),
    found('cannot-tell', { failure }),
    NO,
    'cannot-tell',
    { status: 'failed', probes: 20 },
  ],
  [
    'nobody to ask',
    probed,
    PROBE,
    found('cannot-tell', { failure: { code: 'no-probe', message: '' } }),
    NO,
    'cannot-tell',
    { status: 'failed', probes: 20 },
  ],
  [
    'cannot tell, excused',
    probed,
    PROBE,
    found('cannot-tell', { failure }),
    hold,
    'cannot-tell',
    { status: 'unknown', retryAt: NOW + 55_001, parked: parkedAs('probe') },
  ],
  ['undone', step, UNDO, UNDONE, NO, 'undone', { status: 'undone', mayHaveActed: false }],
  ['undo failed', step, UNDO, FAILED, NO, 'failed', { retryAt: NOW + 1_000 }],
  ['undo failed for good', step, UNDO, FOR_GOOD, NO, 'failed', { status: 'undo-failed' }],
  ['undo failed the last time', step, LAST_UNDO, FAILED, NO, 'failed', { status: 'undo-failed' }],
  [
    'undo failed, excused',
    step,
    UNDO,
    FAILED,
    hold,
    'failed',
    { undoAttempt: 0, undoParkedAt: NOW, retryAt: NOW + 55_001, parked: parkedAs('undo') },
  ],
  ['undo unknown', step, UNDO, LOST, NO, 'unknown', { retryAt: NOW + 55_000 }],
  ['undo unknown the last time', step, LAST_UNDO, LOST, NO, 'unknown', { status: 'undo-failed' }],
  [
    'undo unknown, excused',
    step,
    UNDO,
    LOST,
    hold,
    'unknown',
    { undoAttempt: 0, undoParkedAt: NOW, retryAt: NOW + 55_001, parked: parkedAs('undo') },
  ],
  ['done of an undo', step, UNDO, report({ kind: 'done', output: 1 }), NO, undefined, {}],
])('a report of %s writes this and nothing else', (_, of, record, said, held, outcome, rest) => {
  const after = changesOf(record, reported(of, record, 't', said, PRIOR, stamp, held));
  if (outcome === undefined) return expect(after).toBeUndefined();
  const failed = 'failure' in said ? { failure: said.failure } : {};
  // Of an attempt whose function has returned nothing goes on; a probe says nothing about the attempt it asks about.
  const over = said.settled && record.mode !== 'probe' ? { hardEndAt: NOW } : {};
  return expect(after).toEqual({ ...always(record, outcome, failed), ...over, ...rest });
});
