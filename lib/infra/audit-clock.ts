/**
 * The audit: one Lambda function on its own schedule, for problems that the wake index cannot show.
 *
 * Owns: its trigger and settings. Does not own: its permissions on the table (`state-table.ts`), its repairs.
 *
 * It shares neither function nor role with the supervisor, so that one failure does not stop both, and no
 * other role may read the whole table or delete from it. No execution waits for it, so no concurrency is
 * reserved, and a missed run is not made up for. A pass takes as many runs as it needs, one after the other;
 * if the next pass is not due, a run reads its receipt and ends.
 */

import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Code, Function } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import { addFunction, type SharedSettings } from './function.ts';

export interface AuditClockProps extends SharedSettings {
  readonly code: Code;
  /** The shortest time between the beginnings of two passes through the table. */
  readonly every: Duration;
  /** The most that one run reads. */
  readonly megabytes: number;
}

/** The longest interval: an execution that lost its wake time waits for the next pass. */
const MOST_SELDOM = Duration.days(2);
/**
 * The interval of runs while a pass is under way. Lambda lets a function run for 15 minutes, and two runs
 * side by side would do the same work.
 */
const RUN_EVERY_MINUTES = 15;
const SHORTEST_RUN_MINUTES = 2;

/** The function that reads the whole table for what no index shows, and its schedule. */
export class AuditClock extends Construct {
  readonly function: Function;
  readonly rule: Rule;
  readonly every: Duration;
  /** The interval between two runs. */
  readonly runEvery: Duration;

  constructor(scope: Construct, id: string, props: AuditClockProps) {
    super(scope, id);
    const { every, megabytes, ...shared } = props;
    if (every.toMilliseconds() > MOST_SELDOM.toMilliseconds()) {
      throw new Error(
        `auditEvery is ${every.toHumanString()}; allowed: ${MOST_SELDOM.toHumanString()} or less, because an execution that lost its wake time waits that long`,
      );
    }
    if (!Number.isInteger(megabytes) || megabytes < 1) {
      throw new Error(`auditMegabytes is ${megabytes}; a whole number of 1 or more is allowed`);
    }
    this.every = every;
    const minutes = Math.max(1, Math.min(Math.floor(every.toSeconds() / 60), RUN_EVERY_MINUTES));
    this.runEvery = Duration.minutes(minutes);
    const once = { retryAttempts: 0, maxEventAge: Duration.minutes(5) };
    this.function = addFunction(this, {
      ...shared,
      description:
        'Steadfast audit: reads the state table without its indexes and heals what they would not show',
      timeout: Duration.minutes(Math.max(SHORTEST_RUN_MINUTES, minutes - 1)),
      environment: {
        ...shared.environment,
        [ENV.auditEveryMs]: String(every.toMilliseconds()),
        [ENV.auditPages]: String(megabytes),
      },
      ...once,
    });
    this.rule = new Rule(this, 'Run', {
      description: 'Starts the Steadfast audit',
      schedule: Schedule.rate(this.runEvery),
      targets: [new LambdaFunction(this.function, once)],
    });
  }
}
