/**
 * The loops of two public collections of Step Functions definitions, except cycles that only poll a job
 * (accepted work does that). All but those named below are written as workflows, and end correctly. Read at
 * aws-stepfunctions-examples 88855b62 and step-functions-workflows-collection 83bbec48.
 */

import { read } from './snippets/blocks.ts';
import { PAGES } from './loops/pages.ts';
import { PEOPLE } from './loops/people.ts';
import { TRIES } from './loops/tries.ts';

const LOOPS = [...PAGES, ...TRIES, ...PEOPLE];
const said = LOOPS.filter(({ play }) => play !== undefined);

test.each(said.map((loop) => [`${loop.from}: ${loop.states[0]}`, loop] as const))(
  '%s',
  async (_, { play, calls }) => {
    expect(await play?.()).toEqual({ status: 'succeeded', calls });
  },
);

test('none is counted twice, and those that cannot be said have no bound', () => {
  expect(new Set(LOOPS.map(({ from, states }) => `${from} ${states.join()}`)).size).toBe(LOOPS.length);
  expect([said.length, LOOPS.length]).toEqual([28, 30]);
  const others = LOOPS.filter(({ play }) => play === undefined);
  expect(others.map(({ states }) => states[0])).toEqual(['Get Config', 'Reload Config']);
});

test('the page says the same', () => {
  const page = read('docs/FROM-STEP-FUNCTIONS.md');
  const [, all, played] = /Of (\d+) loops[^.]* plays (\d+)/.exec(page) ?? [];
  expect([Number(all), Number(played)]).toEqual([LOOPS.length, said.length]);
});
