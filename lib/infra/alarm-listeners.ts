/**
 * Warns if the alarms have no subscriber.
 *
 * Does not own: the topic (`monitoring.ts`), whether a subscriber has confirmed, which only the account
 * knows.
 */

import { CfnSubscription, type ITopic } from 'aws-cdk-lib/aws-sns';
import { Aspects, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Checks at synthesis, so a subscriber must be added before, in this stack or in another of the app. */
export function warnOfSilence(scope: Construct, topic: ITopic): void {
  let looked = false;
  Aspects.of(scope).add({
    visit: (node) => {
      if (node !== scope || looked) return;
      looked = true;
      if (!isHeard(scope, topic)) warn(scope);
    },
  });
}

const isHeard = (scope: Construct, { topicArn }: ITopic): boolean =>
  scope.node.root.node
    .findAll()
    .some((node) => node instanceof CfnSubscription && node.topicArn === topicArn);

const warn = (scope: Construct): void =>
  Validations.of(scope).addWarning(
    'steadfast:alarmsReachNobody',
    "its alarms reach nobody, because their topic has no subscription. Set alarmEmail (of a SteadfastStack), alarmTopic (a topic of your own), or call monitoring?.topic.addSubscription(…). If you subscribe outside of this program: Validations.of(…).acknowledge({ id: 'steadfast:alarmsReachNobody', reason: '…' })",
  );
