/**
 * Judges a run: finds lost and doubled effects and stuck executions.
 *
 * Owns: what counts as lost or doubled, by the external world's effects or, without them, by the calls of the
 * agents' code. Does not own: the runs (`crash-everywhere.ts`).
 *
 * Calls only show whether the agents' code ran to its end, and what it returned.
 */

import { answerText } from '../lib/agent/answer.ts';
import { isOnFailure, performedStep } from '../lib/core/plan/on-failure.ts';
import type { AgentStep, Plan } from '../lib/core/plan/plan.ts';
import { type Snapshot, incidentsIn } from '../lib/core/records/snapshot.ts';
import { isTerminal, type Step } from '../lib/core/records/state.ts';
import { effectKeyOf, keyEpoch } from '../lib/core/step/effect-key.ts';
import { attemptedVariant } from '../lib/core/step/recovery.ts';
import type { Shown } from '../lib/scheduler/start.ts';
import type { AgentCall } from './agent-calls.ts';
import type { WorldEffect } from './external-world.ts';
import { StepNames } from './step-names.ts';

export interface Problem {
  /**
   * `wrong-answer`: work was done, its output was invalid, and no person corrected it in time. `lost`: an
   * execution claims an effect that does not exist, left one that should be undone, or failed only because of
   * the fault. `doubled`: an effect, or its undo, occurred more than once. `stuck`: the execution did not
   * end.
   */
  readonly kind: 'lost' | 'doubled' | 'stuck' | 'wrong-answer';
  /** The step; for a step within a list's item, 'rooms[1]'. */
  readonly step?: string;
  readonly idempotencyKey?: string;
  readonly message: string;
}

/** The records and calls of a run. */
export interface Evidence {
  readonly executions: readonly Shown[];
  readonly calls: readonly AgentCall[];
  /** The external world's effects; if absent, the calls are judged. */
  readonly effects?: readonly WorldEffect[];
}

/** The result of the run without a fault, for comparison. */
export interface Expectation {
  /** The number of effects of each kind, and the agent, for each step by `placeOf`. */
  readonly effects: ReadonlyMap<string, Usual>;
  /** The end of each execution by `placeOf`. */
  readonly ends: ReadonlyMap<string, string>;
}

interface Usual {
  readonly kinds: ReadonlyMap<string, number>;
  readonly agent: string | undefined;
}

/**
 * A name that is the same in every run: the workflow of the started execution, the path to the child, the
 * step.
 */
export function placeOf({ plan, state }: Shown, step = ''): string {
  const { id, parent } = state.execution;
  const way = parent === undefined ? '' : id.slice(id.indexOf('.'));
  return `${plan.workflow}${way}/${step}`;
}

/** The steps of an execution that agents perform; only these have effects. */
export const performed = ({ plan, state }: Shown): Step[] =>
  Object.values(state.steps).filter(({ name }) => performedStep(plan, name) !== undefined);

const kindOf = ({ kind = 'effect' }: WorldEffect): string => kind;

export function expectationOf(evidence: Evidence): Expectation {
  const book = bookOf(evidence);
  const effects = new Map<string, Usual>();
  for (const shown of evidence.executions) {
    for (const step of performed(shown)) {
      const kinds = countsOf(effectsOf(book, shown, step));
      const { agent } = variantIn(shown.plan, step) ?? {};
      if (kinds.size > 0) effects.set(placeOf(shown, step.name), { kinds, agent });
    }
  }
  const ends = evidence.executions.map((shown): [string, string] => [
    placeOf(shown),
    shown.state.execution.status,
  ]);
  return { effects, ends: new Map(ends) };
}

function countsOf(effects: readonly WorldEffect[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const effect of effects) counts.set(kindOf(effect), (counts.get(kindOf(effect)) ?? 0) + 1);
  return counts;
}

/** The effects with the step's idempotency keys, or with keys that an author made by extending them. */
function effectsOf(book: readonly WorldEffect[], { plan, state }: Shown, step: Step): readonly WorldEffect[] {
  const first = effectKeyOf(state.execution, step.name, 1, keyEpoch(plan, step));
  return book.filter(({ key }) => key.startsWith(first) && NUMBER_OR_MORE.test(key.slice(first.length)));
}

