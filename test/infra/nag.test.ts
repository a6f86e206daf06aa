/**
 * cdk-nag's AwsSolutions rules over the whole deployment: no finding, but those acknowledged in the constructs, each
 * there with its reason.
 */

import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Stack } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { makeStack } from './template.ts';

const findingsOf = (stack: Stack): string[] =>
  new AwsSolutionsChecks(stack)
    .validateScope(stack)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    )
    .sort();

test.each(['dev', 'prod'] as const)('a %s deployment has no finding', (stageName) => {
  expect(findingsOf(makeStack({ stageName }))).toEqual([]);
});

test('a finding would be seen', () => {
  const stack = makeStack();
  const open = new Queue(stack, 'Open');
  open.grantSendMessages(stack.steadfast.agent('pay'));
  stack.steadfast.agent('pay').function.addEnvironment('QUEUE', open.queueUrl);
  expect(findingsOf(stack)).toEqual([
    'AwsSolutions-SQS3 Test/Open/Resource',
    'AwsSolutions-SQS4 Test/Open/Resource',
  ]);
});
