/**
 * The HTTP contract: routes, status codes, error bodies. The same app answers in Lambda and in tests.
 *
 * Owns: which call does what and the form of every refusal: `{error: {code, message, details?}}`,
 * never a stack, never a payload. Does not own: the checks of a request (`requests.ts`), what the
 * calls do (`scheduler/start.ts`).
 */

import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import type * as z from 'zod/mini';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isSteadfastError, refuse, sayable, SteadfastError } from '../core/values/errors.ts';
import type { Receipts } from '../core/ports.ts';
import type { CallbackAnswer } from '../core/decisions/events.ts';
import { given } from '../core/values/given.ts';
import type { Execution } from '../core/records/state.ts';
import { cut } from '../core/values/text.ts';
import { deferringAgents } from '../core/explain/deferred.ts';
import { explain } from '../core/explain/why.ts';
import { laneText } from '../core/explain/words.ts';
import { LANE_STEP } from '../core/plan/lane.ts';
import { possibleCommands } from '../core/operators/obey.ts';
import { shownSteps } from '../core/plan/on-failure.ts';
import { closeCallback } from '../scheduler/callbacks.ts';
import { erase } from '../scheduler/erase.ts';
import { cancel, pause, resume, retry } from '../scheduler/commands.ts';
import { resolveIncident, type ResolutionRequest } from '../scheduler/incidents.ts';
import { laneNow } from '../scheduler/lanes.ts';
import { askedIn, askedOf, list } from '../scheduler/lists.ts';
import { type Scheduler, show, type Shown, start, type StartRequest } from '../scheduler/start.ts';
import { showAtEnd } from '../scheduler/wait.ts';
import { breakersNow } from './agents.ts';
import type { ExecutionView } from './answers.ts';
import type { AllForms } from './deployment-answers.ts';
import { bulkRoutes } from './bulk-routes.ts';
import { callerOf } from './callers.ts';
import { deploymentRoutes } from './deployment-routes.ts';
import { fittedExecution, fittedExplanation } from './fitting.ts';
import { healthOf, type Measured } from './health.ts';
import {
  answerBody,
  asJson,
  bodyText,
  bodyWithValue,
  cancelBody,
  checked,
  commandBody,
  completeBody,
  emptyBody,
  failBody,
  keyOf,
  boundBody,
  MAX_WAIT_MS,
  parseBody,
  parseLimit,
  parseList,
  parsePause,
  parseWait,
  pageQuery,
  pauseBody,
  retryBody,
  runBody,
  showQuery,
  startBody,
} from './requests.ts';
import { answerAsAsked } from './plain.ts';
import { STATUS } from './statuses.ts';
import { withShown } from './shown-values.ts';
import { belongingOf, executionSummary, executionView, questionView, stoppedView } from './views.ts';

const STATUS_OF: Readonly<Record<string, ContentfulStatusCode>> = STATUS;

