/**
 * The settings of a deployment, each with its default.
 *
 * Owns: what can be asked of `Steadfast`. Does not own: what goes where (`settings-of-props.ts`) and what
 * comes of it (`steadfast.ts`), what may be set of one agent (`agent-settings.ts`) and of one trigger
 * (`triggers.ts`).
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
import type { TriggerSources } from './declared-triggers.ts';
import type { Discovery } from './discovery.ts';
import type { ApiKind, Scopes } from './scheduler-api.ts';
import type { StartsPerSecond, TableBilling } from './state-table.ts';

/** Settings that a deployment needs only when it is large, idle for long, or measured. */
export interface Tuning {
  /**
   * Supervisors that each tick starts, 1 to 20, and no more than there are `wakeShards`. More of them get
   * through a large backlog sooner; beyond the first each costs up to $13 a month, for the time in which it
   * finds something overdue (docs/COST.md).
   * @default 2
   */
  readonly supervisors?: number;
  /**
   * Between two sweeps of a supervisor that has found something due, 1 to 15 seconds. What a fault delays
   * grows and shrinks with it, and the queries of a system that is never idle shrink and grow.
   * @default Duration.seconds(2)
   */
  readonly sweepEvery?: Duration;
  /**
   * Shards of the wake index, 1 to 64. More are needed past about 500 changes of open executions a second
   * each: 16 are for a thousand starts a second. Each costs some $0.16 a month in a system that is never
   * idle. More may be had at any time; with fewer than before, the audit's next pass brings back what is open
   * in those that are gone (OPERATIONS.md).
   * @default 4
   */
  readonly wakeShards?: number;
  /**
   * How often the audit begins a pass through the state table, at the soonest; every two days at least, and
   * every hour while the table has up to 50,000 records. Until a pass has come to its end, a run goes on with
   * it every 15 minutes.
   * @default Duration.days(1)
   */
  readonly auditEvery?: Duration;
  /**
   * How much of the state table one run of the audit reads, at most: what bounds its cost,
   * $0.016 for 1,000 MB. What executions leave behind is removed by the same pass, so a large
   * table with many starts a day needs more.
   * @default 1000
   */
  readonly auditMegabytes?: number;
  /**
   * How functions and workers call DynamoDB, SQS and EventBridge: `'direct'`, without the AWS SDK's
   * middleware, or `'sdk'`, with it, at some three times the processor time for each step. Both do the same
   * (docs/decisions/0032-direct-calls.md).
   * @default 'direct'
   */
  readonly transport?: Transport;
}

