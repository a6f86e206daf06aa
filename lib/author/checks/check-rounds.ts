/**
 * Refuses mistakes in steps with rounds.
 *
 * Does not own: the refusals of every child step (`check-waiting.ts`, `check-points.ts`).
 */

import type { ChildStep, AskPersonStage, Plan, RetryStage, Rounds, Stage } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { refsIn, sourcesIn } from '../../core/plan/refs-in.ts';
import { valueAt } from '../builder/pause-between.ts';
import { problem, type Problem } from './refusal.ts';

/** The maximum number of rounds: each is an execution, and all their answers are read at the end. */
export const MAX_ROUNDS = 1_000;

export function roundsProblem(step: ChildStep & { readonly rounds: Rounds }): Problem | undefined {
  const { until, atMost } = step.rounds;
  if (!Number.isInteger(atMost) || atMost < 1 || atMost > MAX_ROUNDS) {
    const message = `its maxRounds is ${String(atMost)}; allowed: 1 to ${MAX_ROUNDS} rounds, or it could go on for ever`;
    return problem('unbounded', message);
  }
  if (!sourcesIn(until).some((source) => source === 'last' || source === 'given')) {
    const message =
      "its 'until' reads no value of a round, so it would hold after the first round or never: write until: (last) => …, a condition on the round's answer";
    return problem('bad-rounds', message);
  }
  return recoveryProblem(step.recovery) ?? undoProblem(step);
}

/**
 * Refuses a pause that cannot work. The pause is a step of the round, so a round with a lane would keep its
 * place during it; and it evaluates the rounds' condition, but can read only values of its own round.
 * @param round the round's plan, without the pause
 */
export function pauseProblem(round: Plan, until: Expr): Problem | undefined {
  const { workflow, steps, output } = round;
  if (steps.some(({ kind }) => kind === 'lane')) {
    const message = `'${workflow}' has a 'concurrency', and would keep its place during each pause: leave 'every' out, or put the concurrency on the workflow around it`;
    return problem('bad-rounds', message);
  }
  const other = sourcesIn(until).find((source) => source !== 'last' && source !== 'given');
  if (other !== undefined) {
    const message = `beside 'every' its 'until' may read the round's answer and what it was given, and it reads ${other}: put that into what the round is given`;
    return problem('bad-rounds', message);
  }
  const computed = refsIn(until).find(
    ({ source, path }) => source === 'last' && valueAt(output, path) === undefined,
  );
  if (computed !== undefined) {
    const message = `beside 'every' its 'until' may not read '${computed.path.join('.')}' of the answer, which '${workflow}' computes by an operator or a constant: answer the value of a step under a name of its own`;
    return problem('bad-rounds', message);
  }
  return undefined;
}

/** Refuses options that only rounds with messages have. @param options as the author wrote them */
export function withoutMessages(options: {
  readonly within?: unknown;
  readonly otherwise?: unknown;
}): Problem | undefined {
  const { within, otherwise } = options;
  if (otherwise === undefined && (within === undefined || typeof within === 'string')) return undefined;
  const what = otherwise === undefined ? "a 'within' that is read from the data" : "'otherwise'";
  const message = `${what} is for rounds that begin with messages: write next: received('move', Move), or leave it out`;
  return problem('bad-rounds', message);
}

const recoveryProblem = (recovery: readonly Stage[] = []): Problem | undefined =>
  recovery.every(
    (stage): stage is RetryStage | AskPersonStage => stage.kind === 'retry' || stage.kind === 'askPerson',
  )
    ? undefined
    : problem(
        'bad-stage',
        "a round's input follows from the round before ('next'), so its recovery may only have retry and askPerson; put withInput or useAgent on a step of the workflow that is repeated",
      );

function undoProblem({ tolerate, undo, pointOfNoReturn }: ChildStep): Problem | undefined {
  if (pointOfNoReturn === true)
    return problem(
      'bad-point-of-no-return',
      "a step that is repeated cannot be a point of no return: some of its rounds would be past it, and the others would not; leave 'pointOfNoReturn' out",
    );
  if (tolerate !== true || undo === 'none') return undefined;
  const message =
    "it is repeated, and its rounds can be undone only with the whole execution: leave 'mayFail' out, or write undo: 'none' if their effects may stay";
  return problem('bad-tolerance', message);
}
