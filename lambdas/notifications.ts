/** The Lambda function of notifications: behind the queue of the bus's events that a start asked for. */

import { notificationsHandler } from '../lib/notifications/handler.ts';

export const handler = notificationsHandler();