/**
 * The text that may follow a step's first key in its other keys. A letter, digit or dash would belong to a
 * longer step name.
 */
const NUMBER_OR_MORE = /^(-\d+)?(?![a-z0-9-])/;

/** @param expected undefined for the run without a fault */
export function problemsOf(evidence: Evidence, expected?: Expectation): Problem[] {
  const book = bookOf(evidence);
  const names = namesOf(evidence);
  return evidence.executions.flatMap((shown) => [
    ...endProblems(shown, expected),
    ...unmended(shown, names),
    ...performed(shown).flatMap((step) => {
      const own = effectsOf(book, shown, step);
      const about = aboutOf(shown, step, names);
      return [
        ...doubled(shown, step, own, evidence, expected).map(about),
        ...lost(shown, step, own, expected).map(about),
      ];
    }),
  ]);
}

export const namesOf = ({ executions }: Evidence): StepNames =>
  new StepNames(executions.map(({ state }) => state.execution));

/** A problem of one step. */
type Wrong = Pick<Problem, 'kind' | 'message'>;

const aboutOf =
  ({ plan, state: { execution } }: Shown, step: Step, names: StepNames) =>
  ({ kind, message }: Wrong): Problem => ({
    kind,
    step: step.name,
    idempotencyKey: effectKeyOf(execution, step.name, step.key, keyEpoch(plan, step)),
    message: `step ${names.quoted(execution.id, step.name)}: ${message}`,
  });

/** Finds invalid outputs whose incident nobody answered, so that valid work was undone or left. */
const unmended = ({ plan, state }: Shown, names: StepNames): Problem[] =>
  incidentsIn(state).flatMap((incident): Problem[] => {
    const { wrongAnswer, closedBy, choice, step = '', failure } = incident;
    if (wrongAnswer === undefined || closedBy !== 'deadline') return [];
    const { agent = '' } = performedStep(plan, step) ?? {};
    const { id } = state.execution;
    const message = `step ${names.quoted(id, step)} (${agent}): ${failure.message}; nobody answered the question in time, so it was '${choice}'; it answered ${wrongAnswer.slice(0, 200)}`;
    return [{ kind: 'wrong-answer', step, message }];
  });

/** The external world's effects, or those that the calls suggest. */
function bookOf({ effects, calls }: Evidence): readonly WorldEffect[] {
  if (effects !== undefined) return effects;
  const book: { key: string; kind: string; undone: boolean; output: string }[] = [];
  for (const call of calls) {
    const acted = call.outcome === 'returned' || call.outcome === 'threw';
    // Skips agents without effects, because they may run any number of times.
    if (!acted || call.effect === 'none') continue;
    const own = book.filter((effect) => effect.key === call.idempotencyKey);
    if (call.on === 'undo' && call.outcome === 'returned') for (const effect of own) effect.undone = true;
    if (call.on !== 'execute') continue;
    const output = call.outcome === 'returned' ? answeredText(call.answer) : '';
    // An equal answer comes from a service that recognised the key, and a call with an unknown outcome may
    // have had no effect.
    const known = own.find((effect) => effect.output === output || effect.output === '' || output === '');
    if (known === undefined || (isProbed(call) && output !== '' && known.output !== '')) {
      book.push({ key: call.idempotencyKey, kind: 'effect', undone: false, output });
    } else if (known.output === '') {
      known.output = output;
    }
  }
  return book;
}

/** The answer as JSON text. */
function answeredText(answer: unknown): string {
  try {
    return JSON.stringify(answer) ?? 'null';
  } catch {
    return answerText(answer);
  }
}

const isProbed = (call: AgentCall): boolean => call.effect !== 'idempotent';

function endProblems(shown: Shown, expected: Expectation | undefined): Problem[] {
  const { status, wakeAt, cause, id } = shown.state.execution;
  if (!isTerminal(status) || wakeAt !== undefined) {
    return [{ kind: 'stuck', message: `execution ${id} is ${status} and did not end` }];
  }
  const usual = expected?.ends.get(placeOf(shown));
  // Effects that were left in place by a person's choice or by a default.
  const chosen = cause?.undo === false;
  if (status !== 'failed' || chosen || usual === undefined || usual === 'failed') return [];
  const failure = cause === undefined ? '' : `: ${cause.failure.message}`;
  return [{ kind: 'lost', message: `it ended failed${failure}; without a crash it ends ${usual}` }];
}

