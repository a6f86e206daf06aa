/**
 * Whose turn it is: which steps could begin now, and which may be beginning at this moment.
 *
 * Owns: the readiness of a step by its predecessors and its condition, and whether executions of its own may be under way of
 * which nothing is known yet. Does not own: the pieces of work that follow (`ready.ts`).
 *
 * S7 a step is ready only when its predecessors are done or skipped.
 */

import { hasChildren, type Plan, type PlanStep } from '../plan/plan.ts';
import { evaluateExpression, type Scope } from '../plan/refs.ts';
import type { Children } from '../records/children.ts';
import type { Json } from '../records/json.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { callbackToken, isSatisfied, type Step } from '../records/state.ts';

export const scopeOf = (snapshot: Snapshot): Scope => ({
  input: snapshot.execution.input,
  output: (step): Json | undefined => {
    const record = Object.hasOwn(snapshot.steps, step) ? snapshot.steps[step] : undefined;
    return record?.status === 'done' ? record.output : undefined;
  },
  token: (step): Json | undefined => callbackToken(snapshot.execution, step),
});

const GIVEN_UP: ReadonlySet<Step['status'] | undefined> = new Set([
  'failed',
  'compensating',
  'compensated',
  'compensation-failed',
]);

/** Those of a part of a list that failed, whether or not what they did is undone yet. */
export const failedItems = (plan: Plan, snapshot: Snapshot): readonly Step[] =>
  plan.steps.flatMap(({ name }) => {
    const record = snapshot.steps[name];
    return record !== undefined && GIVEN_UP.has(record.status) ? [record] : [];
  });

/** Lets the steps start that wait for it; so does a failed item of a list, for which only the next in its lane waits. */
const isPassed = (plan: Plan, record: Step | undefined): boolean =>
  isSatisfied(record) || (plan.tolerated !== undefined && GIVEN_UP.has(record?.status));

/** Its predecessors are over. */
export const isTurn = (plan: Plan, step: PlanStep, snapshot: Snapshot): boolean =>
  step.after.every((name) => isPassed(plan, snapshot.steps[name]));

/** Since when it is the step's turn; a retry of its execution begins a new one. */
export const turnAt = (step: PlanStep, snapshot: Snapshot): number =>
  Math.max(
    snapshot.execution.startedAt,
    snapshot.execution.retries?.at(-1)?.at ?? 0,
    ...step.after.map((name) => snapshot.steps[name]?.changedAt ?? 0),
  );

/** The step has no record yet, or one that counts as none (`execution/effective-state.ts`). */
export const isUnbegun = (record: Step | undefined): boolean =>
  record === undefined || record.status === 'ready';

/** Nothing must be done before the step but to claim it. */
export const isReady = (plan: Plan, step: PlanStep, snapshot: Snapshot): boolean =>
  isUnbegun(snapshot.steps[step.name]) && isTurn(plan, step, snapshot);

export const applies = (step: PlanStep, snapshot: Snapshot): boolean =>
  step.when === undefined || evaluateExpression(step.when, scopeOf(snapshot)) === true;

/** Any of them, for a starter may be at work of which the record does not say so yet. */
export const hasOpenChildren = (children: Children | undefined): boolean =>
  children !== undefined && Object.keys(children.ended).length < children.count;

/** Some of its executions are stopped, and others are still to be. */
export const isStopping = (record: Step | undefined): boolean =>
  record?.status === 'compensating' && record.children?.stopped !== undefined;

/** A reader of an older state may be starting executions of the step's at this moment. */
export const mayHaveChildren = (plan: Plan, step: PlanStep, snapshot: Snapshot): boolean =>
  hasChildren(step) &&
  (snapshot.steps[step.name]?.status === 'running' ||
    isStopping(snapshot.steps[step.name]) ||
    (isReady(plan, step, snapshot) && applies(step, snapshot)));
