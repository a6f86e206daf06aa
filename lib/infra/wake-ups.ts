/**
 * How a function calls a supervisor: an event bus of its own, and the one rule on it.
 *
 * Owns: bus and rule, and who may call. Does not own: when one is called (`engine/wake-up.ts`).
 *
 * The bus is not the one that hears of ended executions: that one may belong to others, have
 * listeners of others, and be in another account. An event that comes late is worth nothing, for by
 * then a tick has swept: so it is not kept.
 */

import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { WAKE_EVENT } from '../aws/names.ts';

/** What calls a supervisor at once where none would sweep in time. */
export class WakeUps extends Construct {
  readonly bus: EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // Without a description: GovCloud refuses one.
    this.bus = new EventBus(this, 'Bus');
  }

  /** Has calls start this function. */
  startOn(supervisor: Function): Rule {
    const { source, detailType } = WAKE_EVENT;
    const rule = new Rule(this, 'Rule', {
      description: 'Starts the Steadfast supervisor when it is called',
      eventBus: this.bus,
      eventPattern: { source: [source], detailType: [detailType] },
      targets: [new LambdaFunction(supervisor, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
    return rule;
  }

  grantCall(grantee: IGrantable): Grant {
    return this.bus.grantPutEventsTo(grantee);
  }
}