/**
 * @param receipts of supervisors and audit, for `/health`
 * @param openapi reads the contract as text, for `/openapi.json`
 * @param forms reads what `GET /workflows/{name}` says of a workflow's schemas
 * @param metrics where there are any, for `/health`
 * @param isAtRest whether what writes is refused
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
    // Here the caller is not authorized: it answers a browser's preflight, to which the gateway adds its
    // headers, and nothing else.
    if (c.req.method === 'OPTIONS') return c.body(null, 204);
    if (isAtRest && c.req.method !== 'GET')
      throw refuse('at-rest', 'the deployment is at rest, for example during a restore: call again later');
    boundBody(c, scheduler.ports);
    return next();
  });
  executionRoutes(app, scheduler);
  commandRoutes(app, scheduler);
  erasureRoutes(app, scheduler);
  incidentRoutes(app, scheduler);
  callbackRoutes(app, scheduler);
  bulkRoutes(app, scheduler);
  deploymentRoutes(app, scheduler, receipts, forms);
  app.get('/health', async (c) => {
    const health = await healthOf(scheduler, receipts, metrics);
    return c.json(health, health.status === 'down' ? 503 : 200);
  });
  app.get('/openapi.json', async (c) => c.body(await openapi(), 200, { 'content-type': 'application/json' }));
  app.notFound((c) => {
    // A callback's token is a secret, also in a path that is misspelled.
    const path = c.req.path.startsWith('/callbacks/') ? '/callbacks/…' : c.req.path;
    return c.json(bodyOf('unknown-route', `there is no ${c.req.method} ${path}`), STATUS['unknown-route']);
  });
  app.onError((error, c) => {
    if (isSteadfastError(error) && STATUS_OF[error.code] !== undefined) {
      return c.json(bodyOf(error.code, error.message, error.details), STATUS_OF[error.code]);
    }
    // What we did not foresee is named in the log, not in the answer.
    scheduler.ports.log.note({ what: 'request-failed', detail: sayable(error) });
    return c.json(bodyOf('internal', 'the request could not be handled; try it again'), STATUS.internal);
  });
  return app;
}

const noForms = async (): Promise<AllForms> => ({});
const noContract = async (): Promise<string> => {
  throw refuse('unknown-route', 'the contract is not served here; it is docs/openapi.json of the package');
};

function executionRoutes(app: Hono, scheduler: Scheduler): void {
  app.post('/workflows/:name/executions', async (c) => {
    const body = await bodyWithValue(c, startBody);
    const { id, status } = await start(scheduler, startOf(c, body));
    return c.json({ executionId: id, status }, 202, { Location: `/executions/${id}` });
  });
  app.post('/workflows/:name/runs', async (c) => {
    const { wait, ...body } = await bodyWithValue(c, runBody);
    // Before the start: what is refused has started nothing.
    const waitMs = parseWait(wait, 'body') ?? MAX_WAIT_MS;
    const { id } = await start(scheduler, startOf(c, body));
    const view = await viewNow(scheduler, await showAtEnd(scheduler, id, waitMs));
    return c.json(fittedExecution(view), 200, { Location: `/executions/${id}` });
  });
  app.get('/executions', async (c) => {
    const { items, ...page } = await list(scheduler, parseList(c.req.query()));
    const now = scheduler.ports.clock.now();
    const asked = await askedIn(scheduler, items);
    return c.json({ items: items.map((execution) => executionSummary(execution, now, asked)), ...page });
  });
  app.get('/executions/:id', async (c) => {
    const { wait, step } = checked(c.req.query(), showQuery, 'query');
    const waitMs = parseWait(wait, 'query') ?? 0;
    const id = c.req.param('id');
    const shown = await (waitMs > 0 ? showAtEnd(scheduler, id, waitMs) : show(scheduler, id));
    if (step !== undefined && !shownSteps(shown.plan, shown.state).some(({ name }) => name === step))
      throw unknownStep(id, step);
    return c.json(fittedExecution(await viewNow(scheduler, shown, step), step));
  });
  app.get('/executions/:id/why', async (c) => {
    const { state, plan } = await show(scheduler, c.req.param('id'));
    const { clock, queue } = scheduler.ports;
    const now = clock.now();
    const commands = possibleCommands(plan, state, now, scheduler.workflows.has(plan.workflow));
    const breakers = await breakersNow(scheduler, deferringAgents(shownSteps(plan, state), state));
    const asked = await askedOf(scheduler, state);
    const explanation = explain(plan, state, now, queue.reaches, breakers, asked);
    const lane = await laneNow(scheduler, { state, plan });
    const steps = explanation.steps.map((one) =>
      lane !== undefined && one.name === LANE_STEP ? { ...one, because: laneText(lane) } : one,
    );
    return c.json(fittedExplanation({ ...explanation, steps, commands }));
  });
}

function startOf(c: Context, { input, ...body }: z.output<typeof startBody>): StartRequest {
  const idempotencyKey = keyOf(c, body.idempotencyKey);
  return {
    ...given({ ...body, idempotencyKey }),
    workflow: c.req.param('name') ?? '',
    input: asJson(input),
    ...callerOf(c),
  };
}

async function viewNow(
  scheduler: Scheduler,
  { state: known, plan }: Shown,
  step?: string,
): Promise<ExecutionView> {
  const asked = await askedOf(scheduler, known);
  const state = await withShown(scheduler.ports, known, step);
  const lane = await laneNow(scheduler, { state, plan });
  const view = executionView(state, plan, scheduler.ports.clock.now(), asked) as unknown as ExecutionView;
  if (lane === undefined) return view;
  return { ...view, steps: view.steps.map((one) => (one.kind === 'lane' ? { ...one, lane } : one)) };
}

const unknownStep = (id: string, step: string): SteadfastError =>
  refuse(
    'unknown-step',
    `execution ${id} has no step '${cut(step, 60)}'; without ?step= it shows all of them`,
  );

function commandRoutes(app: Hono, scheduler: Scheduler): void {
  app.post('/executions/:id/cancel', async (c) => {
    const body = { ...given(parseBody(await bodyText(c), cancelBody)), ...callerOf(c) };
    return stopped(c, scheduler, await cancel(scheduler, c.req.param('id'), body));
  });
  app.post('/executions/:id/pause', async (c) => {
    const { within, ...command } = parseBody(await bodyText(c), pauseBody);
    const withinMs = within === undefined ? {} : { withinMs: parsePause(within) };
    const asked = { ...given(command), ...withinMs, ...callerOf(c) };
    return obeyed(c, await pause(scheduler, c.req.param('id'), asked));
  });
  app.post('/executions/:id/resume', async (c) => {
    const asked = { ...given(parseBody(await bodyText(c), commandBody)), ...callerOf(c) };
    return obeyed(c, await resume(scheduler, c.req.param('id'), asked));
  });
  app.post('/executions/:id/retry', async (c) => {
    const { input, ...command } = parseBody(await bodyText(c), retryBody);
    if (command.step !== undefined && input === undefined) throw refuse('bad-request', STEP_WITHOUT_INPUT);
    const other = input === undefined ? {} : { input: asJson(input) };
    return obeyed(
      c,
      await retry(scheduler, c.req.param('id'), { ...given(command), ...other, ...callerOf(c) }),
    );
  });
}

function erasureRoutes(app: Hono, scheduler: Scheduler): void {
  app.post('/executions/:id/erase', async (c) => {
    parseBody(await bodyText(c), emptyBody);
    return c.json(await erase(scheduler, c.req.param('id'), callerOf(c).by));
  });
}

const STEP_WITHOUT_INPUT = 'step needs an input; without one, all failed steps are retried';

const obeyed = (c: Context, { id, status }: Execution): Response => c.json({ executionId: id, status }, 202);

/**
 * What follows may be over by now, so the execution is read again to say what is left. If that fails, the
 * answer says only that the command was obeyed.
 */
