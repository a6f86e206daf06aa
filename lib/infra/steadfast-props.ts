/**
 * The settings of a deployment, each with its default.
 *
 * Owns: the settings of `Steadfast`. Does not own: which part gets which (`settings-of-props.ts`), their
 * effects (`steadfast.ts`), the settings of one agent (`agent-settings.ts`) and one trigger (`triggers.ts`).
 */

import type {
  CorsPreflightOptions,
  DomainMappingOptions,
  IHttpRouteAuthorizer,
  ThrottleSettings,
} from 'aws-cdk-lib/aws-apigatewayv2';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ApplicationLogLevel, SystemLogLevel, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Transport } from '../aws/names.ts';
import type { KeysOf } from '../core/values/options.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { CallbackUrlOptions } from './notifications.ts';
import type { TriggerSources } from './declared-triggers.ts';
import type { Discovery } from './discovery.ts';
import type { ApiKind, Scopes } from './scheduler-api.ts';
import type { StartsPerSecond, TableBilling } from './state-table.ts';

/** Settings for a deployment that is large, idle for long, or being measured. */
export interface Tuning {
  /**
   * The number of supervisors that each tick starts, 1 to 20, and not more than `wakeShards`. More of them
   * finish a large backlog sooner. Each beyond the first costs up to $13 a month while it finds overdue
   * executions (docs/COST.md).
   * @default 2
   */
  readonly supervisors?: number;
  /**
   * The pause between two sweeps of a supervisor that found due executions, 1 to 15 seconds. A longer one
   * delays recoveries, and reduces the queries of a busy system.
   * @default Duration.seconds(2)
   */
  readonly sweepEvery?: Duration;
  /**
   * The number of shards of the wake index, 1 to 64. One shard takes about 500 changes of open executions a
   * second; 16 are enough for a thousand starts a second. Each costs some $0.16 a month in a busy system. The
   * number may be raised at any time. After it was lowered, the audit's next pass moves open executions out
   * of the removed shards (OPERATIONS.md).
   * @default 4
   */
  readonly wakeShards?: number;
  /**
   * The shortest time between the beginnings of two passes of the audit through the state table: at most two
   * days. While the table has up to 50,000 records a pass begins every hour. During a pass a run continues it
   * every 15 minutes.
   * @default Duration.days(1)
   */
  readonly auditEvery?: Duration;
  /**
   * How many MB of the state table one run of the audit reads at most, which limits its cost: $0.016 for
   * 1,000 MB. The same pass removes what ended executions leave, so a large table with many starts a day
   * needs more.
   * @default 1000
   */
  readonly auditMegabytes?: number;
  /**
   * How functions and workers call DynamoDB, SQS and EventBridge: `'direct'`, without the AWS SDK's
   * middleware; or `'sdk'`, with it, which takes about three times the processor time for each step. Both
   * have the same effect (docs/decisions/0032-direct-calls.md).
   * @default 'direct'
   */
  readonly transport?: Transport;
}

