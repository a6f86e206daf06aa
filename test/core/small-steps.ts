/** Steps of all kinds with a given name, for tests of small plans. */

import type {
  AgentStage,
  AgentStep,
  CallbackStep,
  ChildStep,
  AskPersonStage,
  WithInputStage,
  MapStep,
  Plan,
  WaitStep,
} from '../../lib/core/plan/plan.ts';
import { retry } from '../../lib/author/builder/workflow.ts';
import type { ChildEnd, Children } from '../../lib/core/records/children.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { STEP_STATUSES } from '../../lib/core/moves.ts';
import { otherStage, recordOf } from './one-step.ts';
import { planStep } from '../author/refusals.ts';

export const agentStepOf = (name: string, more: Partial<AgentStep> = {}): AgentStep => ({
  ...planStep,
  name,
  ...more,
});
/** A step with an undo that is retried twice, after up to 2 s. */
export const undoableOf = (name: string, more: Partial<AgentStep> = {}): AgentStep =>
  agentStepOf(name, { undo: retry(2, { delay: '2s', maxDelay: '1m' }), ...more });
export const waitOf = (name: string, more: Partial<WaitStep> = {}): WaitStep => ({
  kind: 'wait',
  name,
  after: [],
  forMs: 1_000,
  ...more,
});
export const callbackOf = (name: string, more: Partial<CallbackStep> = {}): CallbackStep => ({
  kind: 'callback',
  name,
  after: [],
  withinMs: 60_000,
  ...more,
});
export const innerPlan: Plan = {
  v: 1,
  workflow: 'inner',
  withinMs: 3_600_000,
  steps: [agentStepOf('x')],
  output: {},
};
export const childOf = (name: string, more: Partial<ChildStep> = {}): ChildStep => ({
  kind: 'child',
  name,
  after: [],
  plan: innerPlan,
  input: {},
  undo: 'required',
  ...more,
});
export const mapOf = (name: string, more: Partial<MapStep> = {}): MapStep => ({
  kind: 'map',
  name,
  after: [],
  over: [1],
  each: agentStepOf('item'),
  tolerate: { items: 0 },
  ...more,
});
export const childrenOf = (ended: Children['ended'], more: Partial<Children> = {}): Children => ({
  count: 1,
  started: 1,
  items: 1,
  tolerated: 0,
  ended,
  ...more,
});
/** The end of a child execution. */
export const endsAs = (status: ChildEnd['status'], clean = false): ChildEnd => ({
  status,
  version: 1,
  clean,
});

export const otherInput: WithInputStage = {
  kind: 'withInput',
  input: { other: true },
  attempts: 1,
  firstMs: 0,
  maxMs: 0,
};
/** `otherStage` with every limit different from the step's own. */
export const otherAgent: AgentStage = {
  ...otherStage,
  timeoutMs: 61_000,
  leaseMs: 31_000,
  pickupMs: 32_000,
  settleMs: 6_000,
};
export const personFor = (
  withinMs: number,
  otherwise: AskPersonStage['otherwise'] = 'undo',
): AskPersonStage => ({
  kind: 'askPerson',
  withinMs,
  otherwise,
});

/** The statuses in which the step meets the condition. */
export const statusesWhere = (is: (record: Step) => boolean, more: Partial<Step> = {}): Step['status'][] =>
  STEP_STATUSES.filter((status) => is(recordOf('it', status, more)));
