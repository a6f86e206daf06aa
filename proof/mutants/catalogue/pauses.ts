/**
 * Bugs of pauses: one for each sentence of their rules.
 */

import { jest, type Mutant } from '../mutant.ts';

export const PAUSES: readonly Mutant[] = [
  {
    id: 'claims-what-was-read-long-ago',
    rule: 'F1 nothing begins later than a stated time after a pause',
    bug: 'A process that was frozen claims on what it read before the pause.',
    file: 'lib/agent/claim-pass.ts',
    find: "  if (isClaim && !isWithin(begunMs, CLAIM_READ_HOLDS_MS)) return 'conflict';\n",
    replace: '',
    killer: jest('scheduler/pause', 'ms before a claim of what was read before it'),
  },
  {
    id: 'late-claim-is-not-read-again',
    rule: 'S12 a claim that was written late is evaluated before its attempt begins',
    bug: 'The lease of a claim that was written late in a pause ends unnoticed.',
    file: 'lib/agent/claim-pass.ts',
    find: "isClaim && !isWithin(agoMs() - begunMs, CLAIM_WRITE_MS) ? 'unsure' : 'written'",
    replace: "'written'",
    killer: jest('scheduler/pause', 'waits for the lease of a claim whose write took'),
  },
  {
    id: 'late-lease-waits-for-nobody',
    rule: 'S12 the wake time of a pause comes before the end of any lease',
    bug: 'Who has claimed late in a pause does not bring the wake time forward.',
    file: 'lib/core/holds/pause.ts',
    find: 'Math.min(execution.wakeAt ?? Number.POSITIVE_INFINITY, ...ends)',
    replace: 'execution.wakeAt',
    killer: jest('core/holds/pause', 'is brought forward by whoever began late'),
  },
  {
    id: 'late-lease-behind-a-sweep',
    rule: 'F3 who has claimed late in a pause writes the execution, also where its wake time is near',
    bug: 'A supervisor that read before a late claim sets a wake time that is far behind its lease.',
    file: 'lib/core/holds/pause.ts',
    find: '    if (event.now + CLOCKS_DIFFER_MS < holdsFrom(pause)) return undefined;\n',
    replace: '    if ((execution.wakeAt ?? 0) <= Math.min(...ends)) return undefined;\n',
    killer: jest('scheduler/pause', 'waits for it also where a supervisor has read before that claim'),
  },
  {
    id: 'last-lap-is-forgotten',
    rule: 'S5 a claim whose answer was lost is recognised, whatever the lap',
    bug: 'A claim that was written late in the last lap costs an attempt, and none begins.',
    file: 'lib/agent/message.ts',
    find: ' || (lap === MAX_CLAIM_LAPS && isUnsure)',
    replace: '',
    killer: jest('scheduler/pause', 'costs no attempt where what follows from a late claim fails'),
  },
  {
    id: 'clock-set-back-hides-age',
    rule: 'F1 how old a read is does not depend on a clock that is set right meanwhile',
    bug: 'What was read in the future, by a clock that has been set back, counts as new.',
    file: 'lib/agent/claim-pass.ts',
    find: 'ms > -BACK_MS && ',
    replace: '',
    killer: jest('scheduler/pause', 'ms before a claim of what was read before it'),
  },
  {
    id: 'pause-settles-at-once',
    rule: 'S12 the wake time of a pause is near until nothing can begin any more',
    bug: 'A pause counts as quiet from its first moment.',
    file: 'lib/core/records/pauses.ts',
    find: 'workflowPausedAt === undefined ? at + MAY_BEGIN_MS : at',
    replace: 'at',
    killer: jest('core/holds/pause', 'is near until nothing can begin any more'),
  },
  {
    id: 'pause-takes-time-of-undo',
    rule: 'the day after which a person is asked about an undo that cannot begin does not count pauses',
    bug: 'A deferred undo is given up for a time in which its execution was paused.',
    file: 'lib/core/step/defer.ts',
    find: ' + pausedSince(execution, undoDeferredAt)',
    replace: '',
    killer: jest('core/execution/tolerate', 'is not given up for a time in which the execution was paused'),
  },
  {
    id: 'gathered-after-the-pause',
    rule: 'S12 a pause that is complete does not hide what is still to be gathered',
    bug: 'What executions of a step have answered, and could not be read, is read again after the pause alone.',
    file: 'lib/core/supervision/wake-time.ts',
    find: 'hasUnannounced(snapshot) || hasEndDue(plan, snapshot)',
    replace: 'hasUnannounced(snapshot)',
    killer: jest('core/holds/pause', 'is near where what a child answered could not be read'),
  },
];