/** The settings of a deployment. Only `workflows` is required. */
export interface SteadfastProps extends TriggerSources {
  /** The workflows to deploy: `Workflows.fromFolder('workflows')`. */
  readonly workflows: Discovery;
  /**
   * What becomes of the state table, the bucket of large values, the logs, and the queues of triggers with
   * their dead letters, when they leave the stack.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Whether the deployment starts, claims, sweeps and audits nothing, and its API answers what writes with
   * 503 `at-rest`: for a restore. What triggers send waits in their queues for up to 14 days.
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
   * How many starts a second the state table is ready for from its first minute on, and beyond how many it
   * refuses to write.
   * @default - as every table on demand: some 280 on its first day, and no end
   */
  readonly startsPerSecond?: StartsPerSecond;
  /**
   * Pays for the state table by the hour: `{ provisioned: { startsPerSecond: 20 } }`. A unit in use costs a
   * third then; synthesis says the floor, and from how many steps a month on it pays.
   * @default - by use
   */
  readonly billing?: TableBilling;
  /**
   * Whether values of more than 32 KB lie in a bucket of the stack, up to 16 MB each, and not in the table.
   * Once it is in use it must stay: executions under way read from it.
   * @default true
   */
  readonly largeValues?: boolean;
  /**
   * The name of a table restored from the state table's backup, to be used in its place (OPERATIONS.md).
   * @default - the state table of this stack is used
   */
  readonly restoredTable?: string;
  /**
   * A key of your own for the table, the bucket, the queues, the logs and the alarms' topic. An imported
   * key's policy must let CloudWatch and its logs use it.
   * @default - keys of the services, which cost nothing
   */
  readonly encryptionKey?: IKey;
  /**
   * The bus that hears of ended executions.
   * @default - a new one
   */
  readonly eventBus?: IEventBus;
  /**
   * Whether there is a public API. With `'none'` the API's function is called directly, by what `grantInvoke`
   * lets in: `createClient({ lambda })`. Nobody vouches for such a caller, so no approval can be another
   * person's.
   * @default 'http'
   */
  readonly api?: ApiKind;
  /**
   * Who may call the API.
   * @default - IAM: requests are signed, and allowed by `grantStart` or `grantInvoke`
   */
  readonly authorizer?: IHttpRouteAuthorizer;
  /**
   * With an authorizer of tokens (JWT): the scopes of which a token must have one, for each kind of call.
   * @default - steadfast/start, steadfast/read, steadfast/operate, steadfast/callback
   */
  readonly scopes?: Partial<Scopes>;
  /**
   * Who may answer callbacks. `HttpNoneAuthorizer`: anyone with a callback's token.
   * @default - as `authorizer`
   */
  readonly callbackAuthorizer?: IHttpRouteAuthorizer;
  /**
   * Names of IAM roles whose every session is named after the one person who uses it, because IAM allows no
   * other name (SECURITY.md says what must be true). Where an approval must come from another person, each
   * such session is a person.
   * @default - none: all users of a role count as one person
   */
  readonly personalRoles?: readonly string[];
  /**
   * How many calls a second the API takes, and how many at once, of all callers
   * together: what one of them may use up.
   * @default - what the account allows: 10,000 a second and 5,000 at once, for all its APIs together
   */
  readonly throttle?: ThrottleSettings;
  /**
   * Which pages of which origins may call the API from a browser.
   * @default - none
   */
  readonly cors?: CorsPreflightOptions;
  /**
   * A domain of your own for the API: `new DomainName(stack, …)` with its certificate. The
   * record in your DNS is yours to make. AWS's own address of the API is off then.
   * @default - none
   */
  readonly domain?: DomainMappingOptions;
  /**
   * Steps that one agent performs at the same time, 2 to 1000. All agents' together should stay below the
   * account's concurrent executions.
   * @default 50
   */
  readonly agentConcurrency?: number;
  /**
   * Whether one command may be given to many executions (`POST /bulk`, `steadfast bulk`): an agent that the
   * deployment brings itself obeys it, with a queue and a function of its own. It may send to all agents.
   * @default true
   */
  readonly bulkActions?: boolean;
  /**
   * Executions reserved for the API's function, which are also its maximum: so many calls are answered at the
   * same time, even if agents use up the account's. With `?wait` a call lasts up to 25 s; half of them may
   * wait so (5 if none are reserved), and one more is answered at once.
   * @default 'unreserved'
   */
  readonly schedulerConcurrency?: number | 'unreserved';
  /**
   * The account's limit of concurrent executions in the region, to warn of agents that may take more than
   * there are (`aws lambda get-account-settings`).
   * @default 1000
   */
  readonly accountConcurrency?: number;
  /**
   * Settings of single agents, by the agent's name.
   * @default - all agents alike
   */
  readonly agentSettings?: Readonly<Record<string, AgentSettings>>;
  /**
   * Whether agents that name no host have a function each, or share one: `'shared'` costs less, and carries
   * an execution on from step to step in one process. What cannot share one has its own: a container, an
   * agent with `isolate`, a function of your own.
   * @default 'own'
   */
  readonly hosting?: 'shared' | 'own';
  /**
   * Executions set aside for the supervisors, so that agents that take all of the account's do not
   * stop the one role that would notice: twice `supervisors`, for those of a tick may still be there
   * when the next ones come, and 2 for one that was called beside them. The account must have 100
   * more (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html); of a new
   * one's 10 none can be set aside.
   * @default 'unreserved'
   */
  readonly supervisorConcurrency?: number | 'unreserved';
  /**
   * How long an ended execution is kept after its end, 24 hours or more: its idempotency key is remembered
   * for so long. Applies to what ends after the deployment.
   * @default Duration.days(30)
   */
  readonly retention?: Duration;
  /**
   * Memory of every function, in MB; CPU grows with it. An agent that computes wants more: `agentSettings`.
   * @default 384
   */
  readonly memorySize?: number;
  /**
   * How long logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * What functions write to their logs. `ApplicationLogLevel.DEBUG`: also what every healthy step does. WARN
   * and above are refused for functions: Lambda would drop their metrics.
   * @default - Lambda's: INFO
   */
  readonly logLevel?: ApplicationLogLevel;
  /**
   * What Lambda itself writes to the functions' logs. `SystemLogLevel.INFO`: also its two lines for each
   * healthy invocation, which were most of the bytes of the logs.
   * @default SystemLogLevel.WARN
   */
  readonly systemLogLevel?: SystemLogLevel;
  /**
   * Whether Lambda traces the functions with X-Ray.
   * @default - not
   */
  readonly tracing?: Tracing;
  /**
   * How many supervisors there are, how the wake index and the audit are cut, which calls AWS gets.
   * @default - right for most deployments
   */
  readonly tuning?: Tuning;
  /**
   * Alarms and a dashboard for the deployment.
   * @default 'alarms-and-dashboard'
   */
  readonly monitoring?: 'alarms-and-dashboard' | 'alarms' | 'none';
  /**
   * Metrics of each workflow, of each agent, or of both one by one, also on the dashboard. CloudWatch charges
   * for each: 9 a workflow, 7 an agent, in hours in which they are written.
   * @default of neither
   */
  readonly metricsBy?: readonly ('workflow' | 'agent')[];
  /**
   * What hears of every alarm, incidents included.
   * @default - a new one. Until somebody subscribes to it a deployment that is to
   * stay is warned of at synthesis
   */
  readonly alarmTopic?: ITopic;
  /**
   * How often an execution of two steps, which the deployment brings itself, is started to see that it comes
   * to its end: 1 to 60 whole minutes. Two that do not are the alarm `CanaryLate`, the one alarm about the
   * whole. Every 5 minutes costs some $2 a month.
   * @default - none
   */
  readonly canary?: Duration;
  /**
   * From how many percent of executions on that failed or had to be undone there is an alarm.
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
