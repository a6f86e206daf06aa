/**
 * What is wrong with a run: effects that are lost or doubled, executions that are stuck.
 *
 * Owns: what counts as lost and as doubled, with the outside world's book or, without one, with the book of the agents'
 * calls. Does not own: the runs (`crash-everywhere.ts`).
 *
 * Without a book of the outside world only this is visible: whether the agents' code ran to its end, and what it returned.
 */

import { stageOf } from '../../core/ladder.ts';
import type { Snapshot, Step } from '../../core/state.ts';
import { isTerminal } from '../../core/state.ts';
import type { Plan, PlanStep } from '../../core/plan.ts';
import type { Shown } from '../../roles/scheduler.ts';
import type { AgentCall } from './agent-calls.ts';
import type { Effect } from './outside-world.ts';

export interface Problem {
  /**
   * `lost`: an execution claims an effect that is not there, or has left one behind that should be undone, or has failed
   * for no other reason than the crash. `doubled`: an effect, or the undo of one, took place more than once. `stuck`: it
   * did not end.
   */
  readonly kind: 'lost' | 'doubled' | 'stuck';
  readonly step?: string;
  readonly effectKey?: string;
  readonly message: string;
}

/** What a run left behind. */
export interface Evidence {
  readonly executions: readonly Shown[];
  readonly calls: readonly AgentCall[];
  /** The outside world's book; absent: judged by the calls. */
  readonly effects?: readonly Effect[];
}

/** Of the run without a crash: what is to be expected of the others. */
export interface Expectation {
  /** Steps, as `placeOf` names them, that had an effect. */
  readonly acted: ReadonlySet<string>;
  /** The end of each execution. */
  readonly ends: ReadonlyMap<string, string>;
}

const placeOf = (plan: Plan, step: string): string => `${plan.workflow}/${step}`;
const keyOf = (state: Snapshot, step: string): string => `${state.execution.id}.${step}`;

export const expectationOf = (evidence: Evidence): Expectation => {
  const book = bookOf(evidence);
  const acted = evidence.executions.flatMap(({ plan, state }) =>
    Object.keys(state.steps)
      .filter((step) => book.some((effect) => effect.key === keyOf(state, step)))
      .map((step) => placeOf(plan, step)),
  );
  const ends = evidence.executions.map(({ plan, state }): [string, string] => [
    plan.workflow,
    state.execution.status,
  ]);
  return { acted: new Set(acted), ends: new Map(ends) };
};

/** @param expected absent for the run without a crash */
export function problemsOf(evidence: Evidence, expected?: Expectation): Problem[] {
  const book = bookOf(evidence);
  return evidence.executions.flatMap((shown) => [
    ...endProblems(shown, expected),
    ...Object.values(shown.state.steps).flatMap((step) => [
      ...doubled(shown, step, book, evidence),
      ...lost(shown, step, book, expected),
    ]),
  ]);
}

/** The outside world's book, or what the calls let one guess of it. */
function bookOf({ effects, calls }: Evidence): readonly Effect[] {
  if (effects !== undefined) return effects;
  const book: { key: string; kind: string; undone: boolean; output: string }[] = [];
  for (const call of calls) {
    const acted = call.outcome === 'returned' || call.outcome === 'threw';
    if (!acted) continue;
    const own = book.filter((effect) => effect.key === call.effectKey);
    if (call.on === 'undo' && call.outcome === 'returned') for (const effect of own) effect.undone = true;
    if (call.on !== 'execute') continue;
    const output = call.outcome === 'returned' ? (JSON.stringify(call.answer) ?? 'null') : '';
    // A repeated answer is a service that has noticed the key. An unknown outcome may have been nothing.
    const known = own.find((effect) => effect.output === output || effect.output === '' || output === '');
    if (known === undefined || (isProbed(call) && output !== '' && known.output !== '')) {
      book.push({ key: call.effectKey, kind: call.agent, undone: false, output });
    } else if (known.output === '') {
      known.output = output;
    }
  }
  return book;
}

const isProbed = (call: AgentCall): boolean => call.effect !== 'idempotent';

function endProblems({ plan, state }: Shown, expected: Expectation | undefined): Problem[] {
  const { status, watchAt, cause, id } = state.execution;
  if (!isTerminal(status) || watchAt !== undefined) {
    return [{ kind: 'stuck', message: `execution ${id} is ${status} and did not end` }];
  }
  const usual = expected?.ends.get(plan.workflow);
  if (status !== 'failed' || usual === undefined || usual === 'failed') return [];
  const failure = cause === undefined ? '' : `: ${cause.failure.message}`;
  return [{ kind: 'lost', message: `it ended failed${failure}; without a crash it ends ${usual}` }];
}

function doubled({ state }: Shown, step: Step, book: readonly Effect[], { effects }: Evidence): Problem[] {
  const effectKey = keyOf(state, step.name);
  const own = book.filter((effect) => effect.key === effectKey);
  const kinds = new Set(own.map((effect) => effect.kind ?? 'effect'));
  const problems: Problem[] = [];
  for (const kind of kinds) {
    const count = own.filter((effect) => (effect.kind ?? 'effect') === kind).length;
    if (count < 2) continue;
    const guess =
      effects === undefined
        ? `the work of agent '${kind}' was done ${count} times: its code ran to its end more than once, with different answers or without an idempotent service`
        : `'${kind}' took place ${count} times`;
    problems.push({ kind: 'doubled', step: step.name, effectKey, message: `step '${step.name}': ${guess}` });
  }
  for (const { kind = 'effect', undone } of own) {
    if (typeof undone !== 'number' || undone < 2) continue;
    const message = `step '${step.name}': '${kind}' was undone ${undone} times`;
    problems.push({ kind: 'doubled', step: step.name, effectKey, message });
  }
  return problems;
}

function lost(
  { plan, state }: Shown,
  step: Step,
  book: readonly Effect[],
  expected: Expectation | undefined,
): Problem[] {
  const { execution } = state;
  if (!isTerminal(execution.status)) return [];
  const effectKey = keyOf(state, step.name);
  const stands = book.some((effect) => effect.key === effectKey && !(effect.undone ?? false));
  const problem = (message: string): Problem[] => [
    { kind: 'lost', step: step.name, effectKey, message: `step '${step.name}': ${message}` },
  ];
  if (execution.status === 'succeeded') {
    if (step.status === 'done' && !stands && !isGiven(state, step)) {
      const usual = expected?.acted.has(placeOf(plan, step.name)) === true;
      return usual ? problem('it is done, but its effect is not there') : [];
    }
    return stands && step.status !== 'done'
      ? problem(`its effect took place, but the execution has succeeded with it ${step.status}`)
      : [];
  }
  // Its record says itself that the effect is still there, or a person has decided so.
  const told = step.status === 'undo-failed' || execution.cause?.undo === false;
  if (!stands || told || undoOf(plan, step) === 'none') return [];
  return problem(`the execution has ended ${execution.status}, but its effect was not undone`);
}

const isGiven = (state: Snapshot, step: Step): boolean =>
  Object.values(state.incidents ?? {}).some(
    (incident) => incident.step === step.name && incident.choice === 'give-output',
  );

function undoOf(plan: Plan, step: Step): unknown {
  const planned: PlanStep | undefined = plan.steps.find((one) => one.name === step.name.split('#')[0]);
  if (planned?.kind === 'step') return stageOf(planned, step.rung).undo;
  return planned?.kind === 'map' ? planned.each.undo : 'none';
}
