/** The simulator draws only plans that an author can write, so that its worlds show only possible cases. */

import { checkPlan } from '../../../lib/author/checks/check.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import { seededRandom } from '../../../lib/memory/world.ts';
import { Cast } from '../../../proof/simulation/cast.ts';
import { emphasised } from '../../../proof/simulation/emphasis.ts';
import { choiceOf, randomPlan } from '../../../proof/simulation/plans.ts';
import { withMessages } from '../../../proof/simulation/mail.ts';
import { withRareOptions } from '../../../proof/simulation/rare-options.ts';
import { withStages } from '../../../proof/simulation/stages.ts';
import { TOLERANT, withTolerance } from '../../../proof/simulation/tolerance.ts';

const drawn = Array.from({ length: 400 }, (_, seed) => randomPlan(choiceOf(seededRandom(seed)), 'drawn'));

/**
 * The one intended refusal: a wait longer than the workflow's `within`, so that the deadline passes while
 * steps wait.
 */
const MEANT = 'longer-than-within';

function reasonsOf(plans: readonly Plan[]): Set<string> {
  const reasons = plans.map((plan) => {
    try {
      checkPlan(plan);
      return MEANT;
    } catch (error) {
      return (error as { details: { reason: string } }).details.reason;
    }
  });
  return new Set(reasons);
}

it('no plan is one that is refused', () => {
  expect(reasonsOf(drawn)).toEqual(new Set([MEANT]));
});

it('nor one with approvals for another person', () => {
  const asking = drawn.map((plan, seed) => new Cast(choiceOf(seededRandom(seed))).withApprovals(plan));
  expect(reasonsOf(asking)).toEqual(new Set([MEANT]));
  const approvals = asking.flatMap(({ steps }) => steps.filter(({ kind }) => kind === 'approval'));
  expect(approvals.length).toBeGreaterThan(200);
});

it('nor one of a world that is about steps that may fail', () => {
  const tolerant = drawn.map((plan, seed) => {
    const choice = choiceOf(seededRandom(seed));
    return withTolerance(emphasised(plan, TOLERANT, choice), choice, true);
  });
  expect(reasonsOf(tolerant)).toEqual(new Set([MEANT]));
});

it('nor one with options that few steps have', () => {
  const rare = drawn.map((plan, seed) => {
    const choice = choiceOf(seededRandom(seed));
    return withRareOptions(withMessages(withStages(plan, choice), choice), choice);
  });
  expect(reasonsOf(rare)).toEqual(new Set([MEANT]));
});

it('some have a child that is a point of no return, most of these with one inside', () => {
  const points = drawn.flatMap(({ steps }: Plan) =>
    steps.filter((step) => step.kind === 'child' && step.pointOfNoReturn === true),
  );
  const deep = points.filter(
    (step) =>
      step.kind === 'child' && step.plan.steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true),
  );
  expect(points.length).toBeGreaterThan(5);
  expect(deep.length).toBeGreaterThan(points.length / 2);
});
