/**
 * Mutants of kinds that the judge of random worlds once missed: the order of compensation past direct
 * dependents, forgotten attempts, values that the store would refuse or lose, clocks that differ. Each is
 * found within 20,000 executions, and by no unit test.
 */

import { type Mutant, simulated, simulation } from '../mutant.ts';

export const BLIND: readonly Mutant[] = [
  {
    id: 'failed-never-acted',
    bug: 'A dependent that failed is taken for one that did not act.',
    file: 'lib/core/step/ready.ts',
    find: 'clearSince(next, record, false);',
    replace: "clearSince(next, record, record?.status === 'failed');",
    killer: simulated(),
  },
  {
    id: 'older-try-believed',
    bug: 'A parent believes what an older try of its child tells, once another has begun.',
    file: 'lib/core/waiting/child.ts',
    find: '  if ((news.try ?? 1) !== tryOf(record?.children)) return nothing();\n',
    replace: '',
    killer: simulated(),
  },
  {
    id: 'death-of-one-is-death-of-all',
    bug: 'The death of one attempt, or the end of its code, lowers the deadline of an earlier one that may still act.',
    file: 'lib/core/step/process-deadline.ts',
    find: 'const processDeadlineAt = latestOf(processes);',
    replace: 'const processDeadlineAt = untilAt;',
    killer: simulated(),
  },
  {
    id: 'dead-by-the-slower-clock',
    bug: 'By when a process is dead is read without regard to clocks that differ.',
    file: 'lib/core/step/process-deadline.ts',
    find: 'deadlineAt: deadlineAt + CLOCKS_DIFFER_MS',
    replace: 'deadlineAt',
    killer: simulated(),
  },
  {
    id: 'acts-below-not-entered',
    bug: 'Who acts below a root is not entered in its record, so that one person approves twice.',
    file: 'lib/scheduler/people.ts',
    find: "    if ((await carryOut(ports, root.plan, root.state, decision, readAt)) === 'written') return {};",
    replace: '    if (decision.write !== undefined || readAt > 0) return {};',
    killer: simulated(),
  },
  {
    id: 'output-without-limit',
    bug: 'An output is kept that makes its item larger than the store takes.',
    file: 'lib/core/records/large-values.ts',
    find: 'export const MAX_RECORD_VALUE_BYTES: number = 256 * 1_024;',
    replace: 'export const MAX_RECORD_VALUE_BYTES: number = 1_024 * 1_024;',
    killer: simulated(),
  },
  {
    id: 'undone-for-a-wrong-answer',
    bug: 'Work that is done is undone because its answer is no output, and nobody is asked.',
    file: 'lib/core/step/ending.ts',
    find: "status: isOnFailure ? 'failed' : 'waiting'",
    replace: "status: 'failed'",
    killer: simulated(),
  },
  {
    id: 'asked-for-again-and-undone',
    bug: 'Work that is done, whose answer was asked for again in vain, is undone without another question.',
    file: 'lib/core/step/ending.ts',
    find: '  record.wrongAnswer !== undefined && record.mayHaveActed && !isOnFailure;',
    replace: "  record.wrongAnswer === '' && record.mayHaveActed && !isOnFailure;",
    killer: simulated(),
  },
  {
    id: 'undone-after-not-done',
    bug: 'Work that a person had tried again, and that a probe found not done, is still taken for done for good.',
    file: 'lib/core/step/probe-report.ts',
    find: 'const isOwed = stageAttempt === 0 || isKnownDone(ending);',
    replace: 'const isOwed = stageAttempt === 0;',
    killer: simulated(),
  },
  {
    id: 'wait-behind-the-wake-time',
    bug: 'A wait that is shorter than the shortest lease is over only when something else is due.',
    file: 'lib/core/supervision/dispatch.ts',
    find: '  if (untilAt >= execution.wakeAt) return undefined;',
    replace: '  if (untilAt >= 0) return undefined;',
    killer: simulation('none'),
  },
  {
    id: 'end-without-standing-effects',
    bug: 'An end that is no success says that no effect stands, whatever does.',
    file: 'lib/core/operators/in-effect.ts',
    find: "!== 'succeeded') return standingOf(plan, state);",
    replace: "!== 'succeeded') return standingOf(plan, state, () => false);",
    killer: simulated(),
  },
];
