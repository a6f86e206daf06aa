/**
 * The routes about executions: start, run, list, show, why, and the commands.
 *
 * Owns: their rows. Does not own: the checks of a request (`requests.ts`), the answers (`views.ts`), the
 * effects of the calls (`scheduler/start.ts`, `scheduler/commands.ts`).
 */

import type { Context } from 'hono';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import type { Execution } from '../core/records/state.ts';
import { cut } from '../core/values/text.ts';
import { deferringAgents } from '../explain/deferred.ts';
import { explain } from '../explain/why.ts';
import { laneText } from '../explain/words.ts';
import { LANE_STEP } from '../core/plan/lane.ts';
import { possibleCommands } from '../core/operators/obey.ts';
import { shownSteps } from '../core/plan/on-failure.ts';
import { cancel, pause, resume, retry } from '../scheduler/commands.ts';
import { erase } from '../scheduler/erase.ts';
import { withOwnMailbox } from '../engine/mailbox.ts';
import { laneNow } from '../scheduler/lanes.ts';
import { questionsBelowEach, questionsBelow, list } from '../scheduler/lists.ts';
import { type Scheduler, show, type Shown, start, type StartRequest } from '../scheduler/start.ts';
import { showAtEnd } from '../scheduler/wait.ts';
import { breakersNow } from './agents.ts';
import type { ExecutionView, Started, Stopped } from './answers.ts';
import { callerOf } from './callers.ts';
import { fittedExecution, fittedExplanation } from './fitting.ts';
import {
  asJson,
  cancelBody,
  commandBody,
  emptyBody,
  keyOf,
  listQuery,
  listRequestOf,
  MAX_WAIT_MS,
  parseWait,
  pauseBody,
  pauseOf,
  retryBody,
  runBody,
  showQuery,
  startBody,
} from './requests.ts';
import { row, type RouteRows } from './route-row.ts';
import { withShown } from './shown-values.ts';
import { executionSummary, executionView, stoppedView } from './views.ts';

export const EXECUTION_ROUTES = {
  'POST /workflows/{name}/executions': row(202, startBody, async ({ c, scheduler, named }, body) => {
    const started = await start(scheduler, startOf(c, named, body));
    c.header('Location', `/executions/${started.id}`);
    return obeyed(started);
  }),
  'POST /workflows/{name}/runs': row(200, runBody, async ({ c, scheduler, named }, { wait, ...body }) => {
    // Checked before the start, so that a refused call has started nothing.
    const waitMs = parseWait(wait, 'body') ?? MAX_WAIT_MS;
    const { id } = await start(scheduler, startOf(c, named, body));
    const view = await viewNow(scheduler, await showAtEnd(scheduler, id, waitMs));
    c.header('Location', `/executions/${id}`);
    return fittedExecution(view);
  }),
  'GET /executions': row(200, listQuery, async ({ scheduler }, query) => {
    const { items, ...page } = await list(scheduler, listRequestOf(query));
    const now = scheduler.ports.clock.now();
    const asked = await questionsBelowEach(scheduler, items);
    return { items: items.map((execution) => executionSummary(execution, now, asked)), ...page };
  }),
  'GET /executions/{id}': row(200, showQuery, async ({ scheduler, named: id }, { wait, step }) => {
    const waitMs = parseWait(wait, 'query') ?? 0;
    const shown = await (waitMs > 0 ? showAtEnd(scheduler, id, waitMs) : show(scheduler, id));
    if (step !== undefined && !shownSteps(shown.plan, shown.state).some(({ name }) => name === step))
      throw unknownStep(id, step);
    return fittedExecution(await viewNow(scheduler, shown, step), step);
  }),
  'GET /executions/{id}/why': row(200, undefined, async ({ scheduler, named, receipts }) => {
    const { state: stored, plan } = await show(scheduler, named);
    const state = await withOwnMailbox(scheduler.ports, plan, stored);
    const { clock, queue } = scheduler.ports;
    const now = clock.now();
    const commands = possibleCommands(plan, state, now, scheduler.workflows.has(plan.workflow));
    const deferring = deferringAgents(shownSteps(plan, state), state);
    const breakers = await breakersNow(scheduler, deferring, receipts);
    const asked = await questionsBelow(scheduler, state);
    const explanation = explain(plan, state, now, queue.reaches, breakers, asked);
    const lane = await laneNow(scheduler, { state, plan });
    const steps = explanation.steps.map((one) =>
      lane !== undefined && one.name === LANE_STEP ? { ...one, because: laneText(lane) } : one,
    );
    return fittedExplanation({ ...explanation, steps, commands });
  }),
  'POST /executions/{id}/cancel': row(202, cancelBody, async ({ c, scheduler, named }, body) =>
    stopped(scheduler, await cancel(scheduler, named, { ...body, ...callerOf(c) })),
  ),
  'POST /executions/{id}/pause': row(202, pauseBody, async ({ c, scheduler, named }, body) =>
    obeyed(await pause(scheduler, named, { ...pauseOf(body), ...callerOf(c) })),
  ),
  'POST /executions/{id}/resume': row(202, commandBody, async ({ c, scheduler, named }, body) =>
    obeyed(await resume(scheduler, named, { ...body, ...callerOf(c) })),
  ),
  'POST /executions/{id}/retry': row(202, retryBody, async ({ c, scheduler, named }, body) => {
    if (body.step !== undefined && body.input === undefined) throw refuse('bad-request', STEP_WITHOUT_INPUT);
    return obeyed(await retry(scheduler, named, { ...body, ...callerOf(c) }));
  }),
  'POST /executions/{id}/erase': row(200, emptyBody, async ({ c, scheduler, named }) =>
    erase(scheduler, named, callerOf(c).by),
  ),
} satisfies Partial<RouteRows>;

const STEP_WITHOUT_INPUT = 'step needs an input; without one, all failed steps are retried';

/** A start, with the key from the header or the body. */
function startOf(c: Context, workflow: string, body: Omit<StartRequest, 'workflow' | 'by'>): StartRequest {
  const key = defined({ idempotencyKey: keyOf(c, body.idempotencyKey) });
  return { ...body, ...key, workflow, input: asJson(body.input), ...callerOf(c) };
}

async function viewNow(
  scheduler: Scheduler,
  { state: known, plan }: Shown,
  step?: string,
): Promise<ExecutionView> {
  // The time is taken after the reading, so that no record is newer.
  const now = scheduler.ports.clock.now();
  const asked = await questionsBelow(scheduler, known);
  const state = await withShown(scheduler.ports, known, step);
  const lane = await laneNow(scheduler, { state, plan });
  const view = executionView(state, plan, now, asked);
  if (lane === undefined) return view;
  return { ...view, steps: view.steps.map((one) => (one.kind === 'lane' ? { ...one, lane } : one)) };
}

const unknownStep = (id: string, step: string): SteadfastError =>
  refuse(
    'unknown-step',
    `execution ${id} has no step '${cut(step, 60)}'; without ?step= it shows all of them`,
  );

const obeyed = ({ id, status }: Execution): Started => ({ executionId: id, status });

/**
 * Reads the execution again, because its undo may already be complete, to say what is left. If that fails,
 * the answer only says that the command was obeyed.
 */
export async function stopped(scheduler: Scheduler, { id, status }: Execution): Promise<Stopped> {
  const now = await show(scheduler, id).catch(() => undefined);
  return now === undefined ? { executionId: id, status } : stoppedView(now.state, now.plan);
}
