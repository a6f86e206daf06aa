/** A table with provisioned capacity: its capacity, its minimum, and when it is cheaper. */

import { Annotations } from 'aws-cdk-lib/assertions';
import { PRICES } from '../../bench/parts/prices.ts';
import { INDEXES, SPARE_INDEXES } from '../../lib/aws/names.ts';
import { floorOf, type TableBilling, UNIT_USD } from '../../lib/infra/state-table.ts';
import { makeStack, Reader } from './template.ts';

const of = (startsPerSecond: number, more: object = {}): TableBilling => ({
  provisioned: { startsPerSecond, ...more },
});
const tableOf = (billing: TableBilling): Record<string, unknown> =>
  new Reader(makeStack({ billing })).one('AWS::DynamoDB::GlobalTable', 'State').Properties;

interface Scaled {
  readonly IndexName?: string;
  readonly WriteProvisionedThroughputSettings: {
    readonly WriteCapacityAutoScalingSettings: {
      readonly MinCapacity: number;
      readonly MaxCapacity: number;
      readonly SeedCapacity: number;
      readonly TargetTrackingScalingPolicyConfiguration: { readonly TargetValue: number };
    };
  };
}
const writesOf = (properties: Record<string, unknown>): unknown[] =>
  [properties, ...(properties['GlobalSecondaryIndexes'] as object[])].map((one) => {
    const { IndexName = 'table', WriteProvisionedThroughputSettings: settings } = one as Scaled;
    const {
      MinCapacity: min,
      MaxCapacity: max,
      SeedCapacity: seed,
      TargetTrackingScalingPolicyConfiguration: { TargetValue: target },
    } = settings.WriteCapacityAutoScalingSettings;
    return [IndexName, min, max, seed, target];
  });

test('table and indexes have what the starts need, 70 % used, and a floor each', () => {
  const properties = tableOf(of(20));
  expect(properties['BillingMode']).toBe('PROVISIONED');
  expect(properties).not.toHaveProperty('WriteOnDemandThroughputSettings');
  const [table, wake, list] = writesOf(properties);
  expect([table, wake, list]).toEqual([
    ['table', 5, 400, 400, 70],
    ['wake', 5, 172, 172, 70],
    ['list', 5, 58, 58, 70],
  ]);
  expect(writesOf(properties)).toHaveLength(1 + INDEXES.length + SPARE_INDEXES.length);
  expect(writesOf(tableOf(of(0.1, { leastUnits: 3 }))).every((one) => Object(one)[1] === 3)).toBe(true);
});

test('synthesis says the floor in dollars, and from how many steps on it pays', () => {
  Annotations.fromStack(makeStack({ billing: of(20) })).hasInfo(
    '*',
    'the state table is paid for by the hour: its floor is $28 a month for 10 tables and indexes, whatever is used; by list prices of us-east-1 it pays from some 21 million steps a month on, if they come evenly [ack: steadfast:provisioned]',
  );
  expect(Annotations.fromStack(makeStack()).findInfo('*', /paid for by the hour/)).toEqual([]);
});

test('half the floor pays from half the steps on', () => {
  const [five, ten] = [floorOf(of(20), 10), floorOf(of(20, { leastUnits: 10 }), 10)];
  expect([five.usd * 2, five.steps * 2]).toEqual([ten.usd, ten.steps]);
  expect(five.usd).toBeCloseTo(28.47, 2);
});

test('a unit has the price of the whole bill, by use and by the hour', () => {
  const { writeUnits: write, readUnits: read, provisionedWriteHour, provisionedReadHour } = PRICES.usd;
  expect(UNIT_USD.onDemand).toEqual({ write, read });
  expect(UNIT_USD.provisionedHour).toEqual({ write: provisionedWriteHour, read: provisionedReadHour });
});

test.each<[string, () => unknown, string]>([
  ['no starts', () => tableOf(of(0)), 'billing.provisioned.startsPerSecond is 0; allowed: a number above 0'],
  [
    'half a unit',
    () => tableOf(of(1, { leastUnits: 0.5 })),
    'billing.provisioned.leastUnits is 0.5; allowed: a whole number of 1 or more',
  ],
  [
    'a bound of a table on demand',
    () => makeStack({ billing: of(1), startsPerSecond: { most: 5 } }),
    'startsPerSecond.most is of a table on demand',
  ],
])('%s is refused', (_, make, message) => {
  expect(make).toThrow(message);
});
