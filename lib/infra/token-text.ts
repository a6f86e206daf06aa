/**
 * The longest length of a text whose parts CloudFormation inserts.
 *
 * Owns: the longest region, account and generated name. Does not own: the limits that use it (`limits.ts`).
 */

import { CfnResource, type Stack } from 'aws-cdk-lib/core';

/** The longest values that exist: https://docs.aws.amazon.com/general/latest/gr/rande.html */
const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Region': 'ap-southeast-1',
  'AWS::AccountId': '123456789012',
  'AWS::URLSuffix': 'amazonaws.com.cn',
  'AWS::Partition': 'aws-us-gov',
};
/**
 * The characters that CloudFormation adds to a stack's name and a logical id to generate a name: twelve or
 * thirteen.
 */
const OWN_CHARACTERS = 13;
const LONGEST_NAME: Readonly<Record<string, number>> = {
  'AWS::SQS::Queue': 80,
  'AWS::Lambda::Function': 64,
  'AWS::S3::Bucket': 63,
};
const ARN = 'arn:aws-us-gov:dynamodb:ap-southeast-1:123456789012:table/';
const QUEUE_ADDRESS = 'https://sqs.ap-southeast-1.amazonaws.com.cn/123456789012/';

/** The names that a text may refer to. */
export interface Names {
  readonly stackName: string;
  /** The type of each resource, by logical id. */
  readonly types: ReadonlyMap<string, string>;
}

export function namesIn(stack: Stack): Names {
  const resources = stack.node.findAll().filter((node) => CfnResource.isCfnResource(node));
  const types = resources.map(
    ({ logicalId, cfnResourceType }) => [String(stack.resolve(logicalId)), cfnResourceType] as const,
  );
  return { stackName: stack.stackName, types: new Map(types) };
}

/** @param value a resolved value: a text, or intrinsics that give one */
export function longestText(value: unknown, names: Names): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const [[kind, argument] = ['', undefined]] = Object.entries(value);
  if (kind === 'Ref') return PSEUDO[String(argument)] ?? longestName(String(argument), 'Ref', names);
  if (kind === 'Fn::Join') {
    const [separator, parts] = argument as [string, readonly unknown[]];
    return parts.map((part) => longestText(part, names)).join(separator);
  }
  if (kind === 'Fn::GetAtt') {
    const [id, attribute] = argument as readonly [string, string];
    return longestName(id, attribute, names);
  }
  // The length of any other intrinsic's value is unknown; it is about as long as its JSON.
  return JSON.stringify(value);
}

function longestName(logicalId: string, attribute: string, { stackName, types }: Names): string {
  if (logicalId === 'AWS::StackName') return stackName;
  const type = types.get(logicalId) ?? '';
  const whole = stackName.length + logicalId.length + '--'.length + OWN_CHARACTERS;
  const name = 'x'.repeat(Math.min(whole, LONGEST_NAME[type] ?? 255));
  if (/arn$/i.test(attribute)) return ARN + name;
  return type === 'AWS::SQS::Queue' && attribute === 'Ref' ? QUEUE_ADDRESS + name : name;
}