function doubled(
  shown: Shown,
  step: Step,
  own: readonly WorldEffect[],
  { effects }: Evidence,
  expected: Expectation | undefined,
): Wrong[] {
  const problem = (message: string): Wrong => ({ kind: 'doubled', message });
  const usual = expected?.effects.get(placeOf(shown, step.name));
  const problems: Wrong[] = [];
  for (const [kind, count] of countsOf(own)) {
    const perKey = countsOf(
      own.filter((effect) => kindOf(effect) === kind).map(({ key }) => ({ key, kind: key })),
    );
    if (Math.max(...perKey.values()) > 1) problems.push(problem(doubledText(kind, count, effects)));
    else if (usual !== undefined && count > (usual.kinds.get(kind) ?? count)) {
      const keys = [...perKey.keys()].join(', ');
      problems.push(problem(`'${kind}' took place ${count} times, under different keys: ${keys}`));
    }
  }
  for (const effect of own) {
    if (typeof effect.undone !== 'number' || effect.undone < 2) continue;
    problems.push(problem(`'${kindOf(effect)}' was undone ${effect.undone} times`));
  }
  return problems;
}

const doubledText = (kind: string, count: number, effects: unknown): string =>
  effects === undefined
    ? `its work was done ${count} times: the agent's code ran to its end more than once, with different answers or without an idempotent service`
    : `'${kind}' took place ${count} times`;

function lost(
  shown: Shown,
  step: Step,
  own: readonly WorldEffect[],
  expected: Expectation | undefined,
): Wrong[] {
  const { plan, state } = shown;
  const { execution } = state;
  if (!isTerminal(execution.status)) return [];
  const problem = (message: string): Wrong => ({ kind: 'lost', message });
  const standing = own.filter((effect) => !(effect.undone ?? false));
  if (execution.status === 'succeeded' && step.status === 'done') {
    if (isGiven(state, step)) return [];
    const usual = expected?.effects.get(placeOf(shown, step.name));
    if (usual === undefined) return [];
    // Another agent of the step's recovery may have other effects.
    if (usual.agent !== variantIn(plan, step)?.agent) {
      return standing.length > 0 ? [] : [problem('it is done, but no effect of it is there')];
    }
    return [...usual.kinds.keys()]
      .filter((kind) => !standing.some((effect) => kindOf(effect) === kind))
      .map((kind) => problem(`it is done, but '${kind}' did not take place or was undone`));
  }
  // An on-failure step is never undone: its effect exists, or its record says that it does not.
  if (isOnFailure(plan, step.name)) {
    const isThere = standing.length > 0 || isGiven(state, step) || step.status !== 'done';
    const usual = expected?.effects.get(placeOf(shown, step.name));
    return isThere || usual === undefined ? [] : [problem('it is done, but no effect of it is there')];
  }
  if (standing.length === 0) return [];
  const what = `'${kindOf(standing[0] as WorldEffect)}'`;
  // Its record says that its failure was tolerated although it may have left effects.
  if (step.status === 'tolerated' && step.mayHaveActed) return [];
  // A tolerated item of a list may leave effects that cannot be undone.
  if (plan.tolerated !== undefined && undoOf(plan, step) === 'none') return [];
  if (execution.status === 'succeeded') {
    return [problem(`${what} took place, but the execution has succeeded with the step ${step.status}`)];
  }
  // Its record says that the effect is still in place, or a person decided that.
  const told = step.status === 'compensation-failed' || execution.cause?.undo === false;
  if (told || undoOf(plan, step) === 'none') return [];
  return [problem(`the execution has ended ${execution.status}, but ${what} was not undone`)];
}

const isGiven = (state: Snapshot, step: Step): boolean =>
  incidentsIn(state).some((incident) => incident.step === step.name && incident.choice === 'give-output');

const undoOf = (plan: Plan, step: Step): unknown => variantIn(plan, step)?.undo ?? 'none';

/** The step in the variant of its latest attempt. */
function variantIn(plan: Plan, step: Step): AgentStep | undefined {
  const planned = performedStep(plan, step.name);
  return planned && attemptedVariant(planned, step);
}
