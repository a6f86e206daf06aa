/**
 * Bugs of mailboxes: what accepts a message, keeps it, refuses it and removes it.
 */

import { jest, type Mutant } from '../mutant.ts';

export const MAILBOXES: readonly Mutant[] = [
  {
    id: 'repeated-message-refused',
    rule: 'M2 an id counts once, and is answered as the first was',
    bug: 'A message that is sent again once it was taken is refused: its sender believes it was lost.',
    file: 'lib/scheduler/messages.ts',
    find: 'isSteadfastError(error) ? await sentBefore(sending) : undefined',
    replace: "isSteadfastError(error) && error.code !== 'ended' ? await sentBefore(sending) : undefined",
    killer: jest('scheduler/messages', 'counts once by its id'),
  },
  {
    id: 'accepted-after-the-end',
    rule: 'M4 a message is refused once no step can take it',
    bug: 'A sender that meets the end of the execution is told that its message was accepted.',
    file: 'lib/scheduler/messages.ts',
    find: '  if (!isTaken) refuseEnded(plan, state, name);\n',
    replace: '',
    killer: jest('scheduler/messages', 'ends while it is being written'),
  },
  {
    id: 'mailbox-without-bound',
    rule: 'M4 a mailbox keeps no more than it may',
    bug: 'Messages that no step takes grow a mailbox until no record holds it.',
    file: 'lib/scheduler/messages.ts',
    find: 'entries.length > MOST_ENTRIES || bytes > MOST_BYTES',
    replace: 'entries.length > MOST_ENTRIES',
    killer: jest('scheduler/messages', 'where as many wait as are kept'),
  },
  {
    id: 'start-and-message-apart',
    rule: 'startWith writes execution and message together',
    bug: 'An execution is created, and the message with which it was started is not written.',
    file: 'lib/aws/dynamo-store.ts',
    find: 'first === undefined ? [] : sentPuts(table, first, wakeShards)',
    replace: '[]',
    killer: jest('contract/store', 'is written with it, also if the answer was lost'),
  },
  {
    id: 'first-message-is-compared',
    rule: 'where the execution exists its input is not compared',
    bug: 'A message is refused because another start of its key had another input.',
    file: 'lib/scheduler/start.ts',
    find: '(first === undefined ? sameStart(one, execution) : one)',
    replace: 'sameStart(one, execution)',
    killer: jest('scheduler/messages', 'that another start made meanwhile'),
  },
  {
    id: 'same-id-replaces',
    rule: 'M2 there is one message of an id',
    bug: 'A second message with an id replaces the first, and both are in the mailbox.',
    file: 'lib/aws/dynamo-mailboxes.ts',
    find: '  conditional(table, messageItem(message, mailbox), { version: 1 }),\n',
    replace:
      '  { ...conditional(table, messageItem(message, mailbox), { version: 1 }), ConditionExpression: "attribute_exists(pk) OR attribute_not_exists(pk)" },\n',
    killer: jest('contract/store', 'is accepted once: of two with one id'),
  },
  {
    id: 'mailbox-listed',
    rule: 'a mailbox is no execution',
    bug: 'A list of open executions has an id that there is not for each mailbox.',
    file: 'lib/aws/dynamo-open.ts',
    find: "item['isPart']?.BOOL !== true && !isOfMailbox(item)",
    replace: "item['isPart']?.BOOL !== true",
    killer: jest('contract/store', 'shows no list a second execution'),
  },
  {
    id: 'messages-outlive-erasure',
    rule: 'E2 an erasure removes what was sent',
    bug: 'What a person sent to an execution stays when that is erased.',
    file: 'lib/scheduler/erase.ts',
    find: "one.kind === 'mail' && one.life !== kept",
    replace: "one.kind === 'mail' && one.life === kept",
    killer: jest('scheduler/messages', 'goes with its execution'),
  },
  {
    id: 'mailbox-of-another-life-removed',
    rule: 'the audit removes what was sent to no execution that there is',
    bug: 'The audit removes what waits for an open execution.',
    file: 'lib/core/supervision/audit.ts',
    find: 'return execution?.life !== found.life;',
    replace: 'return execution?.life === found.life;',
    killer: jest('scheduler/messages', 'is removed by the audit'),
  },
  {
    id: 'event-sent-each-time',
    rule: 'M2 the id of what a trigger sends is that of its event',
    bug: 'An event that is delivered twice is two messages.',
    file: 'lib/scheduler/starter.ts',
    find: 'id: scheduler.hash(key)',
    replace: 'id: scheduler.newId()',
    killer: jest('scheduler/starter', 'reaches the execution of its key'),
  },
];
