/**
 * Creates the outboxes that a server's options ask for: all events to one receiver, or each execution's
 * events to the address of its start.
 */

import { NotificationOutbox, type NotificationParts } from './notification-outbox.ts';
import { EventOutbox } from './event-outbox.ts';
import type { ServerOptions } from './server-options.ts';

export type Reading = NotificationParts['execution'];
export type Outboxes = readonly (EventOutbox | NotificationOutbox)[];

export const outboxesOf = (
  { eventsTo: to, notificationSecret: key, allowsPrivateNotifications: isOpen = false }: ServerOptions,
  parts: Omit<NotificationParts, 'key' | 'reach'> & Omit<ConstructorParameters<typeof EventOutbox>[0], 'to'>,
): Outboxes => [
  ...(to === undefined ? [] : [new EventOutbox({ ...parts, to })]),
  ...(key === undefined
    ? []
    : [new NotificationOutbox({ ...parts, key, reach: isOpen ? 'here' : 'public' })]),
];
