/**
 * The routes about questions to a person or an external party: the inbox, incidents, callbacks.
 *
 * Owns: their rows. Does not own: the checks of a request (`requests.ts`), the effects of the calls
 * (`scheduler/incidents.ts`, `scheduler/callbacks.ts`).
 */

import type { CallbackAnswer } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import { closeCallback } from '../scheduler/callbacks.ts';
import { resolveIncident } from '../scheduler/incidents.ts';
import { callerOf } from './callers.ts';
import { stopped } from './execution-routes.ts';
import { answerBody, asJson, completeBody, failBody, pageQuery, parseLimit } from './requests.ts';
import { type RouteCall, row, type RouteRows } from './route-row.ts';
import { belongingOf, questionView } from './views.ts';

const answered = (
  { c, scheduler, named: token }: RouteCall,
  answer: CallbackAnswer,
): ReturnType<typeof closeCallback> => closeCallback(scheduler, token, answer, callerOf(c).by);

/** A token is `<execution>.<step>.<key>`, and the key has no dot. */
const failedCode = (token: string): string => `${token.split('.').at(-2) ?? 'callback'}-failed`;

export const QUESTION_ROUTES = {
  'POST /executions/{id}/incidents/{n}/resolve': row(
    202,
    answerBody,
    async ({ c, scheduler, named }, body) => {
      const request = { ...body, incident: Number(c.req.param('n')), ...callerOf(c) };
      return stopped(scheduler, (await resolveIncident(scheduler, named, request)).execution);
    },
  ),
  'POST /callbacks/{token}/complete': row(200, completeBody, async (asked, { output }) => {
    const { by } = await answered(asked, { kind: 'complete', output: asJson(output) });
    return { status: 'completed', ...defined({ by }) };
  }),
  'POST /callbacks/{token}/fail': row(
    200,
    failBody,
    async (asked, { code, message = 'the external party said that it failed' }) => {
      // The default code names the step, because failures are counted by their code.
      const failure = { code: code ?? failedCode(asked.named), message };
      const { by } = await answered(asked, { kind: 'fail', failure });
      return { status: 'failed', ...defined({ by }) };
    },
  ),
  'POST /callbacks/{token}/heartbeat': row(200, undefined, async (asked) => {
    await answered(asked, { kind: 'heartbeat' });
    return { status: 'open' };
  }),
  'GET /incidents': row(200, pageQuery, async ({ scheduler }, query) => {
    const { items, cursor } = await scheduler.ports.store.inbox(parseLimit(query.limit), query.cursor);
    return {
      items: items.map(({ executionId, question }) => ({
        ...belongingOf(executionId, question),
        ...questionView(question),
      })),
      ...defined({ cursor }),
    };
  }),
} satisfies Partial<RouteRows>;
