/**
 * The audit: one Lambda function on a schedule of its own, for what the wake index cannot show.
 *
 * Owns: its trigger and settings. Does not own: what it may do to the table
 * (`state-table.ts`), what is out of order.
 *
 * It shares neither function nor role with the supervisor: what stops the one must not stop the other, and no
 * other role may read all of the table or delete from it. No execution waits for it, so nothing is set aside
 * for it, and a run that is missed is not made up for. A pass takes as many runs as it needs, one after the
 * other; while it is not time for another one, a run reads its receipt and ends.
 */

import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Code, Function, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { addFunction, type LogSettings } from './function.ts';

export interface AuditClockProps {
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  readonly memorySize: number;
  readonly tracing?: Tracing;
  /** From the beginning of a pass through the table to the next, at least. */
  readonly every: Duration;
  /** Read in one run, at most. */
  readonly megabytes: number;
}

/** An execution that lost its wake time waits for the next pass. */
const MOST_SELDOM = Duration.days(2);
/**
 * While a pass is under way; Lambda lets a function run for 15 minutes, and two runs
 * side by side would do one's work.
 */
const RUN_EVERY_MINUTES = 15;
const SHORTEST_RUN_MINUTES = 2;

/** The function that reads the whole table for what no index has, and when it runs. */
export class AuditClock extends Construct {
  readonly function: Function;
  readonly rule: Rule;
  readonly every: Duration;
  /** From run to run. */
  readonly runEvery: Duration;

  constructor(scope: Construct, id: string, props: AuditClockProps) {
    super(scope, id);
    if (props.every.toMilliseconds() > MOST_SELDOM.toMilliseconds()) {
      throw new Error(
        `auditEvery is ${props.every.toHumanString()}; allowed: ${MOST_SELDOM.toHumanString()} or less, because an execution that lost its wake time waits that long`,
      );
    }
    if (!Number.isInteger(props.megabytes) || props.megabytes < 1) {
      throw new Error(`auditMegabytes is ${props.megabytes}; a whole number of 1 or more is allowed`);
    }
    this.every = props.every;
    const minutes = Math.max(1, Math.min(Math.floor(props.every.toSeconds() / 60), RUN_EVERY_MINUTES));
    this.runEvery = Duration.minutes(minutes);
    const once = { retryAttempts: 0, maxEventAge: Duration.minutes(5) };
    this.function = addFunction(this, {
      description:
        'Steadfast audit: reads the state table without its indexes and heals what they would not show',
      code: props.code,
      timeout: Duration.minutes(Math.max(SHORTEST_RUN_MINUTES, minutes - 1)),
      memorySize: props.memorySize,
      environment: {
        ...props.environment,
        [ENV.auditEveryMs]: String(props.every.toMilliseconds()),
        [ENV.auditPages]: String(props.megabytes),
      },
      logs: props.logs,
      ...(props.tracing === undefined ? {} : { tracing: props.tracing }),
      ...once,
    });
    this.rule = new Rule(this, 'Run', {
      description: 'Starts the Steadfast audit',
      schedule: Schedule.rate(this.runEvery),
      targets: [new LambdaFunction(this.function, once)],
    });
  }
}
