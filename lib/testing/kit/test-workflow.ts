/**
 * `steadfast/testing`: what users test their workflows with. Needs no runner: it throws and returns, and asserts nothing.
 *
 * Owns: the package's second entry. Does not own: anything behind it. Nothing inside `lib` imports this file.
 */

import type { Workflow } from '../../core/plan/workflow.ts';
import { type TestOptions, WorkflowTest } from './workflow-test.ts';

export { crashEverywhere } from './crash-everywhere.ts';
export type { CrashOptions, CrashReport, Finding } from './crash-everywhere.ts';
export type { AgentCall, FaultOptions, LoggedLine } from './agent-calls.ts';
export { externalWorld } from './external-world.ts';
export type { Effect, ExternalWorld } from './external-world.ts';
export type { RunState, StepState } from './run-state.ts';
export type { AgentRef, StartOptions, TestAgent, TestOptions } from './workflow-test.ts';
export type { WorkflowTest } from './workflow-test.ts';
export type { OpenIncident, TestRun } from './test-run.ts';

/**
 * A workflow with its agents in memory, on the roles that run in production. Time is the test's own and is skipped:
 * nothing sleeps.
 * @throws SteadfastError `missing-agent`, `not-a-handler`, `bad-agents`: each says what to pass
 */
export function testWorkflow<I>(workflow: Workflow<I>, options: TestOptions): WorkflowTest<I> {
  return new WorkflowTest(workflow, options);
}
