/**
 * The routes that send messages to executions.
 *
 * Owns: their rows. Does not own: the checks of a request (`requests.ts`), which messages are accepted
 * (`scheduler/messages.ts`).
 */

import { defined } from '../core/values/defined.ts';
import { sendMessage } from '../scheduler/messages.ts';
import { callerOf } from './callers.ts';
import { asJson, keyedMessageBody, messageBody } from './requests.ts';
import { row, type RouteRows } from './route-row.ts';

export const MESSAGE_ROUTES = {
  'POST /executions/{id}/messages': row(202, messageBody, ({ c, scheduler, named }, { body, ...message }) =>
    sendMessage(scheduler, { executionId: named }, { ...message, body: asJson(body), ...callerOf(c) }),
  ),
  'POST /workflows/{name}/messages': row(
    202,
    keyedMessageBody,
    ({ c, scheduler, named }, { key, startWith, body, ...message }) => {
      const start = startWith && { ...defined(startWith), input: asJson(startWith.input) };
      const to = { workflow: named, key, ...defined({ startWith: start }) };
      return sendMessage(scheduler, to, { ...message, body: asJson(body), ...callerOf(c) });
    },
  ),
} satisfies Partial<RouteRows>;
