/** The Lambda function of notifications. Its queue gets the events for which a start gave an address. */

import { notificationsHandler } from '../lib/notifications/handler.ts';

export const handler = notificationsHandler();
