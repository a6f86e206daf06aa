/**
 * The child executions of a step: their inputs, the step's record about them, and which may be started anew
 * (S6, S10, S11).
 */

import type { ChildStep, MapStep } from '../../../lib/core/plan/plan.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { Json } from '../../../lib/core/values/json.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { childIds, childrenStarted, plannedOf, nextStarts } from '../../../lib/core/waiting/child.ts';
import { child, childrenOf, end, map, parentOf } from '../family.ts';
import { changesOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';
import { restartProblem, takesNewChildren } from '../../../lib/core/waiting/child-retry.ts';

const familyIn = (
  step: ChildStep | MapStep,
  input: Json = parentOf().input as Json,
  records: readonly Step[] = [],
  execution: Partial<Execution> = {},
) => plannedOf(step, stateOf(records, { input, startedAt: NOW - 5, ...execution }));
const startsOf = (...given: Parameters<typeof familyIn>) => {
  const planned = familyIn(...given);
  if ('code' in planned) throw new Error(planned.message);
  return planned.starts;
};
const own = { executionId: 'e-1', step: 'sub', index: 0, since: NOW - 5 };
const over = (step: Partial<MapStep>): MapStep => ({ ...map, ...step });

describe('the execution of a child step', () => {
  it.each<[string, Partial<Execution>, readonly Step[]]>([
    ['its execution', { epoch: 3 }, []],
    ['its record, if it has one', { epoch: 9 }, [recordOf('sub', 'running', { epoch: 3 })]],
    [
      'its first start, once it was tried again',
      { epoch: 9 },
      [recordOf('sub', 'running', { epoch: 8, children: childrenOf(1, {}, { epoch: 3 }) })],
    ],
  ])('has the epoch in its name, of %s', (_, execution, records) => {
    expect(startsOf(child, { order: 5 }, records, execution)).toEqual([
      {
        id: 'e-1.sub.0-e3t1',
        planId: 'p.sub',
        input: { of: 5 },
        parent: { ...own, epoch: 3, root: { workflow: 'flow' } },
      },
    ]);
  });

  it('is found by the id under which it was started, also once it was tried again', () => {
    for (const children of [childrenOf(2), childrenOf(2, {}, { epoch: 3 })]) {
      const record = recordOf('sub', 'running', { epoch: 3, children });
      const later = { ...record, epoch: children.epoch === undefined ? 3 : 8 };
      expect(childIds({ id: 'e-1', epoch: 9 }, later)).toEqual(['e-1.sub.0-e3t1', 'e-1.sub.1-e3t1']);
    }
    expect(childIds({ id: 'e-1', epoch: 2 }, recordOf('sub', 'failed', { children: childrenOf(1) }))).toEqual(
      ['e-1.sub.0'],
    );
    expect(childIds({ id: 'e-1', epoch: 1 }, recordOf('sub', 'running'))).toEqual([]);
  });

  it('goes on, if it failed before, where its parent heard of that', () => {
    const children = childrenOf(1, {}, { restartedAfter: { 1: 6 } });
    expect(startsOf(child, {}, [recordOf('sub', 'running', { children })])[0]?.restartedAfter).toBe(6);
    const others = childrenOf(1, {}, { restartedAfter: { 1: 6 }, try: 2 });
    expect(startsOf(child, {}, [recordOf('sub', 'running', { children: others })])[0]).not.toHaveProperty(
      'restartedAfter',
    );
  });

  it('is given 256 KB at most', () => {
    const given = { ...child, input: { $ref: 'input', path: [] } };
    expect(startsOf(given, 'x'.repeat(256 * 1024 - 2))).toHaveLength(1);
    expect(familyIn(given, 'x'.repeat(256 * 1024 - 1))).toEqual({
      code: 'input-too-large',
      message: 'the input of its execution has 262145 bytes; at most 262144 are allowed',
    });
  });
});

describe('the executions of a list', () => {
  const numbers = (count: number): { list: number[] } => ({
    list: Array.from({ length: count }, (_, at) => at),
  });

  it('have 25 items each, in order', () => {
    const parent = { ...own, step: 'list', part: true };
    expect(familyIn(map, numbers(26))).toEqual({
      starts: [
        { id: 'e-1.list.0', planId: 'p.list.25x0x0', input: { items: numbers(25).list }, parent },
        {
          id: 'e-1.list.1',
          planId: 'p.list.1x0x25',
          input: { items: [25] },
          parent: { ...parent, index: 1 },
        },
      ],
      items: 26,
      tolerated: 0,
    });
    expect(startsOf(map, numbers(25))).toHaveLength(1);
    expect(familyIn(map, numbers(0))).toEqual({ starts: [], items: 0, tolerated: 0 });
  });

  it.each<[MapStep['tolerate'], number, number]>([
    [{ items: 3 }, 30, 3],
    [{ percent: 10 }, 30, 3],
    [{ percent: 10 }, 29, 2],
    [{ percent: 100 }, 7, 7],
    [{ percent: 0.57 }, 1_000, 5],
    [{ percent: 1.14 }, 5_000, 57],
    [{ percent: 0.57 }, 10_000, 57],
  ])('may fail by %j of %s: %s', (tolerate, count, tolerated) => {
    expect(familyIn(over({ tolerate }), numbers(count))).toMatchObject({ tolerated });
    expect(startsOf(over({ tolerate }), numbers(count))[0]?.planId).toBe(
      `p.list.${Math.min(count, 25)}x${tolerated}x0`,
    );
  });

  it('are given the other inputs of their stages, if any item has one', () => {
    const tries = { attempts: 1, firstMs: 0, maxMs: 0 };
    const recovery = [
      { kind: 'retry', ...tries },
      { kind: 'withInput', input: { $ref: 'item', path: ['x'] }, ...tries },
    ] as const;
    const [part] = startsOf(over({ each: { ...map.each, recovery } }), { list: [{ x: 1 }, 2] });
    expect(part?.input).toEqual({
      items: [{ x: 1 }, 2],
      others: [
        [null, 1],
        [null, null],
      ],
    });
    const [none] = startsOf(over({ each: { ...map.each, recovery } }), { list: [2] });
    expect(none?.input).toEqual({ items: [2] });
  });

  it('do not exist for a value that is not a list, or for more than 10 000 items', () => {
    const message = "the value of 'over' is not a list";
    expect(familyIn(map, { list: 'ab' })).toEqual({ code: 'not-a-list', message });
    expect(familyIn(map, {})).toEqual({ code: 'not-a-list', message });
    expect(startsOf(map, numbers(10_000))).toHaveLength(400);
    expect(familyIn(map, numbers(10_001))).toEqual({
      code: 'list-too-long',
      message: 'the list has 10001 items; at most 10000 are allowed',
    });
  });

  it('have 200 KB of items at most, and so has an item', () => {
    // {"input":"…","others":[null]}
    const frame = JSON.stringify({ input: '', others: [null] }).length;
    const item = (bytes: number): string => 'x'.repeat(bytes - frame);
    const sizes = (...list: readonly number[]): number[] =>
      startsOf(map, { list: list.map(item) }).map(({ input }) => (input as { items: Json[] }).items.length);
    expect(sizes(200_000, 100)).toEqual([1, 1]);
    expect(sizes(100_000, 100_000)).toEqual([2]);
    expect(sizes(100_000, 100_001)).toEqual([1, 1]);
    expect(sizes(100_000, 100_001, 99_999)).toEqual([1, 2]);
    expect(sizes(150_000, 100_000, 60_000, 50_000)).toEqual([1, 2, 1]);
    expect(familyIn(map, { list: [item(100), item(200_001)] })).toEqual({
      code: 'item-too-large',
      message: 'item 1 has 200001 bytes; at most 200000 are allowed',
    });
  });
});

describe('what is started next', () => {
  const planned = {
    starts: startsOf(map, { list: Array.from({ length: 1_500 }, () => 1) }),
    items: 1_500,
    tolerated: 0,
  };
  const indexes = (step: ChildStep | MapStep, children?: Children): number[] => {
    const record = children === undefined ? undefined : recordOf('list', 'running', { children });
    return nextStarts(step, planned, record).map(({ parent }) => parent.index);
  };

  it('is as many as may be under way beside those that are', () => {
    const two = over({ concurrency: 74 });
    expect(indexes(two)).toEqual([0, 1]);
    expect(indexes(two, childrenOf(60, { 0: end('succeeded') }, { started: 2 }))).toEqual([2]);
    expect(indexes(two, childrenOf(60, {}, { started: 2 }))).toEqual([]);
    expect(indexes(two, childrenOf(60, {}, { started: 9 }))).toEqual([]);
  });
});

describe('the record of executions', () => {
  const planned = {
    starts: startsOf(map, { list: Array.from({ length: 60 }, () => 1) }),
    items: 60,
    tolerated: 4,
  };
  const same = { version: 2, writeId: 'w-new' };

  it('that go on keeps what is known, and its time', () => {
    const known = { 0: end('failed', 5), 2: end('succeeded', 2) };
    const children = childrenOf(3, known, {
      started: 2,
      items: 60,
      tolerated: 4,
      epoch: 1,
      restartedAfter: { 1: 3 },
    });
    const before = recordOf('list', 'running', { children, changedAt: NOW - 9 });
    const news = { 0: end('canceled', 5), 1: end('canceled', 1), 2: end('canceled', 3) };
    expect(
      changesOf(
        before,
        childrenStarted(stateOf([before]), { step: 'list', planned, started: 1, ended: news }, inputs),
      ),
    ).toEqual({
      ...same,
      children: { ...children, ended: { 0: end('failed', 5), 1: news[1], 2: news[2] } },
    });
    const done = { step: 'list', planned, started: 3, ended: {} };
    const more = childrenStarted(stateOf([before]), done, inputs);
    expect(more.children?.started).toBe(3);
  });
});

const gone = end('canceled');

const open = 'the ends of some of its executions are not known yet';
const restartedAfter = 'its executions have succeeded, and would answer the same';
it.each<[string, Children, boolean, string | undefined]>([
  ['were all canceled or undone', childrenOf(2, { 0: gone, 1: end('compensated') }), true, undefined],
  ['never were any', childrenOf(0), true, undefined],
  ['have not all ended', childrenOf(2, { 0: gone }), false, open],
  ['have all succeeded', childrenOf(1, { 0: end('succeeded') }), false, restartedAfter],
  [
    'have succeeded in leaving nothing',
    childrenOf(1, { 0: end('succeeded', 1, { clean: true }) }),
    false,
    restartedAfter,
  ],
  ['failed', childrenOf(1, { 0: end('failed', 1, { clean: true }) }), false, undefined],
  ['failed in part', childrenOf(2, { 0: end('succeeded'), 1: end('failed') }), false, undefined],
  [
    'were stopped beside others',
    childrenOf(3, { 0: end('failed'), 1: gone, 2: end('succeeded') }),
    false,
    'some of its executions were stopped (canceled)',
  ],
  [
    'an operator canceled as they were',
    childrenOf(1, { 0: end('failed', 1, { canceled: true }) }),
    false,
    'an operator canceled one of its executions without an undo',
  ],
  [
    'were stopped and left something',
    childrenOf(1, { 0: end('compensated', 1, { clean: false }) }),
    false,
    'some of its executions were stopped (compensated)',
  ],
])('executions that %s', (_, children, restarted, problem) => {
  expect(takesNewChildren(child, children)).toBe(restarted);
  expect(restartProblem(child, children, {})).toBe(problem);
});
