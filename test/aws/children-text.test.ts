/** The stored text of a step's child executions is lossless, and small for many of them (S3, C1). */

import {
  assert,
  type Arbitrary,
  boolean,
  constantFrom,
  dictionary,
  integer,
  nat,
  option,
  property,
  record,
} from 'fast-check';
import { childrenOf, groupedChildren } from '../../lib/aws/children-text.ts';
import { stepItem, stepOf } from '../../lib/aws/dynamo-items.ts';
import { blankStep } from '../../lib/core/decisions/change.ts';
import type { ChildEnd, Children } from '../../lib/core/records/children.ts';

const succeeded: ChildEnd = { status: 'succeeded', version: 3, clean: false };
const children = (ended: Record<string, ChildEnd>): Children => ({
  count: 400,
  started: 400,
  items: 10_000,
  tolerated: 0,
  ended,
});
const ends = (count: number, endOf: (at: number) => ChildEnd = () => succeeded): Record<string, ChildEnd> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [at, endOf(at)]));

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const read = (value: Children): Children => {
  const item = stepItem('e-1', { ...blankStep('list', { life: 'life1', epoch: 1 }), children: value });
  return stepOf(item).children as Children;
};

const yes = constantFrom(true as const);
/** Each field of an end. A new field that is missing here is a type error. */
const FIELDS: { readonly [Field in keyof Required<ChildEnd>]: Arbitrary<ChildEnd[Field]> } = {
  status: constantFrom('succeeded', 'failed', 'compensated', 'canceled'),
  version: integer({ min: 1, max: 2 }),
  clean: boolean(),
  failed: integer({ min: 0, max: 2 }),
  left: yes,
  why: constantFrom("step 'pay' failed (declined)"),
  permanent: yes,
  canceled: yes,
  actsUntil: integer({ min: 1, max: 2 }),
  lateUntil: integer({ min: 1, max: 2 }),
};
const anyEnd = record(FIELDS, {
  requiredKeys: ['status', 'version', 'clean'],
  noNullPrototype: true,
}) as Arbitrary<ChildEnd>;

describe('the executions of a step', () => {
  it.each(Object.keys(FIELDS) as (keyof ChildEnd)[])('are in groups that have the same %s', (field) => {
    const other = { status: 'failed', version: 4, clean: true, failed: 1 };
    const marked = {
      why: 'w',
      left: true,
      permanent: true,
      canceled: true,
      actsUntil: 5,
      lateUntil: 6,
      ...other,
    };
    const value = children(
      ends(60, (at) => (at % 2 === 0 ? succeeded : { ...succeeded, [field]: marked[field] }) as ChildEnd),
    );
    expect(groupedChildren(value)).toHaveProperty('ends');
    expect(read(value)).toEqual(value);
  });

  it('are read as they were written, whichever have ended and how', () => {
    const some = dictionary(nat(400).map(String), anyEnd, { maxKeys: 60, noNullPrototype: true });
    assert(
      property(some, option(nat(400), { nil: undefined }), (ended, stopped) => {
        const given = { ...children(ended), ...(stopped === undefined ? {} : { stopped }) };
        expect(read(given)).toStrictEqual(given);
      }),
    );
  });

  it('are one by one while they are few', () => {
    expect(groupedChildren(children(ends(12)))).toEqual(children(ends(12)));
    expect(childrenOf(children(ends(12)))).toEqual(children(ends(12)));
  });

  it('are in groups when they are many: those that are alike together, in runs', () => {
    const other: ChildEnd = { status: 'succeeded', version: 4, clean: false, failed: 1 };
    const value = children(ends(300, (at) => (at === 7 || at === 9 ? other : succeeded)));
    expect(groupedChildren(value)).toEqual({
      count: 400,
      started: 400,
      items: 10_000,
      tolerated: 0,
      ends: [
        [succeeded, '0-6,8,10-299'],
        [other, '7,9'],
      ],
    });
  });

  it('fit into two write units, a list of 10,000 items that ends in any order', () => {
    // Every third one is still under way.
    const half = Object.fromEntries(Object.entries(ends(400)).filter(([at]) => Number(at) % 3 > 0));
    expect(JSON.stringify(groupedChildren(children(half))).length).toBeLessThan(2_048 - 400);
  });
});

describe('the record of the longest list', () => {
  it('stays below 400 KB, whatever its 1,000 parts say and however long its name is', () => {
    const name = 'n'.repeat(48);
    const ended = ends(1_000, (at) => ({
      status: 'compensated',
      version: 1_000_000 + at,
      clean: false,
      failed: 25,
      left: true,
      canceled: true,
      actsUntil: 1_700_000_000_000 + at,
    }));
    const restartedAfter = Object.fromEntries(upTo(1_000).map((at) => [at, 1_000_000 + at]));
    const value: Children = {
      count: 1_000,
      started: 1_000,
      items: 10_000,
      tolerated: 10_000,
      ended,
      epoch: 1_000,
      try: 1_000,
      restartedAfter,
    };
    const item = stepItem('e'.repeat(64) + `.${name}`.repeat(20), {
      ...blankStep(name, { life: 'life1', epoch: 1 }),
      children: value,
    });
    expect(JSON.stringify(item).length).toBeLessThan(400 * 1_024);
    expect(stepOf(item).children).toStrictEqual(value);
  });
});
