/** News of executions to the addresses of their starts: each sentence of what is promised. */

import { jest, type Killer, type Mutant } from '../mutant.ts';

const OUTBOX = 'serve/notification-outbox.ts';
const outbox = (test: string): Killer => jest('serve/notification-outbox', test);

export const NOTIFICATIONS: readonly Mutant[] = [
  {
    id: 'notification-lost-by-a-restart',
    rule: 'An event comes at least once.',
    bug: 'A server does not read the events that the process before it has left.',
    file: OUTBOX,
    find: 'let isRead = false;',
    replace: 'let isRead = true;',
    killer: outbox('is sent by the next process'),
  },
  {
    id: 'notification-of-another-life',
    rule: 'What is erased sends nothing more.',
    bug: 'Events of an execution that was erased go to the next one of its id.',
    file: OUTBOX,
    find: 'execution?.life === life ?',
    replace: 'life !== undefined ?',
    killer: outbox('that was erased, or has another life'),
  },
  {
    id: 'notification-sent-for-ever',
    rule: 'After a day an event is given up.',
    bug: 'An event that its receiver never takes is sent for ever.',
    file: OUTBOX,
    find: 'now - at >= GIVEN_UP_AFTER_MS &&',
    replace: 'now - at >= GIVEN_UP_AFTER_MS * 30 &&',
    killer: outbox('is given up after a day'),
  },
  {
    id: 'silent-receivers-take-all-places',
    rule: 'A receiver that is away delays its own news alone.',
    bug: 'Receivers that answer nothing take the places of all others.',
    file: OUTBOX,
    find: 'const SILENT_AT_ONCE = 8;',
    replace: 'const SILENT_AT_ONCE = 16;',
    killer: outbox('leave places to the others'),
  },
  {
    id: 'notification-refusal-taken',
    rule: 'An event comes again until the answer is 2xx.',
    bug: 'A refusal with 4xx takes an event.',
    file: 'lib/notifications/post.ts',
    find: 'result.status < 300',
    replace: 'result.status < 500',
    killer: jest('notifications/handler', 'takes nothing'),
  },
  {
    id: 'notification-address-logged',
    rule: 'No log has the address.',
    bug: 'The log has the address with its path and query.',
    file: 'lib/notifications/handler.ts',
    find: 'new URL(execution.callbackUrl).origin',
    replace: 'new URL(execution.callbackUrl).href',
    killer: jest('notifications/handler', 'the log has no address'),
  },
  {
    id: 'notification-not-compared',
    rule: 'The same key with another address is another start.',
    bug: 'A start with the same key and another address is taken for a repeat, and its news goes elsewhere.',
    file: 'lib/scheduler/start.ts',
    find: 'defined({ replaces, priority, callbackUrl }) }',
    replace: 'defined({ replaces, priority }) }',
    killer: jest('scheduler/start', 'another address for its news'),
  },
];
