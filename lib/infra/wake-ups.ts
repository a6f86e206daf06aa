/**
 * The bus by which a function calls a supervisor, with one rule.
 *
 * Owns: bus and rule, and who may call. Does not own: when a supervisor is called (`engine/wake-up.ts`).
 *
 * It is not the bus of ended executions, which may belong to others, have other listeners, or be in another
 * account. A late event is useless, because a tick has swept meanwhile, so it is not kept.
 */

import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { WAKE_EVENT } from '../aws/names.ts';

/** Calls a supervisor at once if no tick would sweep in time. */
export class WakeUps extends Construct {
  readonly bus: EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // Without a description, because GovCloud refuses one.
    this.bus = new EventBus(this, 'Bus');
  }

  /** Makes calls start this function. */
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
