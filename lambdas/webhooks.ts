/** The webhooks' Lambda function: behind the route without an authorizer. It needs no workflow. */

import { webhooksHandler } from '../lib/webhooks/handler.ts';

export const handler = webhooksHandler();
