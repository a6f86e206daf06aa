/**
 * The HTTP contract: the table of routes, status codes, error bodies. The same app answers in Lambda and in
 * tests.
 *
 * Owns: how a row is served, and the form of every refusal: `{error: {code, message, details?}}`, never a
 * stack, never a payload. Does not own: the rows (`*-routes.ts`), the checks of a request
 * (`read-request.ts`), the effects of the calls (`scheduler/start.ts`).
 */

import { Hono } from 'hono/tiny';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Receipts } from '../core/ports.ts';
import { isSteadfastError, refuse, sayable } from '../core/values/errors.ts';
import { cut } from '../core/values/text.ts';
import type { Scheduler } from '../scheduler/start.ts';
import { BULK_ROUTES } from './bulk-routes.ts';
import { CALLS, type Route } from './calls.ts';
import type { AllForms } from './deployment-answers.ts';
import { DEPLOYMENT_ROUTES } from './deployment-routes.ts';
import { EXECUTION_ROUTES } from './execution-routes.ts';
import type { Measured } from './health.ts';
import { MESSAGE_ROUTES } from './message-routes.ts';
import { answerAsAsked } from './plain.ts';
import { QUESTION_ROUTES } from './question-routes.ts';
import { bodyOf, boundBody, queryOf } from './read-request.ts';
import type { RouteRows, ServedFrom } from './route-row.ts';
import { STATUS } from './statuses.ts';

export const ROUTES: RouteRows = {
  ...EXECUTION_ROUTES,
  ...MESSAGE_ROUTES,
  ...QUESTION_ROUTES,
  ...BULK_ROUTES,
  ...DEPLOYMENT_ROUTES,
};

const STATUS_OF: Readonly<Record<string, ContentfulStatusCode>> = STATUS;

/**
 * @param receipts of supervisors and audit, for `/health`
 * @param openapi reads the contract as text, for `/openapi.json`
 * @param forms reads the forms for `GET /workflows/{name}`
 * @param metrics for `/health`, if there are any
 * @param isAtRest refuses calls that write
 */
export function routes(
  scheduler: Scheduler,
  receipts?: Receipts,
  openapi: () => Promise<string> = noContract,
  forms: () => Promise<AllForms> = noForms,
  metrics?: Measured,
  isAtRest = false,
): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    answerAsAsked(c);
    // An unauthorised call reaches only this answer to a browser's preflight, to which the gateway adds its
    // headers.
    if (c.req.method === 'OPTIONS') return c.body(null, 204);
    if (isAtRest && c.req.method !== 'GET')
      throw refuse('at-rest', 'the deployment is at rest, for example during a restore: call again later');
    boundBody(c, scheduler.ports);
    return next();
  });
  for (const route of Object.keys(CALLS) as Route[])
    serve(app, route, { scheduler, receipts, openapi, forms, metrics });
  app.notFound((c) => {
    // Hidden, because a callback's token is a secret, also in a misspelled path.
    const path = c.req.path.startsWith('/callbacks/') ? '/callbacks/…' : c.req.path;
    return c.json(refusalOf('unknown-route', `there is no ${c.req.method} ${path}`), STATUS['unknown-route']);
  });
  app.onError((error, c) => {
    if (isSteadfastError(error) && STATUS_OF[error.code] !== undefined) {
      return c.json(refusalOf(error.code, error.message, error.details), STATUS_OF[error.code]);
    }
    // An unexpected error is described in the log, not in the answer.
    scheduler.ports.log.note({ what: 'request-failed', detail: sayable(error) });
    return c.json(refusalOf('internal', 'the request could not be handled; try it again'), STATUS.internal);
  });
  return app;
}

const noForms = async (): Promise<AllForms> => ({});
const noContract = async (): Promise<string> => {
  throw refuse('unknown-route', 'the contract is not served here; it is docs/openapi.json of the package');
};

function serve(app: Hono, route: Route, served: ServedFrom): void {
  const { takes, answer } = ROUTES[route];
  const [method = '', pattern = ''] = route.split(' ');
  const [, first = ''] = /\{(\w+)\}/.exec(pattern) ?? [];
  app.on(method, pattern.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
    const sent = takes === undefined ? {} : method === 'GET' ? queryOf(c, takes) : await bodyOf(c, takes);
    return answer({ ...served, c, named: c.req.param(first) ?? '' }, sent as never);
  });
}

const MAX_MESSAGE_CHARS = 2_000;
const MAX_ISSUES = 20;
const MAX_ISSUE_CHARS = 300;

/** A refusal, which quotes no more of a request than a person reads. */
const refusalOf = (code: string, message: string, details?: unknown): { error: Record<string, unknown> } => ({
  error: {
    code,
    message: cut(message, MAX_MESSAGE_CHARS),
    ...(details === undefined ? {} : { details: shortened(details) }),
  },
});

/** The first issues, each shortened. */
function shortened(details: unknown): unknown {
  const { issues, ...more } = Object(details) as { issues?: unknown };
  if (!Array.isArray(issues)) return details;
  const first = (issues as Readonly<Record<string, unknown>>[]).slice(0, MAX_ISSUES);
  const short = first.map((issue) =>
    Object.fromEntries(
      Object.entries(issue).map(([name, said]) => [
        name,
        typeof said === 'string' ? cut(said, MAX_ISSUE_CHARS) : said,
      ]),
    ),
  );
  return { ...(issues.length > MAX_ISSUES ? { issueCount: issues.length } : {}), ...more, issues: short };
}
