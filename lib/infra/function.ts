/**
 * The common settings of all Lambda functions of a deployment: runtime, a role of their own, a log group of
 * their own.
 *
 * Does not own: permissions beyond writing its log; each construct grants those.
 *
 * The role is not CDK's default one, whose managed policy allows writing to every log group of the account.
 */

import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  type ApplicationLogLevel,
  Architecture,
  type Code,
  Function,
  type FunctionProps,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { type RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { tagLogs } from './parts.ts';

/** The log settings of all functions of a deployment. */
export interface LogSettings {
  readonly retention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: IKey;
  /**
   * The lowest level that is written. Lambda itself drops lines below it, even if a function's own logger
   * writes them (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html).
   * @default - Lambda's: INFO
   */
  readonly level?: ApplicationLogLevel;
  /**
   * The lowest level of Lambda's own lines.
   * @default SystemLogLevel.WARN
   */
  readonly systemLevel?: SystemLogLevel;
}

/** What all functions of a deployment have in common. */
export interface SharedSettings {
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: LogSettings;
  /** In MB; CPU grows with it. */
  readonly memorySize: number;
  readonly tracing?: Tracing;
}

export interface FunctionSettings
  extends SharedSettings,
    Pick<
      FunctionProps,
      | 'timeout'
      | 'recursiveLoop'
      | 'reservedConcurrentExecutions'
      | 'retryAttempts'
      | 'maxEventAge'
      | 'vpc'
      | 'vpcSubnets'
      | 'securityGroups'
    > {
  readonly description: string;
  readonly code: Code;
}

/** Adds a function with its role and its log group to `scope`. */
export function addFunction(scope: Construct, settings: FunctionSettings): Function {
  const { logs, environment, ...props } = settings;
  const { level, systemLevel, ...kept } = logs;
  const logGroup = new LogGroup(scope, 'Logs', kept);
  tagLogs(logGroup);
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  if (settings.vpc !== undefined) allowNetworkInterfaces(role);
  if (settings.tracing !== undefined && settings.tracing !== Tracing.DISABLED)
    acknowledge(role, 'X-Ray knows no resource to which sending a trace could be confined');
  return new Function(scope, 'Function', {
    ...props,
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    ...(level === undefined ? {} : { applicationLogLevelV2: level }),
    systemLogLevelV2: systemLevel ?? SystemLogLevel.WARN,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    handler: 'index.handler',
    environment: { NODE_OPTIONS: '--enable-source-maps', ...environment },
  });
}

/** Lets Lambda put the function into a network; it does so with the function's role. */
function allowNetworkInterfaces(role: Role): void {
  const actions = [
    'AssignPrivateIpAddresses',
    'CreateNetworkInterface',
    'DeleteNetworkInterface',
    'DescribeNetworkInterfaces',
    'DescribeSubnets',
    'UnassignPrivateIpAddresses',
  ].map((action) => `ec2:${action}`);
  role.addToPolicy(new PolicyStatement({ actions, resources: ['*'] }));
  acknowledge(role, 'the interfaces that Lambda makes for a function in a network have no names beforehand');
}

/** Acknowledges a finding of cdk-nag that is intended. */
const acknowledge = (role: Role, reason: string): void =>
  Validations.of(role).acknowledge({ id: 'AwsSolutions-IAM5[Resource::*]', reason });
