/**
 * What becomes of what holds data, when it leaves the stack or the stack goes.
 *
 * Owns: the difference between one that was in use and one that a failed first deployment has just made.
 */

import { RemovalPolicy } from 'aws-cdk-lib/core';

/**
 * Kept when it leaves the stack, but not when the deployment that made it is rolled back: nothing is in it
 * then, and each failed attempt would leave another one behind (`RetainExceptOnCreate`,
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html).
 */
export const onceInUse = (policy: RemovalPolicy): RemovalPolicy =>
  policy === RemovalPolicy.RETAIN ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : policy;
