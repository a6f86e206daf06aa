/**
 * What only some order of events shows: claims, lost attempts, compensation and wake times. Random worlds
 * find each among the seeds of every commit, or the model by its search of every interleaving.
 */

import { jest, model, type Mutant, simulated, simulation } from '../mutant.ts';

export const INTERLEAVINGS: readonly Mutant[] = [
  {
    id: 'claim-while-leased',
    bug: 'A duplicate of the message claims the step while its lease is held.',
    file: 'lib/core/step/ready.ts',
    find: "  if (record.status === 'unknown' || record.status === 'accepted')\n",
    replace:
      "  if (record.status === 'running') return [{ ...workOf(step, record, 'execute'), attempt: record.attempt }];\n  if (record.status === 'unknown' || record.status === 'accepted')\n",
    also: [
      {
        file: 'lib/core/transitions.ts',
        find: "    ...stays('running', 'heartbeat',",
        replace: "    ...stays('running', 'claim', 'heartbeat',",
      },
    ],
    killer: simulation(),
  },
  {
    id: 'code-returned-while-alive',
    bug: 'An attempt whose code has not returned counts as over when it reports.',
    file: 'lib/core/step/report.ts',
    find: "const codeReturned = report.codeReturned && record.mode !== 'probe';",
    replace: "const codeReturned = record.mode !== 'probe';",
    killer: simulation(),
  },
  {
    id: 'attempt-after-its-time',
    bug: 'An attempt begins after the time of its step (`within`) is over.',
    file: 'lib/core/execution/on-message.ts',
    find: "  if (work.mode === 'execute' && isTimeOver(planStep, state, event.now))",
    replace: "  if (work.mode === 'execute' && isTimeOver(planStep, state, event.now - 60_000))",
    killer: simulation(),
  },
  {
    id: 'on-failure-told-twice',
    bug: 'An on-failure step has another effect key with each attempt: a service that knows keys is told twice of one end.',
    file: 'lib/agent/attempt.ts',
    find: 'keyEpoch(claim.plan, record)',
    replace: 'keyEpoch(claim.plan, { ...record, epoch: record.attempt })',
    killer: simulation(),
  },
  {
    id: 'next-stage-before-the-process-deadline',
    bug: 'A stage that goes on in another way begins while the former attempt may still be at work.',
    file: 'lib/core/step/ready.ts',
    find: 'isLeaving(step, record) ? effectsSettledAt(step, record) : 0;',
    replace: 'isLeaving(step, record) ? 0 : 0;',
    killer: simulation(),
  },
  {
    id: 'not-done-believed-early',
    bug: 'A probe that found nothing is believed while the lost attempt may still act.',
    file: 'lib/core/step/probe-report.ts',
    find: 'if (claimedAt < believableAt) {',
    replace: 'if (claimedAt < 0) {',
    killer: simulation(),
  },
  {
    id: 'wake-time-forgets-leases',
    bug: 'The wake time does not know the ends of leases.',
    file: 'lib/core/execution/step-rules.ts',
    find: 'at: leaseOverAt(plan, record, graceFrom),',
    replace: 'at: Number.POSITIVE_INFINITY,',
    killer: simulation(),
  },
  {
    id: 'wake-time-beyond-the-horizon',
    bug: 'The wake time is set past what was written since the state was read.',
    file: 'lib/core/supervision/wake-time.ts',
    find: 'Math.min(...times, quietFrom(plan, snapshot, work, readAt) + hMs);',
    replace: 'Math.min(...times, readAt + hMs + 86_400_000);',
    killer: simulation(),
  },
  {
    id: 'overdue-wait-unseen',
    rule: 'F3 a sweep that read before a short wait began does not set a wake time past its end',
    bug: 'While the wake time is overdue a short wait begins without a write that a sweep of that time would meet.',
    file: 'lib/core/execution/time-rules.ts',
    find: 'wakeAt > event.now + CLOCKS_DIFFER_MS) return undefined;',
    replace: 'wakeAt > event.now - CLOCKS_DIFFER_MS) return undefined;',
    killer: jest('engine/overdue-waits', 'is met where a sweep reads before the step ends'),
  },
  {
    id: 'deadline-before-an-answer',
    rule: 'what a process takes from its clock lasts only if the store has answered before',
    bug: 'The time at which a process is certainly dead is taken from a clock that nobody has set right.',
    file: 'lib/agent/message.ts',
    find: '  let processDeadlineAt: number | undefined;',
    replace: '  let processDeadlineAt: number | undefined = deadline();',
    killer: simulated(),
  },
  {
    id: 'unfenced',
    bug: 'Nothing is fenced before compensation, so a stale reader may still claim.',
    file: 'lib/core/rules.ts',
    find: '    fence,\n    stopChildren,',
    replace: '    stopChildren,',
    killer: model('one-idempotent'),
  },
  {
    id: 'unknown-forgotten',
    bug: 'A later failure erases that an earlier attempt may have acted.',
    file: 'lib/core/step/report.ts',
    find: "...ended(ending, 'failed', report.failure), mayHaveActed: record.mayHaveActed }",
    replace: "...ended(ending, 'failed', report.failure), mayHaveActed: false }",
    killer: model('one-idempotent'),
  },
  {
    id: 'unread-join',
    bug: "A join's last predecessors send on old states, so nobody sends.",
    file: 'lib/core/execution/on-report.ts',
    find: 'other.after.length === 1 && other.when',
    replace: 'other.after.length > 0 && other.when',
    killer: model('join-unaided'),
  },
];
