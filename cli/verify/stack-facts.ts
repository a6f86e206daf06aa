/**
 * What CloudFormation and SNS say of a stack in an account. Owns: the calls, and what is read of their
 * answers. Reads alone.
 */

import { type Calls, inXml, plainOf } from '../aws/calls.ts';
import { stackResources } from '../aws/stack-resources.ts';
import { CliError, type Clock, EXIT } from '../io.ts';
import type { QueueFacts, StackFacts } from './ports.ts';

const POLL_EVERY_MS = 5_000;
const DETECTED_WITHIN_MS = 20 * 60_000;

export const stackFacts = (calls: Calls, clock: Clock, stack: string): StackFacts => ({
  drifted: () => drifted(calls, clock, stack),
  subscribers: async () => {
    const topics = await idsOf(calls, stack, 'AWS::SNS::Topic');
    const counts = await Promise.all(topics.map((topic) => subscribersOf(calls, topic)));
    return counts.reduce((sum, count) => sum + count, 0);
  },
});

/** Physical ids of one type, for example `AWS::SNS::Topic`. */
export const idsOf = async (calls: Calls, stack: string, type: string): Promise<readonly string[]> =>
  (await stackResources(calls, stack)).filter((one) => one.type === type).map(({ id }) => id);

const textOf = (xml: string, name: string): string => plainOf(inXml(xml, name)[0] ?? '');

/**
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html and the two
 * that read what it found. @throws CliError `no-drift` where it does not end
 */
async function drifted(calls: Calls, clock: Clock, StackName: string): Promise<readonly string[]> {
  const StackDriftDetectionId = textOf(
    await calls.form('DetectStackDrift', { StackName }),
    'StackDriftDetectionId',
  );
  const lastAt = clock.now() + DETECTED_WITHIN_MS;
  for (;;) {
    const xml = await calls.form('DescribeStackDriftDetectionStatus', { StackDriftDetectionId });
    const status = textOf(xml, 'DetectionStatus');
    if (status === 'DETECTION_COMPLETE') break;
    if (status === 'DETECTION_FAILED' || clock.now() >= lastAt)
      throw new CliError(
        'no-drift',
        `drift detection: ${textOf(xml, 'DetectionStatusReason') || status}`,
        EXIT.failed,
      );
    await clock.sleep(POLL_EVERY_MS);
  }
  const found: string[] = [];
  let token: string | undefined;
  do {
    const page = await calls.form('DescribeStackResourceDrifts', {
      StackName,
      'StackResourceDriftStatusFilters.member.1': 'MODIFIED',
      'StackResourceDriftStatusFilters.member.2': 'DELETED',
      ...(token === undefined ? {} : { NextToken: token }),
    });
    const types = inXml(page, 'ResourceType');
    for (const [at, id] of inXml(page, 'LogicalResourceId').entries())
      found.push(`${plainOf(id)} (${types[at]}) has drifted`);
    [token] = inXml(page, 'NextToken').map(plainOf);
  } while (token !== undefined);
  return found;
}

/** https://docs.aws.amazon.com/sns/latest/api/API_GetTopicAttributes.html: those that are confirmed. */
async function subscribersOf(calls: Calls, TopicArn: string): Promise<number> {
  const xml = await calls.form('GetTopicAttributes', { TopicArn }, 'sns');
  const entry = inXml(xml, 'entry').find((one) => inXml(one, 'key')[0] === 'SubscriptionsConfirmed');
  return Number(textOf(entry ?? '', 'value') || '0');
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html */
export async function queueOf(calls: Calls, QueueUrl: string): Promise<QueueFacts> {
  const { Attributes } = await calls.json('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
  const found = Object(Attributes) as Readonly<Record<string, string | undefined>>;
  const { deadLetterTargetArn } = JSON.parse(found['RedrivePolicy'] ?? '{}') as Record<string, string>;
  return {
    name: lastPart(found['QueueArn'] ?? ''),
    url: QueueUrl,
    ...(deadLetterTargetArn === undefined ? {} : { deadLetters: lastPart(deadLetterTargetArn) }),
  };
}
const lastPart = (arn: string): string => arn.split(':').at(-1) ?? '';
