/** The displayed status of a step that has not begun. */

import { shownStatus } from '../../../lib/core/step/turn.ts';
import { planOf, stateOf } from '../one-step.ts';
import { agentStepOf } from '../small-steps.ts';

const agentStep = agentStepOf('it');
const plan = planOf(agentStep);

it.each([
  ['running', 'ready'],
  ['canceled', 'pending'],
  ['failed', 'pending'],
  ['compensating', 'pending'],
] as const)('in an execution that is %s is %s', (status, shown) => {
  const [step] = plan.steps;
  expect(shownStatus(step ?? agentStep, stateOf([], { status }))).toBe(shown);
});
