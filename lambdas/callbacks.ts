/** The callbacks' Lambda function: behind the queue of the bus's events that a start asked for. */

import { callbacksHandler } from '../lib/callbacks/handler.ts';

export const handler = callbacksHandler();
