/**
 * The routes about what is deployed: workflows and agents, and their pauses, and the overview.
 *
 * Owns: which call does what. Does not own: the routes about executions (`routes.ts`), what a pause is
 * (`scheduler/holds.ts`).
 */

import type { Hono } from 'hono/tiny';
import type { Receipts } from '../core/ports.ts';
import { given } from '../core/values/given.ts';
import type { Breaker } from '../core/step/breaker.ts';
import { type Registered, type Scheduler, workflowOf } from '../scheduler/start.ts';
import { pauseAgent, pauseWorkflow, resumeAgent, resumeWorkflow, showPause } from '../scheduler/holds.ts';
import { tryNow } from '../scheduler/try-now.ts';
import { agentsOf, breakerView, neededAgents } from './agents.ts';
import type { AgentPauseView, AllForms, WorkflowView } from './deployment-answers.ts';
import { callerOf } from './callers.ts';
import { overviewOf } from './overview.ts';
import {
  agentsQuery,
  bodyText,
  checked,
  emptyBody,
  parseBody,
  pauseAgentBody,
  parsePause,
  pauseWorkflowBody,
} from './requests.ts';
import { workflowView } from './workflow-view.ts';

export function deploymentRoutes(
  app: Hono,
  scheduler: Scheduler,
  receipts: Receipts | undefined,
  forms: () => Promise<AllForms>,
): void {
  const viewOf = async ({ workflow, planHash }: Registered): Promise<WorkflowView> => ({
    ...workflowView(workflow.plan, planHash),
    ...(await showPause(scheduler, workflow.name)),
  });
  app.get('/workflows', async (c) =>
    c.json({
      items: await Promise.all([...scheduler.workflows.values()].map(viewOf)),
    }),
  );
  app.get('/workflows/:name', async (c) => {
    const [view, all] = await Promise.all([viewOf(workflowOf(scheduler, c.req.param('name'))), forms()]);
    return c.json({ ...view, ...given({ forms: all[view.workflow] }) });
  });
  app.post('/workflows/:name/pause', async (c) => {
    const { within, ...asked } = parseBody(await bodyText(c), pauseWorkflowBody);
    const withinMs = within === undefined ? {} : { withinMs: parsePause(within) };
    const workflow = c.req.param('name');
    const paused = await pauseWorkflow(scheduler, workflow, {
      ...given(asked),
      ...withinMs,
      ...callerOf(c),
    });
    return c.json({ workflow, ...paused }, 202);
  });
  app.post('/workflows/:name/resume', async (c) => {
    parseBody(await bodyText(c), emptyBody);
    const workflow = c.req.param('name');
    return c.json({ workflow, ...(await resumeWorkflow(scheduler, workflow, callerOf(c))) }, 202);
  });
  app.get('/overview', async (c) => c.json(await overviewOf(scheduler, receipts)));
  agentRoutes(app, scheduler, receipts);
}

function agentRoutes(app: Hono, scheduler: Scheduler, receipts: Receipts | undefined): void {
  app.get('/agents', async (c) => {
    const { needed } = checked(c.req.query(), agentsQuery, 'query');
    const answer = await agentsOf(scheduler, receipts);
    return c.json({ ...answer, ...(needed === undefined ? {} : { needed: await neededAgents(scheduler) }) });
  });
  const held = (agent: string, breaker: Breaker | undefined): AgentPauseView => ({
    agent,
    breaker: breakerView(breaker, scheduler.ports.clock.now()),
  });
  app.post('/agents/:name/pause', async (c) => {
    const asked = given(parseBody(await bodyText(c), pauseAgentBody));
    const agent = c.req.param('name');
    return c.json(held(agent, await pauseAgent(scheduler, agent, { ...asked, ...callerOf(c) })), 202);
  });
  app.post('/agents/:name/resume', async (c) => {
    parseBody(await bodyText(c), emptyBody);
    const agent = c.req.param('name');
    return c.json(held(agent, await resumeAgent(scheduler, agent, callerOf(c))), 202);
  });
  app.post('/agents/:name/try-now', async (c) => {
    parseBody(await bodyText(c), emptyBody);
    const agent = c.req.param('name');
    const { breaker, ...woken } = await tryNow(scheduler, agent);
    return c.json({ ...held(agent, breaker), ...woken }, 202);
  });
}
