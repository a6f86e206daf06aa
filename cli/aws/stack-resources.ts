/**
 * Lists a stack's resources by CloudFormation. This works right after a deployment, while tags can be found
 * only minutes later.
 *
 * Does not own: the use of the answer (`../verify/`).
 */

import { type Calls, inXml, textIn } from './calls.ts';

/**
 * The `Ref` of each existing resource of a type, such as `AWS::SNS::Topic`.
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
