/**
 * The supervisors: one Lambda function that EventBridge starts every minute, several times at once. Each has
 * its part of the shards of the wake index and visits the others', so that a dead one is replaced at once
 * (L5).
 *
 * Owns: the tick. Does not own: which executions are due, and their evaluation.
 *
 * A tick that is late or fails is neither retried nor kept, because the next one sees everything that it
 * would have seen. The function's concurrency is reserved, because agents that use up the account's must not
 * stop the one role that would notice.
 *
 * When the number of supervisors changes, every shard keeps its supervisor: each part of a tick knows how
 * many there are, and the additional rules, needed beyond EventBridge's five targets, are created before the
 * number changes and deleted afterwards.
 */

import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Code, Function } from 'aws-cdk-lib/aws-lambda';
import { Duration, Lazy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { DEFAULT_SWEEP_EVERY_MS, ENV } from '../aws/names.ts';
import { addFunction, type SharedSettings } from './function.ts';
import type { SupervisorSettings } from './supervisor-settings.ts';

const TICK = Duration.minutes(1);
/** EventBridge's limit: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html */
const TARGETS_A_RULE = 5;

export interface SupervisorClockProps extends SharedSettings {
  readonly code: Code;
  /** The hash of all code, known once every function has been added. */
  readonly release: () => string;
  readonly settings: SupervisorSettings;
}

/** The function that finds due executions, and the schedule on which it runs. */
export class SupervisorClock extends Construct {
  readonly function: Function;
  readonly rules: readonly Rule[];

  constructor(scope: Construct, id: string, props: SupervisorClockProps) {
    super(scope, id);
    const { settings, release, ...shared } = props;
    const { supervisors, reservedConcurrency } = settings;
    const once = { retryAttempts: 0, maxEventAge: TICK };
    const sweepEveryMs = settings.sweepEvery.toMilliseconds();
    this.function = addFunction(this, {
      ...shared,
      description: 'Steadfast supervisor: finds what is due once a minute',
      timeout: Duration.seconds(60),
      environment: {
        ...shared.environment,
        [ENV.release]: Lazy.string({ produce: release }),
        // Leaves the default out: a full stack's queues leave little room in the environment.
        ...(sweepEveryMs === DEFAULT_SWEEP_EVERY_MS ? {} : { [ENV.sweepEveryMs]: String(sweepEveryMs) }),
      },
      ...(reservedConcurrency === 'unreserved' ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...once,
    });
    const targets = Array.from(
      { length: supervisors },
      (_, part) =>
        new LambdaFunction(this.function, {
          ...once,
          event: RuleTargetInput.fromObject({ part, of: supervisors }),
        }),
    );
    const rules = Array.from(
      { length: Math.ceil(supervisors / TARGETS_A_RULE) },
      (_, at) =>
        new Rule(this, at === 0 ? 'Tick' : `Tick${at + 1}`, {
          description: 'Starts the Steadfast supervisor',
          schedule: Schedule.rate(TICK),
          targets: targets.slice(at * TARGETS_A_RULE, (at + 1) * TARGETS_A_RULE),
        }),
    );
    const [first, ...others] = rules as [Rule, ...Rule[]];
    first.node.addDependency(...others);
    this.rules = rules;
  }
}
