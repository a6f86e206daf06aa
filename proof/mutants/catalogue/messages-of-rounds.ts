/** Bugs of rounds that begin with messages: one for each sentence of their rules. */

import { jest, type Mutant } from '../mutant.ts';

const ROUNDS = 'lib/core/waiting/rounds.ts';
const here = (test: string) => jest('core/waiting/rounds-with-messages', test);

export const MESSAGES_OF_ROUNDS: readonly Mutant[] = [
  {
    id: 'round-before-its-message',
    rule: 'M3 the message of a round is recorded before the execution of the round is created',
    bug: 'The execution of a round is created while the round waits for its message.',
    file: 'lib/core/waiting/map.ts',
    find: 'children.rounds?.awaits === undefined && ',
    replace: '',
    killer: here('is not created while it waits'),
  },
  {
    id: 'round-takes-without-its-execution',
    rule: 'M3 a round takes nothing in a pause that began since the read',
    bug: 'A round begins without a message although a pause that began since the read extends its time.',
    file: 'lib/core/supervision/wake-time.ts',
    find: ' && step.children?.rounds?.awaits === undefined)',
    replace: ' && step.children === undefined)',
    killer: here('or begins with null'),
  },
  {
    id: 'tried-round-loses-its-message',
    rule: 'M3 a try of the same round keeps the message',
    bug: 'A retried first round waits for another message: the one that it had begun with is used up.',
    file: 'lib/core/waiting/child-retry.ts',
    find: 'hasEarlierRounds(children) || children.rounds?.received !== undefined;',
    replace: 'hasEarlierRounds(children);',
    killer: here('keeps its message under its next number'),
  },
  {
    id: 'message-of-the-round-before',
    rule: 'M7 the history says which round began with which message',
    bug: 'A round is said to have begun with the message of the one before.',
    file: ROUNDS,
    find: '  ...defined({ failed: rounds.failed }),\n',
    replace: '  ...defined({ failed: rounds.failed, received: rounds.received }),\n',
    killer: here('keeps nothing of the message of the one before'),
  },
  {
    id: 'round-without-the-answer-before',
    rule: 'a round is given its message beside what the one before answered',
    bug: 'A round is given its message alone.',
    file: ROUNDS,
    find: '{ ...rest, message: body }',
    replace: '{ message: body }',
    killer: here('takes the message with its number and its input'),
  },
  {
    id: 'time-of-the-whole-step',
    rule: 'each round waits for its message from the end of the one before',
    bug: 'All rounds together have the time of one message.',
    file: 'lib/core/waiting/waits.ts',
    find: 'const sinceAt = record?.changedAt ?? 0;\n    return',
    replace: 'const sinceAt = turnAt(_step, { execution, steps: {} });\n    return',
    killer: here('takes the message with its number and its input'),
  },
  {
    id: 'given-up-round-takes-a-number',
    rule: 'S10 the place of a number is taken before the next one is recorded',
    bug: 'A retry counts on, although nothing has taken the place of the round without a message.',
    file: ROUNDS,
    find: "const NEVER: ChildEnd = { status: 'canceled', version: 0, clean: true };",
    replace: "const NEVER: ChildEnd = { status: 'canceled', version: 1, clean: true };",
    also: [
      {
        file: ROUNDS,
        find: 'end?.status === NEVER.status && end.version === NEVER.version;',
        replace: 'end?.status === NEVER.status && end.version === 0;',
      },
    ],
    killer: here('waits again, under the same number'),
  },
  {
    id: 'any-message-begins-a-round',
    rule: 'a round takes a message of its own name',
    bug: 'The first round takes a message that is meant for a later one.',
    file: ROUNDS,
    find: "step.rounds[roundOf(record?.children) === 1 ? 'first' : 'message']",
    replace: "step.rounds['message']",
    killer: here('waits for its message where its input is one'),
  },
  {
    id: 'message-for-no-round',
    rule: 'M4 what no round can take any more is refused',
    bug: 'A message is accepted during the last round that may begin, and nothing takes it.',
    file: 'lib/scheduler/messages.ts',
    find: 'Math.max(next, 2) <= atMost',
    replace: 'next <= atMost + 1',
    killer: jest('scheduler/messages-of-rounds', 'take none once the last has begun'),
  },
  {
    id: 'opening-after-the-first-round',
    rule: 'M4 what no round can take any more is refused',
    bug: 'The message of the first round is accepted while later rounds run, and nothing takes it.',
    file: 'lib/scheduler/messages.ts',
    find: '(next === 1 && first?.name === message)',
    replace: '(first?.name === message)',
    killer: jest('scheduler/messages-of-rounds', 'take that of the first round only before it begins'),
  },
];