async function stopped(c: Context, scheduler: Scheduler, { id, status }: Execution): Promise<Response> {
  const now = await show(scheduler, id).catch(() => undefined);
  return c.json(now === undefined ? { executionId: id, status } : stoppedView(now.state, now.plan), 202);
}

/** A token is `<execution>.<step>.<key>`, and the key has no dot. */
const failedCode = (token: string): string => `${token.split('.').at(-2) ?? 'callback'}-failed`;

function callbackRoutes(app: Hono, scheduler: Scheduler): void {
  const answered = (c: Context, answer: CallbackAnswer): ReturnType<typeof closeCallback> =>
    closeCallback(scheduler, c.req.param('token') ?? '', answer, callerOf(c).by);
  app.post('/callbacks/:token/complete', async (c) => {
    const { output } = await bodyWithValue(c, completeBody);
    const { by } = await answered(c, { kind: 'complete', output: asJson(output) });
    return c.json({ status: 'completed', ...given({ by }) });
  });
  app.post('/callbacks/:token/fail', async (c) => {
    // By the step, not by a word that says nothing: failures are counted by their code.
    const { code = failedCode(c.req.param('token')), message = 'the external party said that it failed' } =
      parseBody(await bodyText(c), failBody);
    const { by } = await answered(c, { kind: 'fail', failure: { code, message } });
    return c.json({ status: 'failed', ...given({ by }) });
  });
  app.post('/callbacks/:token/heartbeat', async (c) => {
    await answered(c, { kind: 'heartbeat' });
    return c.json({ status: 'open' });
  });
}

function incidentRoutes(app: Hono, scheduler: Scheduler): void {
  app.get('/incidents', async (c) => {
    const { cursor, limit } = checked(c.req.query(), pageQuery, 'query');
    const page = await scheduler.ports.store.inbox(parseLimit(limit), cursor);
    return c.json({
      items: page.items.map(({ executionId, question }) => ({
        executionId,
        ...belongingOf(question),
        ...questionView(question),
      })),
      ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
    });
  });
  app.post('/executions/:id/incidents/:n/resolve', async (c) => {
    const body = await bodyWithValue(c, answerBody);
    const incident = Number(c.req.param('n'));
    const state = await resolveIncident(scheduler, c.req.param('id'), {
      ...given(body),
      incident,
      ...callerOf(c),
    } as ResolutionRequest);
    return stopped(c, scheduler, state.execution);
  });
}

const MAX_MESSAGE_CHARS = 2_000;
const MAX_ISSUES = 20;
const MAX_ISSUE_CHARS = 300;

/** A refusal quotes no more of a request than a person reads. */
const bodyOf = (code: string, message: string, details?: unknown): { error: Record<string, unknown> } => ({
  error: {
    code,
    message: cut(message, MAX_MESSAGE_CHARS),
    ...(details === undefined ? {} : { details: shortened(details) }),
  },
});

/** The first issues, each in part. */
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
  return { ...more, issues: short, ...(issues.length > MAX_ISSUES ? { issueCount: issues.length } : {}) };
}
