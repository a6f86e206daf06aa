/**
 * The routes about the deployment: workflows and agents, their pauses, the overview, the health.
 *
 * Owns: their rows. Does not own: the pauses themselves (`scheduler/holds.ts`), the answers
 * (`workflow-view.ts`, `agents.ts`, `overview.ts`, `health.ts`).
 */

import { defined } from '../core/values/defined.ts';
import type { Breaker } from '../core/step/breaker.ts';
import { pauseAgent, pauseWorkflow, resumeAgent, resumeWorkflow, showPause } from '../scheduler/holds.ts';
import { type Registered, type Scheduler, workflowOf } from '../scheduler/start.ts';
import { tryNow } from '../scheduler/try-now.ts';
import { agentsOf, breakerView, neededAgents } from './agents.ts';
import { callerOf } from './callers.ts';
import type { AgentPauseView } from './agent-answers.ts';
import type { WorkflowView } from './deployment-answers.ts';
import { healthOf } from './health.ts';
import { overviewOf } from './overview.ts';
import { agentsQuery, emptyBody, pauseAgentBody, pauseOf, pauseWorkflowBody } from './requests.ts';
import { row, type RouteRows } from './route-row.ts';
import { workflowView } from './workflow-view.ts';

const viewOf = async (scheduler: Scheduler, { workflow, planHash }: Registered): Promise<WorkflowView> => ({
  ...workflowView(workflow.plan, planHash),
  ...(await showPause(scheduler, workflow.name)),
});

const agentView = ({ ports }: Scheduler, agent: string, breaker: Breaker | undefined): AgentPauseView => ({
  agent,
  breaker: breakerView(breaker, ports.clock.now()),
});

export const DEPLOYMENT_ROUTES = {
  'GET /workflows': row(200, undefined, async ({ scheduler }) => ({
    items: await Promise.all([...scheduler.workflows.values()].map((one) => viewOf(scheduler, one))),
  })),
  'GET /workflows/{name}': row(200, undefined, async ({ scheduler, forms, named }) => {
    const [view, all] = await Promise.all([viewOf(scheduler, workflowOf(scheduler, named)), forms()]);
    return { ...view, ...defined({ forms: all[view.workflow] }) };
  }),
  'POST /workflows/{name}/pause': row(
    202,
    pauseWorkflowBody,
    async ({ c, scheduler, named: workflow }, body) => ({
      workflow,
      ...(await pauseWorkflow(scheduler, workflow, { ...pauseOf(body), ...callerOf(c) })),
    }),
  ),
  'POST /workflows/{name}/resume': row(202, emptyBody, async ({ c, scheduler, named: workflow }) => ({
    workflow,
    ...(await resumeWorkflow(scheduler, workflow, callerOf(c))),
  })),
  'GET /overview': row(200, undefined, async ({ scheduler, receipts }) => overviewOf(scheduler, receipts)),
  'GET /agents': row(200, agentsQuery, async ({ scheduler, receipts }, { needed }) => ({
    ...(await agentsOf(scheduler, receipts)),
    ...(needed === undefined ? {} : { needed: await neededAgents(scheduler) }),
  })),
  'POST /agents/{name}/pause': row(202, pauseAgentBody, async ({ c, scheduler, named }, body) =>
    agentView(scheduler, named, await pauseAgent(scheduler, named, { ...body, ...callerOf(c) })),
  ),
  'POST /agents/{name}/resume': row(202, emptyBody, async ({ c, scheduler, named }) =>
    agentView(scheduler, named, await resumeAgent(scheduler, named, callerOf(c))),
  ),
  'POST /agents/{name}/try-now': row(202, emptyBody, async ({ scheduler, named }) => {
    const { breaker, ...woken } = await tryNow(scheduler, named);
    return { ...agentView(scheduler, named, breaker), ...woken };
  }),
  'GET /health': row(200, undefined, async ({ c, scheduler, receipts, metrics }) => {
    const health = await healthOf(scheduler, receipts, metrics);
    if (health.status === 'down') c.status(503);
    return health;
  }),
  'GET /openapi.json': {
    takes: undefined,
    answer: async ({ c, openapi }) => c.body(await openapi(), 200, { 'content-type': 'application/json' }),
  },
} satisfies Partial<RouteRows>;
