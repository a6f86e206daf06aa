/**
 * Asks CloudFormation what a stack holds: it knows at once after a deployment, while tags are found minutes
 * later.
 *
 * Owns: the question and its pages. Does not own: what is made of the answer (`../verify/`).
 */

import { type Calls, inXml, textIn } from './calls.ts';

/**
 * `Ref` of each existing resource of one type (`AWS::SNS::Topic`).
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html
 */
export async function idsIn(calls: Calls, stack: string, type: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of calls.formPages('ListStackResources', { StackName: stack }))
    for (const member of inXml(page, 'member')) {
      const id = textIn(member, 'PhysicalResourceId');
      const isThere = id !== '' && textIn(member, 'ResourceStatus') !== 'DELETE_COMPLETE';
      if (isThere && textIn(member, 'ResourceType') === type) found.push(id);
    }
  return found;
}
