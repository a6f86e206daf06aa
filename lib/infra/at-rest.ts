/**
 * Brings a deployment to rest, so that it does not start, claim, sweep or audit. One deploy brings it to
 * rest, another ends that.
 *
 * Owns: the resources that are switched off in the template. Does not own: the routes that are refused
 * meanwhile (`api/routes.ts`). Attempts under way continue to their process deadline, and report under their
 * live lease.
 *
 * The sources of triggers stay on, because a disabled rule loses its events, while a queue keeps them for 14
 * days.
 */

import { CfnScalableTarget } from 'aws-cdk-lib/aws-applicationautoscaling';
import { CfnService } from 'aws-cdk-lib/aws-ecs';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Aspects } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/**
 * @param all constructs whose queues are no longer read, and whose containers stop
 * @param clocks constructs whose rules are disabled: those of supervisors, audit and wake-ups
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
