/** Which news leaves a server, by its options: all of it to one receiver, or to the addresses of starts. */

import { CallbackOutbox, type CallbackParts } from './callback-outbox.ts';
import { EventOutbox } from './event-outbox.ts';
import type { ServerOptions } from './server-options.ts';

export type Reading = CallbackParts['execution'];
export type Outboxes = readonly (EventOutbox | CallbackOutbox)[];

export const outboxesOf = (
  { eventsTo: to, callbackSecret: key, allowsPrivateCallbacks: allowsPrivate = false }: ServerOptions,
  parts: Omit<CallbackParts, 'key' | 'allowsPrivate'> &
    Omit<ConstructorParameters<typeof EventOutbox>[0], 'to'>,
): Outboxes => [
  ...(to === undefined ? [] : [new EventOutbox({ ...parts, to })]),
  ...(key === undefined ? [] : [new CallbackOutbox({ ...parts, key, allowsPrivate })]),
];
