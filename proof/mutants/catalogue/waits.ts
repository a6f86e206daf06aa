/** Mutants of the table of waits: how long a step of each kind waits, and what follows then. */

import { jest, type Mutant, simulated } from '../mutant.ts';

const ALONE = 'waits in these statuses, once it is its turn';

export const WAITS: readonly Mutant[] = [
  {
    id: 'waits-before-its-turn',
    rule: 'a step waits from its turn on',
    bug: 'The time of a step whose turn has not come is over.',
    file: 'lib/core/waiting/waits.ts',
    find: 'step.withinMs === undefined) || !isTurn(step, snapshot)) return undefined;',
    replace: 'step.withinMs === undefined)) return undefined;',
    killer: jest('core/waiting/waits', ALONE),
  },
  {
    id: 'stopped-again-for-its-time',
    rule: 'the time of executions that are stopped is not over once more',
    bug: 'A step whose executions are stopped has its time over again and again.',
    file: 'lib/core/waiting/waits.ts',
    find: "isIn(record, 'running') && record?.children?.stop === undefined;",
    replace: "isIn(record, 'running');",
    killer: jest('core/waiting/waits', ALONE),
  },
  {
    id: 'own-executions-wake-nobody',
    rule: 'S12 the time of a step with executions of its own is over in time',
    bug: 'The wake time does not know the time of a list.',
    file: 'lib/core/waiting/waits.ts',
    find: '      const untilAt = waitEndsAt(step, state);',
    replace: "      const untilAt = step.kind === 'map' ? undefined : waitEndsAt(step, state);",
    killer: jest('core/waiting/waits', 'is due at its time, with its executions or without'),
  },
  {
    id: 'held-before-it-is-moved',
    rule: 'a pause gives its time back before a deadline holds',
    bug: 'A question whose deadline passed during a pause is closed for that when the pause is over.',
    file: 'lib/core/rules.ts',
    find: '  moveDeadline,\n  closeIncidents,\n',
    replace: '  closeIncidents,\n  moveDeadline,\n',
    killer: jest('core/questions/settle', 'is moved once, and when the pause is over'),
  },
  {
    id: 'place-for-ever',
    rule: 'L1 a step waits for a place no longer than was said',
    bug: 'One that waits in the queue of a lane waits for ever.',
    file: 'lib/core/waiting/waits.ts',
    find: "isIn(record, 'ready', 'waiting') ? timeOverAt(step, snapshot) : undefined,",
    replace: "isIn(record, 'ready') ? timeOverAt(step, snapshot) : undefined,",
    killer: jest('core/waiting/waits', ALONE),
  },
  {
    id: 'until-is-now',
    rule: 'a wait until an instant of the data is over at that instant',
    bug: 'A wait until an instant is over as soon as its turn comes.',
    file: 'lib/core/waiting/timer.ts',
    find: 'return timeOf(read) ?? {',
    replace: 'return (timeOf(read) && sinceAt) ?? {',
    killer: simulated(3),
  },
  {
    id: 'tolerated-message-still-waited-for',
    rule: 'S20 a step for a message whose failure is tolerated waits no longer',
    bug: 'A step for a message still waits after its failure was tolerated.',
    file: 'lib/core/waiting/waits.ts',
    find: "(isIn(record, 'ready') ? timeOverAt(step, snapshot) : undefined),",
    replace: "(isIn(record, 'ready', 'tolerated') ? timeOverAt(step, snapshot) : undefined),",
    killer: simulated(54),
  },
  {
    id: 'message-despite-the-condition',
    rule: 'S7 a step for a message whose condition does not hold takes none',
    bug: 'The condition of a step for a message is not asked.',
    file: 'lib/core/step/turn.ts',
    find: '  step.when === undefined || evaluateExpression',
    replace: "  step.kind === 'receive' || step.when === undefined || evaluateExpression",
    killer: simulated(29),
  },
  {
    id: 'other-agent-need-not-advance',
    rule: 'P4 the other agent of a stage has its own time without progress',
    bug: 'Another agent of a stage may go on for ever without progress.',
    file: 'lib/core/step/recovery.ts',
    find: 'variant = { ...rest, ...agent };',
    replace:
      'variant = { ...rest, ...agent };\n      delete (variant as { maxNoProgressMs?: number }).maxNoProgressMs;',
    killer: simulated(38),
  },
];
