/**
 * What a change set would do to a stack, in CloudFormation's words.
 *
 * Owns: how it is read, and which changes lose data. Does not own: that one is made (`throwaway.ts`).
 */

import { type Calls, inXml, plainOf, unlessGone } from '../aws/calls.ts';

/**
 * Deletes it unexecuted.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeChangeSet.html
 * @returns all its pages; nothing where the CDK has deleted it, because it had no change
 */
export async function takenChangeSet(
  calls: Calls,
  StackName: string,
  ChangeSetName: string,
): Promise<string> {
  const of = { StackName, ChangeSetName };
  let all = '';
  let token: string | undefined;
  do {
    const next: Record<string, string> = token === undefined ? {} : { NextToken: token };
    const page = (await unlessGone(calls.form('DescribeChangeSet', { ...of, ...next }))) ?? '';
    all += page;
    [token] = inXml(page, 'NextToken').map(plainOf);
  } while (token !== undefined);
  await unlessGone(calls.form('DeleteChangeSet', of));
  return all;
}

/** Types that hold data, or whose address others know. */
const HOLDS =
  /^AWS::(?:DynamoDB::(?:Global)?Table|S3::Bucket|SQS::Queue|Events::EventBus|SNS::Topic|Logs::LogGroup|ApiGatewayV2::Api)$/;

/** @param xml the answer of DescribeChangeSet. @returns why it is not one that can be executed */
export function problemsOf(xml: string): string[] {
  const of = (name: string): string => plainOf(inXml(xml, name)[0] ?? '');
  const status = of('Status');
  return [
    ...(status === 'CREATE_COMPLETE'
      ? []
      : [`the change set is ${status || 'not there'}: ${of('StatusReason')}`]),
    ...(xml.includes('<ResourceChange>') ? [] : ['it has no change']),
    ...replaced(xml),
  ];
}

/** What a change set would replace or remove of those. */
const replaced = (xml: string): string[] =>
  inXml(xml, 'ResourceChange').flatMap((change) => {
    const of = (name: string): string => inXml(change, name)[0] ?? '';
    const fate = of('Action') === 'Remove' ? 'would be removed' : FATES[of('Replacement')];
    const isLost = fate !== undefined && HOLDS.test(of('ResourceType'));
    return isLost ? [`${of('LogicalResourceId')} (${of('ResourceType')}) ${fate}`] : [];
  });

const FATES: Readonly<Record<string, string>> = { True: 'would be replaced', Conditional: 'may be replaced' };
