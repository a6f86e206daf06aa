/**
 * The supervisor: one Lambda function that EventBridge starts every minute, twice: each keeps half of the shards of the
 * watch index and visits the other's, so that one that dies is replaced at once (L5).
 *
 * Owns: the tick. Does not own: what is due, or what is done about it.
 *
 * A tick that comes late or fails is worth nothing, since the next one sees everything that it would have seen: so it
 * is neither retried nor kept. The function's own concurrency is reserved because agents that take all of the
 * account's must not stop the one role that would notice.
 */

import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Code, Function, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { addFunction, type LogSettings } from './function.ts';

const TICK = Duration.minutes(1);
const PARTS = 2;

export interface SupervisorClockProps {
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  readonly memorySize: number;
  readonly tracing?: Tracing;
  /** Executions set aside for it, or 'unreserved' in an account that has too few to set any aside. */
  readonly reservedConcurrency: number | 'unreserved';
}

export class SupervisorClock extends Construct {
  readonly function: Function;
  readonly rule: Rule;

  constructor(scope: Construct, id: string, props: SupervisorClockProps) {
    super(scope, id);
    const once = { retryAttempts: 0, maxEventAge: TICK };
    this.function = addFunction(this, {
      description: 'Steadfast supervisor: finds what is due once a minute',
      code: props.code,
      timeout: Duration.seconds(60),
      memorySize: props.memorySize,
      environment: props.environment,
      logs: props.logs,
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...(props.reservedConcurrency === 'unreserved'
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...once,
    });
    this.rule = new Rule(this, 'Tick', {
      description: 'Starts the Steadfast supervisor',
      schedule: Schedule.rate(TICK),
      targets: Array.from(
        { length: PARTS },
        (_, part) =>
          new LambdaFunction(this.function, {
            ...once,
            event: RuleTargetInput.fromObject({ part, of: PARTS }),
          }),
      ),
    });
  }
}
