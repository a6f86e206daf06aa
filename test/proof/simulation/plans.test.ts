/** What the simulator draws is what an author may write: else its worlds would show what cannot be. */

import { checkPlan } from '../../../lib/core/plan/check.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import { seededRandom } from '../../../lib/testing/memory.ts';
import { choiceOf, randomPlan } from '../../../proof/simulation/plans.ts';

const drawn = Array.from({ length: 400 }, (_, seed) => randomPlan(choiceOf(seededRandom(seed)), 'drawn'));

/** A wait that outlasts its workflow's time is drawn on purpose: so the deadline comes while others wait. */
const MEANT = 'longer-than-within';

it('no plan is one that is refused', () => {
  const reasons = drawn.map((plan) => {
    try {
      checkPlan(plan);
      return MEANT;
    } catch (error) {
      return (error as { details: { reason: string } }).details.reason;
    }
  });
  expect(new Set(reasons)).toEqual(new Set([MEANT]));
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
