/**
 * Mutants that show only in larger wholes: a child with its parent, a list of several parts, all executions
 * of an agent, all acts of a person, all attempts of a step. Each is found within 20,000 executions.
 */

import { type Mutant, simulated } from '../mutant.ts';

export const WHOLES: readonly Mutant[] = [
  {
    id: 'place-freed-while-undone',
    bug: 'A place in a lane is free although its holder is still being undone.',
    file: 'lib/core/records/in-lane.ts',
    find: 'execution.epoch > entry.epoch || isTerminal(execution.status)',
    replace: 'execution.epoch > entry.epoch || execution.cause !== undefined',
    killer: simulated(),
  },
  {
    id: 'nobody-reads-the-lane-again',
    bug: 'Who waits in the queue of a lane has no time at which it reads the lane again.',
    file: 'lib/core/waiting/lane.ts',
    find: 'const isNear = event.first || lane.checkAt !== undefined;',
    replace: 'const isNear = lane.checkAt !== undefined;',
    killer: simulated(),
  },
  {
    id: 'round-before-the-end',
    bug: 'The next round begins before the one before it has ended.',
    file: 'lib/core/execution/child-rules.ts',
    find: '      if (hasOpenChildren(record.children)) continue;\n      if (isRepeated(step)) {',
    replace:
      '      if (hasOpenChildren(record.children) && !isRepeated(step)) continue;\n      if (isRepeated(step)) {',
    also: [
      {
        file: 'lib/engine/children.ts',
        find: "all.filter((end) => end?.status === 'succeeded')",
        replace: 'all.map((end) => end && { ...end, output: end.output ?? {} })',
      },
    ],
    killer: simulated(),
  },
  {
    id: 'round-without-its-execution',
    bug: 'The next round is recorded without the execution that has it: it may be begun after a stop.',
    file: 'lib/core/execution/on-round.ts',
    find: "? writingBoth(state, nextRoundBegun(record, children, verdict, event), 'round-begun', event)",
    replace: "? writingStep(state, nextRoundBegun(record, children, verdict, event), 'round-begun')",
    killer: simulated(),
  },
  {
    id: 'child-tolerated-while-it-acts',
    bug: "A child's failure is tolerated while its attempts may still act.",
    file: 'lib/core/step/tolerance.ts',
    find: '> 0 ? undefined : actsUntil;',
    replace: '> 0 ? undefined : 0;',
    killer: simulated(),
  },
  {
    id: 'paused-agent-is-tried',
    bug: 'A paused agent whose breaker is open lets trials through.',
    file: 'lib/core/step/breaker.ts',
    find: '  if (breaker?.pause !== undefined) {\n    const { at: since',
    replace: '  if (breaker?.pause !== undefined && breaker.openedAt === undefined) {\n    const { at: since',
    killer: simulated(),
  },
  {
    id: 'dead-trial-holds',
    bug: 'A trial whose process has died holds its breaker a thousand times longer.',
    file: 'lib/core/step/breaker.ts',
    find: 'Math.min(timeoutMs, MAX_TRIAL_MS)',
    replace: '1_000 * Math.min(timeoutMs, MAX_TRIAL_MS)',
    killer: simulated(),
  },
  {
    id: 'group-goes-on-over-time',
    bug: 'A group that has failed by itself is tried again, or asked about, after its time.',
    file: 'lib/core/execution/child-rules.ts',
    find: '    (isTimeOver(step, state, event.readAt) && children !== undefined && isCleanEnd(children));',
    replace:
      '    (event.readAt < 0 && isTimeOver(step, state, 0) && children !== undefined && isCleanEnd(children));',
    killer: simulated(),
  },
  {
    id: 'stale-probe-reports',
    bug: 'The report of a stale token counts while the step is probed.',
    file: 'lib/core/step/report.ts',
    find: '  if (record.token !== token) return undefined;\n  if (!isLeased',
    replace:
      "  if (record.token !== token && record.status !== 'probing') return undefined;\n  if (!isLeased",
    killer: simulated(),
  },
  {
    id: 'heartbeats-move-the-deadline',
    bug: "Heartbeats move a callback's deadline.",
    file: 'lib/core/waiting/waits.ts',
    find: '    timeOverAt(step, snapshot),\n    timeEndsAt',
    replace: '    timeOverAt(step, snapshot) + aliveAt - turnAt(step, snapshot),\n    timeEndsAt',
    killer: simulated(),
  },
  {
    id: 'declined-and-tried-again',
    bug: 'A group that has failed for good is tried again in the same way.',
    file: 'lib/core/waiting/child-tries.ts',
    find: 'permanent: never || end?.permanent === true }',
    replace: 'permanent: never }',
    killer: simulated(),
  },
  {
    id: 'outage-begins-with-each-failure',
    bug: 'Calls fail since the latest failure, however long there was no answer.',
    file: 'lib/core/step/breaker.ts',
    find: 'failingSince: isSilent ? failingSince : Math.min(',
    replace: 'failingSince: Math.min(',
    killer: simulated(),
  },
  {
    id: 'cannot-tell-says-nothing',
    bug: 'The first probe of an attempt that cannot tell says nothing of its service, as if it were a later one.',
    file: 'lib/agent/notify-breaker.ts',
    find: 'claim.state.steps[claim.planStep.name]?.probes ?? 0',
    replace: 'Math.max(1, claim.state.steps[claim.planStep.name]?.probes ?? 0)',
    killer: simulated(),
  },
  {
    id: 'each-cannot-tell-counts',
    bug: 'Each probe of an attempt that cannot tell is a failed call, so that one bad order opens the breaker.',
    file: 'lib/agent/notify-breaker.ts',
    find: 'claim.state.steps[claim.planStep.name]?.probes ?? 0',
    replace: '0 * (claim.state.steps[claim.planStep.name]?.probes ?? 0)',
    killer: simulated(),
  },
  {
    id: 'accepted-taken-for-dead',
    bug: 'Work that a service has accepted is taken for dead when the execution is stopped.',
    file: 'lib/core/step/effect.ts',
    find: "  const isAwaited = record.status === 'accepted' && is !== 'none' && !isOwed;",
    replace: "  const isAwaited = record.status === 'accepted' && is === 'none' && !isOwed;",
    also: [
      {
        file: 'lib/core/step/effect.ts',
        find: '  if (record.accepted !== undefined) return record.accepted.untilAt;',
        replace: '  if (record.accepted !== undefined) return 0;',
      },
    ],
    killer: simulated(),
  },
  {
    id: 'accepted-lost-in-a-crash',
    bug: 'What was accepted before a crash is not taken to act.',
    file: 'lib/core/step/effect.ts',
    find: 'settlesAt(variant, record) + acceptsMs;',
    replace: 'settlesAt(variant, record);',
    killer: simulated(),
  },
];
