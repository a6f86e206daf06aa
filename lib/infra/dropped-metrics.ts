/**
 * Refuses a log level at which Lambda drops metrics. They are log lines without a level, which Lambda treats
 * as INFO (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html). Alarms on
 * them would never be raised, and alarms on missing data never end.
 *
 * It checks the synthesised template, so that an Aspect's level counts as well. Does not own: the setting
 * (`function.ts`).
 */

import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnResource, Stack } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';

const DROPS_METRICS = new Set(['WARN', 'ERROR', 'FATAL']);

/** @param others functions outside `scope` that do a deployment's work */
export function refuseDroppedMetrics(scope: Construct, others: () => readonly IFunction[]): void {
  scope.node.addValidation({
    validate: () => {
      const own = others().flatMap(({ node }) => node.defaultChild ?? []);
      return [...new Set([...scope.node.findAll(), ...own])].flatMap((node) => {
        const level = levelOf(node);
        return DROPS_METRICS.has(level) ? [refusal(node.node.path, level)] : [];
      });
    },
  });
}

const refusal = (path: string, level: string): string =>
  `${path}: at the application log level ${level} Lambda drops this function's metrics, which count as INFO; leave out logLevel (or the Aspect that sets it); Lambda's own lines of healthy invocations are left out already`;

/** The level that the template will have. */
function levelOf(node: IConstruct): string {
  if (!CfnResource.isCfnResource(node) || node.cfnResourceType !== 'AWS::Lambda::Function') return '';
  const { Resources } = Stack.of(node).resolve(
    (node as unknown as { _toCloudFormation: () => object })._toCloudFormation(),
  ) as { readonly Resources: Readonly<Record<string, Template>> };
  return Object.values(Resources)[0]?.Properties?.LoggingConfig?.ApplicationLogLevel ?? '';
}

interface Template {
  readonly Properties?: { readonly LoggingConfig?: { readonly ApplicationLogLevel?: string } };
}