/** The settings of a deployment. Only `workflows` is required. */
export interface SteadfastProps extends TriggerSources {
  /** The workflows to deploy: `Workflows.fromFolder('workflows')`. */
  readonly workflows: Discovery;
  /**
   * What happens to the state table, the bucket of large values, the logs, and the queues of triggers with
   * their dead letters, when they leave the stack.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Brings the deployment to rest, for a restore: it starts, claims, sweeps and audits nothing, and its API
   * refuses writes with 503 `at-rest`. Messages of triggers wait in their queues for up to 14 days.
   * @default false
   */
  readonly atRest?: boolean;
  /**
   * Whether the state table is protected against deletion.
   * @default - unless `removalPolicy` is DESTROY
   */
  readonly deletionProtection?: boolean;
  /**
   * Whether the state table can be restored to any second of the last 35 days.
   * @default true
   */
  readonly pointInTimeRecovery?: boolean;
  /**
   * The starts a second that the state table takes from its first minute on, and the number beyond which it
   * refuses writes.
   * @default - as every table on demand: some 280 on its first day, and no maximum
   */
  readonly startsPerSecond?: StartsPerSecond;
  /**
   * Pays for the state table by the hour: `{ provisioned: { startsPerSecond: 20 } }`. A unit in use costs a
   * third then, but there is a minimum. Synthesis prints it, and the steps a month from which this is
   * cheaper.
   * @default - by use
   */
  readonly billing?: TableBilling;
  /**
   * Whether values above 32 KB, up to 16 MB each, are stored in a bucket of the stack instead of the table.
   * Do not switch it off once it is in use, because executions under way read from the bucket.
   * @default true
   */
  readonly largeValues?: boolean;
  /**
   * The name of a table restored from the state table's backup, to be used instead (OPERATIONS.md). The
   * settings of protection, recovery, billing and starts are still of the stack's own table.
   * @default - the state table of this stack is used
   */
  readonly restoredTable?: string;
  /**
   * A key of your own for the table, the bucket, the queues, the logs and the alarms' topic. The policy of an
   * imported key must let CloudWatch and its logs use it.
   * @default - keys of the services, which cost nothing
   */
  readonly encryptionKey?: IKey;
  /**
   * The bus on which ends of executions, questions and risks are announced.
   * @default - a new one
   */
  readonly eventBus?: IEventBus;
  /**
   * Whether there is a public API. With `'none'` the API's function is invoked directly, by principals with
   * `grantInvoke`: `createClient({ lambda })`. Nothing vouches for the name of such a caller, so approvals
   * with `by: 'another'` are impossible.
   * @default 'http'
   */
  readonly api?: ApiKind;
  /**
   * Who may call the API.
   * @default - IAM: requests are signed, and allowed by `grantStart` or `grantInvoke`
   */
  readonly authorizer?: IHttpRouteAuthorizer;
  /**
   * With an authorizer of tokens (JWT): by kind of call, the scopes that allow it; a token needs one of them.
   * @default - steadfast/start, steadfast/run, steadfast/read, steadfast/operate, steadfast/callback,
   * steadfast/erase
   */
  readonly scopes?: Partial<Scopes>;
  /**
   * Who may answer callbacks and approvals. With `HttpNoneAuthorizer` everyone with a callback's token may.
   * @default - as `authorizer`
   */
  readonly callbackAuthorizer?: IHttpRouteAuthorizer;
  /**
   * Sends notifications to the `callbackUrl` of a start, signed with this secret (docs/EVENTS.md).
   * @default - a start may have no callbackUrl
   */
  readonly callbackUrls?: CallbackUrlOptions;
  /**
   * Names of IAM roles whose sessions IAM forces to bear the name of the one person who uses them
   * (SECURITY.md lists the conditions). For an approval by another person, each such session is a person.
   * @default - none: all users of a role count as one person
   */
  readonly personalRoles?: readonly string[];
  /**
   * The most calls a second, and the most at once, for all callers together.
   * @default - the account's limit: 10,000 a second and 5,000 at once, for all its APIs together
   */
  readonly throttle?: ThrottleSettings;
  /**
   * The origins whose pages may call the API from a browser.
   * @default - none
   */
  readonly cors?: CorsPreflightOptions;
  /**
   * A domain of your own for the API: `new DomainName(stack, …)` with its certificate. Create the DNS record
   * yourself. AWS's own address of the API is switched off then.
   * @default - none
   */
  readonly domain?: DomainMappingOptions;
  /**
   * The number of steps that one agent performs at the same time, 2 to 1000. The sum over all agents should
   * stay below the account's concurrent executions.
   * @default 50
   */
  readonly agentConcurrency?: number;
  /**
   * Whether one command can be given to many executions (`POST /bulk`, `steadfast bulk`). It adds an agent
   * with a queue and a function of its own, which may send to all agents.
   * @default true
   */
  readonly bulkActions?: boolean;
  /**
   * Concurrent executions reserved for the API's function, which are also its maximum: this many calls are
   * answered at once, even if agents use up the account's. A call with `?wait` lasts up to 25 s. Half of
   * these executions (5 if none are reserved) may wait; further such calls are answered without waiting.
   * @default 'unreserved'
   */
  readonly schedulerConcurrency?: number | 'unreserved';
  /**
   * The account's limit of concurrent executions in the region (`aws lambda get-account-settings`). Synthesis
   * warns if agents may take more.
   * @default 1000
   */
  readonly accountConcurrency?: number;
  /**
   * Settings of single agents, by the agent's name.
   * @default - all agents have the deployment's settings
   */
  readonly agentSettings?: Readonly<Record<string, AgentSettings>>;
  /**
   * Whether agents that name no host have a function each or share one. `'shared'` costs less, and can
   * continue an execution from step to step in one process. Agents in containers, with `isolate` or with a
   * function of your own are never shared.
   * @default 'own'
   */
  readonly hosting?: 'shared' | 'own';
  /**
   * Concurrent executions reserved for the supervisors, so that agents that use up the account's do not stop
   * the role that would notice: twice `supervisors`, because those of a tick may still run when the next
   * begins, plus 2 for a called one. 100 of the account's must stay unreserved
   * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html), so a new account with 10
   * can reserve none.
   * @default 'unreserved'
   */
  readonly supervisorConcurrency?: number | 'unreserved';
  /**
   * How long an execution is kept after its end, and with it its idempotency key: 24 hours or more. It
   * applies to executions that end after the deployment.
   * @default Duration.days(30)
   */
  readonly retention?: Duration;
  /**
   * Memory of every function, in MB; CPU grows with it. For an agent that computes, raise it in
   * `agentSettings`.
   * @default 384
   */
  readonly memorySize?: number;
  /**
   * How long logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * The lowest level that functions log. `ApplicationLogLevel.DEBUG` logs every healthy step as well. WARN
   * and above are refused for functions, because Lambda would drop their metrics.
   * @default - Lambda's: INFO
   */
  readonly logLevel?: ApplicationLogLevel;
  /**
   * The lowest level of Lambda's own lines in the functions' logs. `SystemLogLevel.INFO` adds two lines for
   * each healthy invocation, which would be most of the logs' bytes.
   * @default SystemLogLevel.WARN
   */
  readonly systemLogLevel?: SystemLogLevel;
  /**
   * Whether Lambda traces the functions with X-Ray.
   * @default - no
   */
  readonly tracing?: Tracing;
  /**
   * The number of supervisors, the shards of the wake index, the passes of the audit, the calls to AWS.
   * @default - right for most deployments
   */
  readonly tuning?: Tuning;
  /**
   * Alarms and a dashboard for the deployment: both; alarms alone; or neither, in which case settings of
   * alarms are refused, and a `canary` raises none.
   * @default 'alarms-and-dashboard'
   */
  readonly monitoring?: 'alarms-and-dashboard' | 'alarms' | 'none';
  /**
   * Adds metrics by workflow, by agent, or both, which the dashboard shows as well. CloudWatch charges for
   * each: 9 for a workflow and 7 for an agent, in hours in which they are written.
   * @default - neither
   */
  readonly metricsBy?: readonly ('workflow' | 'agent')[];
  /**
   * The topic for every alarm, incidents included. Refused with `monitoring: 'none'`.
   * @default - a new one; for a kept deployment, synthesis warns if it has no subscriptions
   */
  readonly alarmTopic?: ITopic;
  /**
   * Starts an execution of two steps, the canary, at this interval, 1 to 60 whole minutes. If two do not end,
   * the alarm `CanaryLate` is raised, the only alarm that tests the whole system. Every 5 minutes costs some
   * $2 a month.
   * @default - none
   */
  readonly canary?: Duration;
  /**
   * An alarm is raised if this percentage of executions, or more, failed or were undone. Refused with
   * `monitoring: 'none'`.
   * @default 10
   */
  readonly failureAlarmPercent?: number;
}

