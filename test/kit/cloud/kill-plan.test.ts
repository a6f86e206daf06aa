import { type KillPlan, plannedKill } from '../../../kit/cloud/kill-plan.ts';

const plan: KillPlan = {
  seed: 5,
  everyMs: 1_000,
  agents: ['a', 'b', 'c'],
  roles: ['scheduler', 'supervisor'],
};
const kills = (given: KillPlan) => Array.from({ length: 400 }, (_, index) => plannedKill(given, index));

test('the same seed kills the same at the same times, another seed does not', () => {
  expect(kills(plan)).toEqual(kills(plan));
  expect(kills({ ...plan, seed: 6 })).not.toEqual(kills(plan));
});

test('there is one in each interval, and every target has its turn, agents more often', () => {
  const all = kills(plan);
  expect(all.map(({ atMs }) => Math.floor(atMs / 1_000))).toEqual(all.map((_, index) => index));
  const count = (...names: string[]): number => all.filter(({ target }) => names.includes(target)).length;
  for (const name of [...plan.agents, ...plan.roles]) expect(count(name)).toBeGreaterThan(0);
  expect(count(...plan.agents)).toBeGreaterThan(3 * count(...plan.roles));
});

test('without roles, only what is named is killed', () => {
  expect(new Set(kills({ ...plan, agents: ['a'], roles: [] }).map(({ target }) => target))).toEqual(
    new Set(['a']),
  );
});
