/**
 * Checks the real engine under every order of calls in the smallest scenes of lanes, rounds and messages, and
 * that without any one of their rules the search finds a violation. Larger ones: `npm run model`.
 */

import { PLANTS } from '../../../proof/model/real/plants.ts';
import { runScene, SMALL_SCENES } from '../../../proof/model/real/scenes.ts';

const BOUND = 20_000;

it.each(Object.keys(SMALL_SCENES))('%s: closed, nothing violated, nothing stuck', async (name) => {
  const { states, closed, violations, stuck, unreached } = await runScene(name, BOUND);
  expect({ closed, violations, stuck, unreached }).toEqual({
    closed: true,
    violations: 0,
    stuck: 0,
    unreached: [],
  });
  expect(states).toBeGreaterThan(300);
});

it.each([
  ['laneVersion', 'N1 2 act in a lane of 1'],
  ['laneEnd', 'N1 3 act in a lane of 2'],
  ['roundPlace', 'S10 canceled, and a round goes on'],
  ['mailWake', "L1 a step waits beside 'm2', and no process comes"],
  ['roundVersion', 'S10 succeeded, and a round goes on'],
])('without the rule "%s" it finds that %s', async (name, problem) => {
  const { run } = PLANTS[name as keyof typeof PLANTS];
  const { first } = await runScene(run, BOUND, name);
  expect(first?.problems[0]).toBe(problem);
});
