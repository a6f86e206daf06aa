/**
 * cdk-nag's AwsSolutions rules over the whole deployment: no finding, except those acknowledged in the
 * constructs, each with its reason there.
 */

import { Queue } from 'aws-cdk-lib/aws-sqs';
import { FATES, findingsOf, makeStack } from './template.ts';

test.each(['dev', 'prod'] as const)('a %s deployment has no finding', (stage) => {
  expect(findingsOf(makeStack({ removalPolicy: FATES[stage] }))).toEqual([]);
});

test('a deployment whose agents share a function has no finding either', () => {
  const agentSettings = { pay: { host: 'checkout' }, mail: { host: 'checkout' } };
  expect(findingsOf(makeStack({ agentSettings }))).toEqual([]);
});

test('a finding would be seen', () => {
  const stack = makeStack();
  const open = new Queue(stack, 'Open');
  open.grantSendMessages(stack.steadfast.agent('pay'));
  expect(findingsOf(stack)).toEqual([
    'AwsSolutions-SQS3 Test/Open/Resource',
    'AwsSolutions-SQS4 Test/Open/Resource',
  ]);
});
