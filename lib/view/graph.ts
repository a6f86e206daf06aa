/**
 * The graph of a plan as data: its steps, and for an execution the state of each.
 *
 * Owns: which lines between steps are drawn, and the words for a step. Does not own: the drawing
 * (`mermaid.ts`), the source of the plan (`plan-source.ts`). It contains no payload, because people pass
 * pictures on.
 */

import { defined } from '../core/values/defined.ts';
import { type ExecutionView, questionsText, type StepView } from '../api/answers.ts';
import type { WorkflowStepView, WorkflowView } from '../api/deployment-answers.ts';
import { childrenNote, endsText, performerOf, stateText } from './waiting-steps.ts';

export interface GraphStep extends WorkflowStepView {
  /** Set only in the graph of an execution. */
  readonly state?: StepView;
}

export interface Graph {
  readonly workflow: string;
  /** Absent for the plan of a file that is not deployed. */
  readonly plan?: string;
  /** Absent for the graph of a workflow. */
  readonly execution?: Pick<ExecutionView, 'executionId' | 'status' | 'endedAt'>;
  /** True if the details of the steps are known, and not only their names and order. */
  readonly detailed: boolean;
  /** Every step after its predecessors; on-failure steps last. */
  readonly steps: readonly GraphStep[];
}

/**
 * The tone in which a status is drawn. The status is also written, because not everybody can distinguish
 * colours.
 */
export type Tone =
  | 'done'
  | 'active'
  | 'waiting'
  | 'failed'
  | 'tolerated'
  | 'skipped'
  | 'compensated'
  | 'pending';

const TONE_OF: Readonly<Record<StepView['status'], Tone>> = {
  pending: 'pending',
  ready: 'pending',
  running: 'active',
  probing: 'active',
  answered: 'active',
  accepted: 'active',
  retrying: 'waiting',
  waiting: 'waiting',
  unknown: 'waiting',
  fenced: 'skipped',
  done: 'done',
  failed: 'failed',
  skipped: 'skipped',
  tolerated: 'tolerated',
  compensating: 'active',
  compensated: 'compensated',
  'compensation-failed': 'failed',
};

/**
 * Returns the tone of a step, also for a status of a newer release. A step whose executions ask people counts
 * as waiting.
 */
export const toneOf = ({ status, children }: Pick<StepView, 'status' | 'children'>): Tone =>
  children?.asked === undefined ? (TONE_OF[status] ?? 'pending') : 'waiting';

export const graphOfWorkflow = ({
  workflow,
  plan,
  steps,
}: Pick<WorkflowView, 'workflow' | 'steps'> & Partial<WorkflowView>): Graph => ({
  workflow,
  ...(plan === undefined ? {} : { plan }),
  detailed: true,
  steps,
});

/**
 * @param deployed the workflows that can be started; the one with the execution's plan adds details to the
 * steps
 */
export function graphOfExecution(view: ExecutionView, deployed: readonly WorkflowView[]): Graph {
  const { workflow, plan, executionId, status, endedAt } = view;
  const known = deployed.find((one) => one.plan === plan);
  return {
    workflow,
    plan,
    execution: { executionId, status, ...(endedAt === undefined ? {} : { endedAt }) },
    detailed: known !== undefined,
    steps: view.steps.map((state) => {
      const { name, kind, after, agent, onFailure, pointOfNoReturn } = state;
      const planned = known?.steps.find((step) => step.name === name);
      return {
        ...(planned ?? {
          name,
          kind,
          after,
          ...defined({ agent, onFailure }),
          ...(pointOfNoReturn === true ? { pointOfNoReturn } : {}),
        }),
        state,
      };
    }),
  };
}

/**
 * Returns the direct predecessors of each step. A plan also lists indirect ones, which need no line of their
 * own.
 */
export function predecessorsOf(steps: readonly GraphStep[]): ReadonlyMap<string, readonly string[]> {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const all = new Map<string, ReadonlySet<string>>();
  const drawn = new Map<string, readonly string[]>();
  for (const { name, after } of steps) {
    const direct = after.filter((one) => byName.has(one));
    const farther = new Set(direct.flatMap((one) => [...(all.get(one) ?? [])]));
    all.set(name, new Set([...direct, ...farther]));
    drawn.set(
      name,
      direct.filter((one) => !farther.has(one)),
    );
  }
  return drawn;
}

/** Returns the lines of the graph, each from one step to another. */
export const linesBetween = (steps: readonly GraphStep[]): readonly (readonly [string, string])[] =>
  [...predecessorsOf(steps)].flatMap(([to, before]) => before.map((from) => [from, to] as const));

/** Names what performs the step, or what it waits for; in an execution, the agent of the current try. */
export function performerIn({ detailed }: Graph, { state, ...step }: GraphStep): string {
  const instead = state?.agent !== undefined && state.agent !== step.agent ? state.agent : undefined;
  if (instead !== undefined || !detailed) return instead ?? step.agent ?? step.kind;
  return performerOf(step);
}

/** Returns the state in words, such as 'retrying, attempt 2' or 'not reached'; '' for a plan. */
export function statusIn({ execution }: Graph, { state }: GraphStep): string {
  if (state === undefined) return '';
  const attempt = (state.attempt ?? 1) > 1 ? `, attempt ${state.attempt}` : '';
  return `${execution === undefined ? state.status : stateText(state, execution)}${attempt}`;
}

/** Describes the step's executions, such as '2 of 3 ended: 1 succeeded, 1 failed'; '' if it has none. */
export function childrenOf({ state }: GraphStep): string {
  const children = state?.children;
  if (children === undefined)
    return state?.omitted?.includes('children') === true ? 'executions left out' : '';
  const ends = endsText(children);
  const { asked, ...others } = children;
  const people = asked === undefined ? '' : `${questionsText(asked)} to people; `;
  return `${people}${childrenNote(others)}${ends === '' ? '' : `: ${ends}`}`;
}

/** Returns the graph as data, without payloads, attempts and tokens. */
export function graphData({ workflow, plan, execution, steps }: Graph): object {
  return {
    workflow,
    ...(plan === undefined ? {} : { plan }),
    ...execution,
    steps: steps.map(({ state, ...step }) => ({ ...step, ...(state === undefined ? {} : stateData(state)) })),
  };
}

const stateData = (state: StepView): object => {
  const { status, agent, attempt, changedAt, leaseUntil, retryAt, waitsUntil, deferred, children } = state;
  return Object.fromEntries(
    Object.entries({
      status,
      agent,
      attempt,
      changedAt,
      leaseUntil,
      retryAt,
      waitsUntil,
      deferred,
      children,
    }).filter(([, value]) => value !== undefined),
  );
};
