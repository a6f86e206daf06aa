/**
 * The audit: one Lambda function on a schedule of its own, for what the watch index cannot show.
 *
 * Owns: its trigger and settings. Does not own: what it may do to the table (`state-table.ts`), what is out of order.
 *
 * It shares neither function nor role with the supervisor: what stops the one must not stop the other, and nobody else may
 * read all of the table or delete from it. No execution waits for it, so nothing is set aside for it, and a run that is
 * missed is not made up for.
 */

import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Code, Function, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { addFunction, type LogSettings } from './function.ts';

export interface AuditClockProps {
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  readonly memorySize: number;
  readonly tracing?: Tracing;
  readonly every: Duration;
}

/** CloudWatch looks back over seven days at most, and one that is missed is no alarm yet. */
const MOST_SELDOM = Duration.days(2);

export class AuditClock extends Construct {
  readonly function: Function;
  readonly rule: Rule;
  readonly every: Duration;

  constructor(scope: Construct, id: string, props: AuditClockProps) {
    super(scope, id);
    if (props.every.toMilliseconds() > MOST_SELDOM.toMilliseconds()) {
      throw new Error(
        `auditEvery is ${props.every.toHumanString()}; allowed are ${MOST_SELDOM.toHumanString()} or less: an alarm must be able to see that it is missed`,
      );
    }
    this.every = props.every;
    const once = { retryAttempts: 0, maxEventAge: Duration.minutes(5) };
    this.function = addFunction(this, {
      description:
        'Steadfast audit: reads the state table without its indexes and heals what they would not show',
      code: props.code,
      timeout: Duration.minutes(2),
      memorySize: props.memorySize,
      environment: props.environment,
      logs: props.logs,
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...once,
    });
    this.rule = new Rule(this, 'Run', {
      description: 'Starts the Steadfast audit',
      schedule: Schedule.rate(props.every),
      targets: [new LambdaFunction(this.function, once)],
    });
  }
}
