/**
 * A deployment at rest: starts, claims, sweeps and audits nothing, by one deployment in and one out.
 *
 * Owns: what is switched off in the template. Does not own: the routes that are refused meanwhile
 * (`api/routes.ts`). What has begun goes on to its process deadline, and reports under its live lease.
 *
 * What fills the triggers' queues stays on: a disabled rule loses its events, and a queue keeps them for 14
 * days.
 */

import { CfnScalableTarget } from 'aws-cdk-lib/aws-applicationautoscaling';
import { CfnService } from 'aws-cdk-lib/aws-ecs';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Aspects } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/**
 * @param all whose queues are read no more, and whose containers stop
 * @param clocks whose rules start nothing: the supervisors', the audit's, the wake-ups'
 */
export function bringToRest(all: IConstruct, ...clocks: readonly IConstruct[]): void {
  Aspects.of(all).add({
    visit: (node) => {
      if (node instanceof CfnEventSourceMapping) node.enabled = false;
      if (node instanceof CfnService) node.desiredCount = 0;
      if (node instanceof CfnScalableTarget) Object.assign(node, { minCapacity: 0, maxCapacity: 0 });
    },
  });
  for (const clock of clocks)
    Aspects.of(clock).add({
      visit: (node) => {
        if (node instanceof CfnRule) node.state = 'DISABLED';
      },
    });
}