export const STEADFAST_OPTIONS = {
  buckets: true,
  eventBuses: true,
  workflows: true,
  removalPolicy: true,
  deletionProtection: true,
  pointInTimeRecovery: true,
  startsPerSecond: true,
  billing: true,
  largeValues: true,
  restoredTable: true,
  encryptionKey: true,
  eventBus: true,
  api: true,
  authorizer: true,
  scopes: true,
  callbackAuthorizer: true,
  callbackUrls: true,
  personalRoles: true,
  throttle: true,
  cors: true,
  domain: true,
  agentConcurrency: true,
  bulkActions: true,
  schedulerConcurrency: true,
  accountConcurrency: true,
  agentSettings: true,
  hosting: true,
  supervisorConcurrency: true,
  retention: true,
  memorySize: true,
  logRetention: true,
  logLevel: true,
  systemLogLevel: true,
  tracing: true,
  tuning: true,
  monitoring: true,
  metricsBy: true,
  alarmTopic: true,
  canary: true,
  failureAlarmPercent: true,
  atRest: true,
} as const satisfies KeysOf<SteadfastProps>;

export const TUNING_OPTIONS = {
  supervisors: true,
  sweepEvery: true,
  wakeShards: true,
  auditEvery: true,
  auditMegabytes: true,
  transport: true,
} as const satisfies KeysOf<Tuning>;
