/** Reads facts about a stack of an account from CloudFormation and SNS. */

import { type Calls, inXml, plainOf, textIn } from '../aws/calls.ts';
import { idsIn } from '../aws/stack-resources.ts';
import { CliError, type Clock, EXIT } from '../io.ts';
import type { StackFacts } from './ports.ts';

const POLL_EVERY_MS = 5_000;
const DETECTED_WITHIN_MS = 20 * 60_000;

export const stackFacts = (calls: Calls, clock: Clock, stack: string): StackFacts => ({
  drifted: () => drifted(calls, clock, stack),
  subscribers: async () => {
    const topics = await idsIn(calls, stack, 'AWS::SNS::Topic');
    const counts = await Promise.all(topics.map((topic) => subscribersOf(calls, topic)));
    return counts.reduce((sum, count) => sum + count, 0);
  },
});

/**
 * Detects the drift of the stack by
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html and the two
 * calls that return its result.
 * @throws CliError `no-drift` if the detection does not end
 */
async function drifted(calls: Calls, clock: Clock, StackName: string): Promise<readonly string[]> {
  const begun = await calls.form('DetectStackDrift', { StackName });
  const StackDriftDetectionId = textIn(begun, 'StackDriftDetectionId');
  const lastAt = clock.now() + DETECTED_WITHIN_MS;
  for (;;) {
    const xml = await calls.form('DescribeStackDriftDetectionStatus', { StackDriftDetectionId });
    const status = textIn(xml, 'DetectionStatus');
    if (status === 'DETECTION_COMPLETE') break;
    const why = textIn(xml, 'DetectionStatusReason') || status;
    if (status === 'DETECTION_FAILED' || clock.now() >= lastAt)
      throw new CliError('no-drift', `drift detection: ${why}`, EXIT.failed);
    await clock.sleep(POLL_EVERY_MS);
  }
  const found: string[] = [];
  const asked = {
    StackName,
    'StackResourceDriftStatusFilters.member.1': 'MODIFIED',
    'StackResourceDriftStatusFilters.member.2': 'DELETED',
  };
  for await (const page of calls.formPages('DescribeStackResourceDrifts', asked)) {
    const types = inXml(page, 'ResourceType');
    for (const [at, id] of inXml(page, 'LogicalResourceId').entries())
      found.push(`${plainOf(id)} (${types[at]}) has drifted`);
  }
  return found;
}

/**
 * The number of confirmed subscriptions:
 * https://docs.aws.amazon.com/sns/latest/api/API_GetTopicAttributes.html
 */
async function subscribersOf(calls: Calls, TopicArn: string): Promise<number> {
  const xml = await calls.form('GetTopicAttributes', { TopicArn }, 'sns');
  const entry = inXml(xml, 'entry').find((one) => textIn(one, 'key') === 'SubscriptionsConfirmed');
  return Number(textIn(entry ?? '', 'value') || '0');
}
