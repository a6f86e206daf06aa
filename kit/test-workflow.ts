/**
 * `steadfast/testing`: the test kit for users' workflows. It needs no test runner: it throws and returns, and
 * asserts nothing.
 *
 * Owns: the package's entry. Does not own: the implementations. `lib` never imports `kit`.
 */

import type { Workflow } from '../lib/core/plan/workflow.ts';
import { createClient, type KnownWorkflows } from '../lib/api/typed-client.ts';
import { CLOUD, type LocalCloud, type LocalCloudOptions } from './cloud/local-cloud.ts';
import { SERVER, type TestServer, type TestServerOptions } from './server/test-server.ts';
import { checkOptions } from './test-options.ts';
import { TEST, type TestOptions, WorkflowTest } from './workflow-test.ts';

export type { Explanation } from '../lib/explain/why.ts';
export { crashEverywhere } from './crash-everywhere.ts';
export type { CrashOptions, CrashReport, CrashFinding } from './crash-everywhere.ts';
export type { AgentCall, FaultOptions, LoggedLine } from './agent-calls.ts';
export { externalWorld } from './external-world.ts';
export type { WorldEffect, ExternalWorld } from './external-world.ts';
export type { RunState, StepState } from './run-state.ts';
export type {
  AgentRef,
  TestAgent,
  TestNotification,
  TestOptions,
  TestStartOptions,
} from './workflow-test.ts';
export type { WorkflowTest } from './workflow-test.ts';
export type { ArmedFault, CallFault, FaultHit, FaultMoment } from '../local/control/fault.ts';
export type {
  LocalBucket,
  LocalCallCount,
  LocalCloud,
  LocalCloudOptions,
  LocalEvent,
  LocalFunctionState,
  RandomKillOptions,
  RandomKills,
} from './cloud/local-cloud.ts';
export type { TestServer, TestServerEvent, TestServerOptions } from './server/test-server.ts';
export type { OpenIncident, TestRun } from './test-run.ts';

/**
 * A workflow with its agents in memory, on the roles that run in production. Time is the test's own
 * and is skipped: nothing sleeps.
 * @example
 * const trial = testWorkflow(order, { agents: [handler] });
 * export const run = await trial.start({ orderId: 'o-1' });
 * @throws SteadfastError `missing-agent`, `not-a-handler`, `bad-agents`: each says what to pass;
 * `bad-option` for an option that does not exist, `bad-rate` and `unknown-agent` for one of `rates`,
 * `workflow-refused` for a reference that synthesis refuses
 */
export function testWorkflow<I>(workflow: Workflow<I>, options: TestOptions): WorkflowTest<I> {
  checkOptions('testWorkflow', options, TEST);
  return new WorkflowTest(workflow, options);
}

/**
 * A project on the local cloud, with real processes: its CDK app is synthesised and run as `steadfast dev`
 * runs it, in a folder that is deleted afterwards. End it with `stop()`.
 *
 *     const cloud = await startCloud<{ 'order-fulfilment': typeof orderFulfilment }>();
 *     cloud.kill('charge-card', { afterCall: 1, operation: 'PutItem' });
 *     const { executionId } = await cloud.client.start('order-fulfilment', { input });
 *     const { status } = await cloud.client.waitForEnd(executionId);
 *     await cloud.stop();
 *
 * @throws Error that says what to do, with nothing left running
 */
export async function startCloud<W extends KnownWorkflows = Readonly<Record<string, Workflow>>>(
  options: LocalCloudOptions = {},
): Promise<LocalCloud<W>> {
  checkOptions('startCloud', options, CLOUD);
  // Imported only here, because a test in memory does not need a cloud.
  const { start } = await import('./cloud/start-cloud.ts');
  return start<W>(options);
}

/**
 * Workflows behind a real HTTP API, in this process and within milliseconds, over a file or in memory, as
 * `steadfast serve` runs them. Time is real. End it with `stop()`.
 *
 *     const server = await startServer({ workflows: [orderFulfilment], agents: [chargeCard, shipOrder] });
 *     const { executionId } = await server.client.start('order-fulfilment', { input });
 *     const { status } = await server.client.waitForEnd(executionId);
 *     await server.stop();
 *
 * @throws Error that says what to do, with nothing left running
 */
export async function startServer<W extends KnownWorkflows = Readonly<Record<string, Workflow>>>(
  options: TestServerOptions,
): Promise<TestServer<W>> {
  checkOptions('startServer', options, SERVER);
  // Imported only here, because a test in memory does not need a server.
  const { start } = await import('./server/start-server.ts');
  const server = await start(options);
  return { ...server, client: createClient<W>({ url: server.url }) };
}
