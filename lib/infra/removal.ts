/**
 * The removal of resources that contain data, when they leave the stack or the stack is deleted.
 *
 * Owns: the difference between a resource that was in use and one that a failed first deployment created.
 */

import { RemovalPolicy } from 'aws-cdk-lib/core';

/**
 * Keeps a resource that leaves the stack, but not one whose first deployment is rolled back: it is empty, and
 * each failed attempt would leave another one (`RetainExceptOnCreate`,
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html).
 */
export const onceInUse = (policy: RemovalPolicy): RemovalPolicy =>
  policy === RemovalPolicy.RETAIN ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : policy;
