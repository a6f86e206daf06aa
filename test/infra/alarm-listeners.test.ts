/** Synthesis warns if a permanent deployment has alarms that notify nobody. */

import { CfnSubscription, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { type SteadfastStack, type SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import { FATES, makeStack, Reader } from './template.ts';

const ID = 'steadfast:alarmsReachNobody';

/** Synthesis's messages about a permanent deployment. */
function said(
  props: Partial<SteadfastStackProps> = {},
  change: (stack: SteadfastStack) => void = () => {},
): string {
  const stack = makeStack({ removalPolicy: FATES.prod, ...props });
  change(stack);
  expect(new Reader(stack).all.length).toBeGreaterThan(0);
  return stack.steadfast.node.metadata.map(({ data }) => String(data)).join('\n');
}

const topicOf = ({ steadfast }: SteadfastStack): Topic => steadfast.monitoring!.topic as Topic;

test('nobody has subscribed: said once, with what helps', () => {
  const text = said();
  expect(text).toMatch(/alarms reach nobody.*alarmEmail.*alarmTopic.*acknowledge/s);
  expect(text.match(/reach nobody/g)).toHaveLength(1);
});

test.each<[string, Partial<SteadfastStackProps>, (stack: SteadfastStack) => void]>([
  ['an address is given', { alarmEmail: 'on-call@example.com' }, () => {}],
  ['the deployment goes with its stack', { removalPolicy: RemovalPolicy.DESTROY }, () => {}],
  ['there are no alarms', { monitoring: 'none' }, () => {}],
  [
    'somebody subscribes afterwards',
    {},
    (stack) => topicOf(stack).addSubscription(new EmailSubscription('on-call@example.com')),
  ],
  [
    'another stack subscribes',
    {},
    (stack) => {
      const other = new Stack(stack.node.scope!, 'Other');
      const { topicArn } = topicOf(stack);
      const pager = { topicArn, protocol: 'https', endpoint: 'https://pager.example/hook' };
      expect(new CfnSubscription(other, 'Pager', pager).topicArn).toBe(topicArn);
    },
  ],
  [
    'it is acknowledged',
    {},
    ({ steadfast }) =>
      Validations.of(steadfast).acknowledge({ id: ID, reason: 'the pager is set up by hand' }),
  ],
])('nothing is said where %s', (_, props, change) => {
  expect(said(props, change)).not.toContain('reach nobody');
});

test('nothing is said where the topic is somebody’s own', () => {
  const stack = makeStack({
    settings: (of) => ({ alarmTopic: new Topic(of, 'Pager', { enforceSSL: true }) }),
    removalPolicy: FATES.prod,
  });
  expect(new Reader(stack).ofType('AWS::SNS::Topic')).toHaveLength(1);
  expect(stack.steadfast.node.metadata.map(({ data }) => String(data)).join()).not.toContain('reach nobody');
});
