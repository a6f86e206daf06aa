/**
 * Templates use only properties that CloudFormation supports in every region, because otherwise a region
 * refuses the whole stack.
 */

import { Tags } from 'aws-cdk-lib/core';
import { makeStack, Reader } from './template.ts';

/**
 * Properties by type that are missing in some region's schema. Found by cfn-lint in the schemas of all
 * regions, June 2026.
 */
const UNKNOWN_SOMEWHERE: Readonly<Record<string, readonly string[]>> = {
  // us-gov-east-1, us-gov-west-1
  'AWS::Events::EventBus': ['Description'],
  // me-central-1
  'AWS::CloudWatch::Dashboard': ['Tags'],
};

test('no resource has a property that a region does not know, whatever the app is tagged with', () => {
  const stack = makeStack();
  Tags.of(stack.node.root).add('team', 'orders');
  const reader = new Reader(stack);
  const types = Object.keys(UNKNOWN_SOMEWHERE);
  expect(types.filter((type) => reader.ofType(type).length === 0)).toEqual([]);
  const found = reader.all.flatMap(({ id, Type, Properties }) =>
    (UNKNOWN_SOMEWHERE[Type] ?? []).filter((name) => name in Properties).map((name) => `${id}.${name}`),
  );
  expect(found).toEqual([]);
  // Tags are not lost elsewhere.
  expect(JSON.stringify(reader.ofType('AWS::SQS::Queue'))).toContain('"team"');
});
