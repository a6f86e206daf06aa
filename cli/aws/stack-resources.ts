/**
 * What CloudFormation says a stack holds: at once after a deployment, while tags can be found minutes later.
 *
 * Owns: the question and its pages. Does not own: what is made of the answer (`../verify/`).
 */

import { type Calls, inXml, plainOf } from './calls.ts';

export interface StackResource {
  readonly logicalId: string;
  /** `AWS::Events::Rule`. */
  readonly type: string;
  /** What `Ref` gives. */
  readonly id: string;
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html */
export async function stackResources(calls: Calls, stack: string): Promise<readonly StackResource[]> {
  const found: StackResource[] = [];
  let token: string | undefined;
  do {
    const page = await calls.form('ListStackResources', {
      StackName: stack,
      ...(token === undefined ? {} : { NextToken: token }),
    });
    for (const member of inXml(page, 'member')) {
      const of = (name: string): string => plainOf(inXml(member, name)[0] ?? '');
      if (of('ResourceStatus') !== 'DELETE_COMPLETE')
        found.push({
          logicalId: of('LogicalResourceId'),
          type: of('ResourceType'),
          id: of('PhysicalResourceId'),
        });
    }
    [token] = inXml(page, 'NextToken').map(plainOf);
  } while (token !== undefined);
  return found;
}
