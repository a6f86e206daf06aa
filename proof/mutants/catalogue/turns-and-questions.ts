/**
 * Bugs of the turns of shares and slots, and of the changes of a question: one for each sentence of their
 * rules.
 */

import { jest, type Mutant } from '../mutant.ts';

export const TURNS: readonly Mutant[] = [
  {
    id: 'no-turns-in-a-shard',
    rule: 'of each group the earliest comes first',
    bug: 'All of one group come before another’s.',
    file: 'lib/supervisor/due.ts',
    find: '    turnOf.set(item.group, turn + 1);\n',
    replace: '    turnOf.set(item.group, turn);\n',
    killer: jest(
      'supervisor/turns',
      'go round the groups, each earliest first, and those without one share one',
    ),
  },
  {
    id: 'full-queue-for-all-but-one',
    rule: 'a queue that one group has filled is not full for the others',
    bug: 'All messages of a group go into a full queue.',
    file: 'lib/supervisor/admission.ts',
    find: 'if (group === undefined || groups.has(group) ||',
    replace: 'if (group === undefined ||',
    killer: jest(
      'supervisor/admission',
      'are one for each group, although another has filled its queue, and no more than the pace',
    ),
  },
  {
    id: 'turn-taken-again-and-again',
    rule: 'one that keeps its wake time does not take its turn again',
    bug: 'What was evaluated and is still due takes the turn of its group again.',
    file: 'lib/supervisor/sweep.ts',
    find: 'inGroups.evaluated.get(executionId) !== wakeAt',
    replace: 'inGroups.evaluated.get(executionId) !== -wakeAt',
    killer: jest('supervisor/turns', 'comes to all of a group of which hundreds cannot be read (L4)'),
  },
  {
    id: 'turns-are-overtaken',
    rule: 'work without a turn goes behind the turns of its group',
    bug: 'Work without a turn overtakes those that have one.',
    file: 'lib/core/records/slots.ts',
    find: '(hasTurn || own === undefined)',
    replace: '(hasTurn || own !== null)',
    killer: jest(
      'agent/rate',
      'gives slots one after the other, also by a clock that is behind, and turns behind them',
    ),
  },
  {
    id: 'one-turn-for-all',
    rule: 'turns follow each other at the rate',
    bug: 'All that are deferred get the same turn.',
    file: 'lib/core/records/slots.ts',
    find: 'Math.max((own ?? 0) + gapMs * (beside + 1), fromAt + gapMs)',
    replace: 'fromAt + gapMs',
    killer: jest('agent/rate', 'processes, the one of another begins within'),
  },
  {
    id: 'slots-given-back-late',
    rule: 'a slot given back is used as long as it lasts',
    bug: 'A slot that is given back counts among those of a later time.',
    file: 'lib/agent/process-rate.ts',
    find: 'if (this.#slots?.untilAt === untilAt)',
    replace: 'if (this.#slots !== undefined && untilAt > 0)',
    killer: jest('agent/rate', 'that is given back beside a later one is lost with its time'),
  },
  {
    id: 'turns-of-the-canceled',
    rule: 'turns that nobody uses hold nobody up',
    bug: 'The turns of what was canceled hold all others up.',
    file: 'lib/core/records/slots.ts',
    find: 'const turns = isIdle ? {} : turnsAfter',
    replace: 'const turns = isIdle && now < 0 ? {} : turnsAfter',
    killer: jest(
      'agent/rate',
      'is not kept for turns that nobody comes for: what was canceled holds up nobody',
    ),
  },
  {
    id: 'share-grows',
    rule: 'a process takes at most a twentieth of a second at once',
    bug: 'A process takes more and more slots at once.',
    file: 'lib/agent/process-rate.ts',
    find: 'Math.min(this.#wanted * 2, shareOf(this.#perSecond))',
    replace: 'this.#wanted * 2',
    killer: jest(
      'agent/rate',
      'begins no more attempts in a second than its rate, and at that pace, in the order in which they came',
    ),
  },
  {
    id: 'claims-before-its-slot',
    rule: 'a claim waits for its slot',
    bug: 'A claim does not wait for its slot.',
    file: 'lib/agent/process-rate.ts',
    find: 'else void clock.sleep(Math.ceil(waitMs)).then(() => this.#give(own));',
    replace: 'else this.#give(own);',
    killer: jest(
      'agent/rate',
      'begins no more attempts in a second than its rate, and at that pace, in the order in which they came',
    ),
  },
  {
    id: 'slot-for-who-came-first',
    rule: 'each slot is for the group whose turn it is',
    bug: 'A slot is for who came first, of whichever group.',
    file: 'lib/agent/process-rate.ts',
    find: '(other.round < one.round ? other : one)',
    replace: '(other.round < 0 ? other : one)',
    killer: jest('agent/rate', 'processes, the one of another begins within'),
  },
  {
    id: 'rate-unread-lets-through',
    rule: 'without the record nothing may begin',
    bug: 'Who cannot read the rate begins.',
    file: 'lib/agent/process-rate.ts',
    find: "    this.#known = undefined;\n    return 'unread';",
    replace:
      '    this.#known = undefined;\n    return { fromAt: 0, untilAt: Number.POSITIVE_INFINITY, count: 0 };',
    killer: jest('agent/rate', 'begins nothing while its record cannot be written, and comes again'),
  },
];

export const QUESTIONS: readonly Mutant[] = [
  {
    id: 'reminded-after-its-end',
    rule: 'a reminder that was not announced before the question closes is dropped',
    bug: 'A question that was answered is announced as a reminder.',
    file: 'lib/core/questions/life.ts',
    find: "const owed = (question.unannounced ?? []).filter((one) => one !== 'reminded');",
    replace: 'const owed = question.unannounced ?? [];',
    killer: jest('scheduler/reminders', 'that an answer overtakes is left out'),
  },
  {
    id: 'reminder-not-moved',
    rule: 'a pause gives the time back to the reminder, too',
    bug: 'The time of a reminder is not moved with the deadline.',
    file: 'lib/core/questions/life.ts',
    find: 'remindAt: remindAt === undefined ? undefined : remindAt + ms }',
    replace: 'remindAt }',
    killer: jest(
      'scheduler/reminders',
      'stands still during a pause, and is given back with that of the answer',
    ),
  },
  {
    id: 'moved-again-and-again',
    rule: 'a pause moves a deadline once',
    bug: 'Each evaluation moves the deadline of an incident once more.',
    file: 'lib/core/operators/resolution.ts',
    find: 'movedBy(incident, paused.ms, inputs, { movedFor: paused.until })',
    replace: 'movedBy(incident, paused.ms, inputs, {})',
    killer: jest('core/questions/settle', 'the deadline of a question, after a pause'),
  },
  {
    id: 'asked-once-for-all',
    rule: 'a step that comes to a person again is asked about again',
    bug: 'A person is asked about a step once, however often it fails.',
    file: 'lib/core/questions/incident.ts',
    find: '(isOpen(known) || known.stepVersion === record?.version)',
    replace: '(isOpen(known) || known.stepVersion <= (record?.version ?? 0))',
    killer: jest('core/questions/incident', 'once, until the step comes to it again'),
  },
  {
    id: 'moot-keeps-it-waiting',
    rule: 'an execution waits no more when its last question is moot',
    bug: 'An execution whose last question is moot stays waiting.',
    file: 'lib/core/operators/resolution.ts',
    find: '    execution: waitsForThisAlone(state, incident)\n',
    replace: '    execution: waitsForThisAlone(state, incident) && incident.number < 0\n',
    killer: jest('core/questions/settle', 'is closed, and what waits for nothing else goes on'),
  },
];
