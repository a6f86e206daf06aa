/**
 * Steadfast as one construct for a stack of your own:
 *
 *     const workflows = await discoverWorkflows({ root: import.meta.dirname, folders: ['workflows'] });
 *     const steadfast = new Steadfast(stack, 'Steadfast', { workflows });
 *     secret.grantRead(steadfast.agent('charge-card'));
 *     steadfast.grantStart(shop);
 *
 * Owns: how table, queues, functions, API and clock are put together, and which role may do what. Does not own: their
 * settings; each has a file of its own. What is not offered as a property is within reach as a public member.
 */

import { join } from 'node:path';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { HttpMethod, type IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { EventBus, type EventPattern, type IEventBus } from 'aws-cdk-lib/aws-events';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Code, type IFunction, type Tracing } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Duration, Names, RemovalPolicy, Stack, Stage, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import {
  DEFAULT_WATCH_SHARDS,
  ENV,
  type MetricName,
  MIN_RETENTION_HOURS,
  TRIGGER_FILE,
} from '../aws/names.ts';
import { type Agent, AgentFleet } from './agent-fleet.ts';
import type { AgentSettings } from './agent-settings.ts';
import { AuditClock } from './audit-clock.ts';
import { agentEntry, bundleDeployment, codeOf, withFile } from './bundle.ts';
import { bundleContainers } from './bundle-container.ts';
import type { Discovery } from './discover.ts';
import { allowServices, grantUse } from './encryption.ts';
import type { WorkflowReference } from './event-mapping.ts';
import { figuresOf } from './figures.ts';
import type { LogSettings } from './function.ts';
import { Monitoring } from './monitoring.ts';
import { SchedulerApi, type Scopes } from './scheduler-api.ts';
import type { StartQueue } from './start-queue.ts';
import { StateTable, type StateTableProps } from './state-table.ts';
import { SupervisorClock } from './supervisor-clock.ts';
import {
  type BucketReference,
  type EventTriggerProps,
  type ObjectTriggerProps,
  type QueueTriggerProps,
  type TriggerProps,
  Triggers,
  type TriggersProps,
} from './triggers.ts';

export interface SteadfastProps {
  /** The workflows to deploy: `await discoverWorkflows(…)`. */
  readonly workflows: Discovery;
  /**
   * What becomes of the state table and the logs when they leave the stack.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
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
   * The name of a table restored from the state table's backup, to be used in its place (OPERATIONS.md).
   * @default - the state table of this stack is used
   */
  readonly restoredTable?: string;
  /**
   * A key of your own for the table, the queues, the logs and the alarms' topic. An imported key's policy must let
   * CloudWatch and its logs use it.
   * @default - keys of the services, which cost nothing
   */
  readonly encryptionKey?: IKey;
  /**
   * The bus that hears of ended executions.
   * @default - a new one
   */
  readonly eventBus?: IEventBus;
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
   * Who may answer callbacks. `HttpNoneAuthorizer`: whoever has a callback's token.
   * @default - as `authorizer`
   */
  readonly callbackAuthorizer?: IHttpRouteAuthorizer;
  /**
   * Steps that one agent performs at the same time, 2 to 1000. All agents' together should stay below the account's
   * concurrent executions.
   * @default 50
   */
  readonly agentConcurrency?: number;
  /**
   * Settings of single agents, by the agent's name.
   * @default - all agents alike
   */
  readonly agentSettings?: Readonly<Record<string, AgentSettings>>;
  /**
   * Executions set aside for the supervisor: two a tick, which may still be there when the next two come. 'unreserved'
   * for a new account, which has too few to set any aside.
   * @default 4
   */
  readonly supervisorConcurrency?: number | 'unreserved';
  /**
   * Shards of the watch index. More are needed past about 500 changes of open executions a second each. With fewer than
   * before, the audit's next pass brings back what is open in those that are gone.
   * @default 4
   */
  readonly watchShards?: number;
  /**
   * How long an ended execution is kept after its end, 24 hours or more: its idempotency key is remembered for so long.
   * Applies to what ends after the deployment.
   * @default Duration.days(30)
   */
  readonly retention?: Duration;
  /**
   * How often the audit reads a piece of the state table, 100 MB or all of it; every two days at least.
   * @default Duration.hours(1)
   */
  readonly auditEvery?: Duration;
  /**
   * Memory of every function, in MB; CPU grows with it.
   * @default 512
   */
  readonly memorySize?: number;
  /**
   * How long logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * Whether Lambda traces the functions with X-Ray.
   * @default - not
   */
  readonly tracing?: Tracing;
  /**
   * What is there to watch the deployment with.
   * @default 'alarms-and-dashboard'
   */
  readonly monitoring?: 'alarms-and-dashboard' | 'alarms' | 'none';
  /**
   * What hears of every alarm, incidents included.
   * @default - a new one, to which nobody has subscribed yet
   */
  readonly alarmTopic?: ITopic;
  /**
   * From how many percent of executions on that failed or had to be undone there is an alarm.
   * @default 10
   */
  readonly failureAlarmPercent?: number;
}

export class Steadfast extends Construct {
  readonly stateTable: StateTable;
  readonly eventBus: IEventBus;
  readonly scheduler: SchedulerApi;
  readonly supervisor: SupervisorClock;
  readonly audit: AuditClock;
  readonly agents: ReadonlyMap<string, Agent>;
  /** What starts executions beside the API; empty until one of the methods adds some. */
  readonly triggers: Triggers;
  readonly #fleet: AgentFleet;
  readonly #props: SteadfastProps;
  /** Alarms, their topic and the dashboard; nothing when `monitoring` is 'none'. */
  readonly monitoring?: Monitoring;
  /** By what the metrics of this deployment are told apart from those of another. */
  readonly deploymentName: string;

  constructor(scope: Construct, id: string, props: SteadfastProps) {
    super(scope, id);
    props.workflows.warnings.forEach((warning, index) => {
      Validations.of(this).addWarning(`steadfast:unusedAgent${index}`, warning);
    });
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const { encryptionKey, tracing } = props;
    const atRest = encryptionKey === undefined ? {} : { encryptionKey };
    this.deploymentName = Names.uniqueResourceName(this, { maxLength: 100, separator: '-' });
    this.stateTable = new StateTable(this, 'State', { removalPolicy, ...atRest, ...tableSettings(props) });
    // The class spells an optional member otherwise than its interface (exactOptionalPropertyTypes).
    this.eventBus = props.eventBus ?? (new EventBus(this, 'Events') as IEventBus);
    const retention = props.logRetention ?? RetentionDays.ONE_MONTH;
    const logs: LogSettings = { retention, removalPolicy, ...atRest };
    const { code, imageFolder } = codeSource(this, props.workflows);
    const shared = {
      logs,
      memorySize: props.memorySize ?? 512,
      environment: this.environment(props),
      ...(tracing === undefined ? {} : { tracing }),
    };

    const fleet = new AgentFleet(this, 'Agents', {
      ...shared,
      ...atRest,
      agents: props.workflows.agents,
      settings: props.agentSettings ?? {},
      code: (name) => code(agentEntry(name)),
      imageFolder,
      maxConcurrency: props.agentConcurrency ?? 50,
    });
    this.agents = fleet.agents;
    this.#fleet = fleet;
    this.#props = props;
    this.scheduler = new SchedulerApi(this, 'Scheduler', {
      ...shared,
      code: code('scheduler'),
      ...(props.authorizer === undefined ? {} : { authorizer: props.authorizer }),
      ...(props.scopes === undefined ? {} : { scopes: props.scopes }),
      ...(props.callbackAuthorizer === undefined ? {} : { callbackAuthorizer: props.callbackAuthorizer }),
    });
    this.supervisor = new SupervisorClock(this, 'Supervisor', {
      ...shared,
      code: code('supervisor'),
      reservedConcurrency: props.supervisorConcurrency ?? 4,
    });
    this.audit = new AuditClock(this, 'Audit', {
      ...shared,
      code: code('audit'),
      every: props.auditEvery ?? Duration.hours(1),
    });
    this.grantRoles(fleet, encryptionKey);
    if (props.monitoring !== 'none') this.monitoring = this.watch(props);
    this.triggers = new Triggers(this, 'Triggers', {
      ...shared,
      ...atRest,
      workflows: props.workflows.workflows,
      ...this.starters(code),
    });
  }

  /**
   * Starts an execution for each object that is written to a bucket:
   *
   *     steadfast.triggerOnObjectCreated(uploads, importFile, {
   *       suffix: '.csv',
   *       input: { bucket: '$.detail.bucket.name', key: '$.detail.object.key' },
   *     });
   *
   * An object whose event comes twice starts one execution; one that is written again starts another.
   */
  triggerOnObjectCreated<Input>(
    bucket: BucketReference,
    workflow: WorkflowReference<Input>,
    props: ObjectTriggerProps<Input>,
  ): StartQueue {
    return this.triggers.onObjectCreated(bucket, workflow, props);
  }

  /** Starts an execution for each event of a bus that a pattern fits: the account's bus unless `eventBus` says another. */
  triggerOnEvent<Input>(
    pattern: EventPattern,
    workflow: WorkflowReference<Input>,
    props: EventTriggerProps<Input>,
  ): StartQueue {
    return this.triggers.onEvent(pattern, workflow, props);
  }

  /** Starts an execution at each time of a schedule; the event has `$.time`, the time that was planned. */
  triggerOnSchedule<Input>(
    schedule: ScheduleExpression,
    workflow: WorkflowReference<Input>,
    props: TriggerProps<Input>,
  ): StartQueue {
    return this.triggers.onSchedule(schedule, workflow, props);
  }

  /**
   * A queue each of whose messages starts an execution; `grantSend` lets others send. A sender that may repeat itself needs
   * a key of its own: `idempotencyKey: '$.body.orderId'` or `'$.attributes.key'`.
   */
  startQueue<Input>(workflow: WorkflowReference<Input>, props: QueueTriggerProps<Input> = {}): StartQueue {
    return this.triggers.onMessage(workflow, props);
  }

  /**
   * The agent of this name, to grant it what its outside service needs or to change its function.
   * @throws Error naming the agents there are
   */
  agent(name: string): Agent {
    const agent = this.agents.get(name);
    if (agent === undefined) {
      throw new Error(`no agent is named '${name}'; there are ${[...this.agents.keys()].join(', ')}`);
    }
    return agent;
  }

  /** Starting executions of one workflow, or of all. */
  grantStart(grantee: IGrantable, workflowName = '*'): Grant {
    return this.scheduler.grantInvoke(grantee, HttpMethod.POST, `/workflows/${workflowName}/executions`);
  }

  /** Calling everything that the API offers. */
  grantInvoke(grantee: IGrantable): Grant {
    return this.scheduler.grantInvoke(grantee);
  }

  /**
   * Performing an agent's work in a place of your own: a worker on a machine with a GPU, a cluster of another kind. Grant
   * the agent's own needs as well: what its outside service takes.
   * @returns what the worker must find in its environment
   */
  grantWork(agentName: string, grantee: IGrantable): Readonly<Record<string, string>> {
    const { peers = [] } = this.#props.workflows.agents.find(({ name }) => name === agentName) ?? {};
    this.agent(agentName).grantWork(grantee);
    this.grantDecide(grantee, this.#props.encryptionKey);
    return {
      ...this.environment(this.#props),
      [ENV.queues]: this.#fleet.grantSending(grantee, peers),
    };
  }

  /** One of the roles' own figures, to draw it or to make an alarm of your own. */
  metric(name: MetricName, options?: MetricOptions): Metric {
    return figuresOf(this.deploymentName)(name, options);
  }

  /** Executions started. */
  metricStarted(options?: MetricOptions): Metric {
    return this.metric('Started', options);
  }

  /** Executions that succeeded. */
  metricSucceeded(options?: MetricOptions): Metric {
    return this.metric('Succeeded', options);
  }

  /** Executions that ended failed: not finished, and not or not wholly undone. */
  metricFailed(options?: MetricOptions): Metric {
    return this.metric('Failed', options);
  }

  /** How long the most overdue execution had been waiting for a look, in ms. */
  metricOldestOverdue(options?: MetricOptions): Metric {
    return this.metric('OldestOverdue', options);
  }

  private watch({ monitoring, alarmTopic, encryptionKey, failureAlarmPercent }: SteadfastProps): Monitoring {
    return new Monitoring(this, 'Monitoring', {
      figure: figuresOf(this.deploymentName),
      agents: [...this.agents.values()],
      scheduler: this.scheduler.function as IFunction,
      supervisor: this.supervisor.function as IFunction,
      api: this.scheduler.api,
      table: this.stateTable.table,
      auditEvery: this.audit.every,
      failurePercent: failureAlarmPercent ?? 10,
      withDashboard: monitoring !== 'alarms',
      ...(alarmTopic === undefined ? {} : { alarmTopic }),
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
    });
  }

  private environment(props: SteadfastProps): Readonly<Record<string, string>> {
    return {
      [ENV.table]: this.stateTable.table.tableName,
      [ENV.bus]: this.eventBus.eventBusName,
      [ENV.watchShards]: String(props.watchShards ?? DEFAULT_WATCH_SHARDS),
      [ENV.deployment]: this.deploymentName,
      [ENV.retentionMs]: String(checkedRetention(props.retention ?? Duration.days(30)).toMilliseconds()),
    };
  }

  private starters(code: CodeSource['code']): Pick<TriggersProps, 'code' | 'grantStart'> {
    return {
      code: (name, file) => code('starter', { asset: `triggers/${name}`, file }),
      grantStart: (trigger, agents) => this.letStart(trigger, agents),
    };
  }

  /** A starter is a scheduler for one workflow that answers no questions. */
  private letStart(trigger: StartQueue, agents: readonly string[]): void {
    const role = trigger.function;
    const { encryptionKey: key } = this.#props;
    this.stateTable.grantDecide(role);
    this.eventBus.grantPutEventsTo(role);
    this.#fleet.allowSending(role, agents);
    if (key !== undefined) grantUse(key, role);
    for (const alarm of trigger.alarms) this.monitoring?.add(alarm);
  }

  /** All three roles decide, send and announce the end; only two of them find, each through its own index. */
  private grantRoles(fleet: AgentFleet, key: IKey | undefined): void {
    const scheduler = this.scheduler.function;
    const supervisor = this.supervisor.function;
    const agents = [...this.agents.values()].flatMap((agent) => agent.function ?? agent.container ?? []);
    for (const role of [scheduler, supervisor, ...agents]) this.grantDecide(role, key);
    if (key !== undefined) allowServices(key, this);
    for (const role of [scheduler, supervisor]) {
      fleet.allowSending(role);
      this.stateTable.grantFindDue(role);
    }
    this.stateTable.grantList(scheduler);
    for (const agent of this.agents.values()) agent.grantDepth(scheduler);
    this.stateTable.grantReceipts(supervisor);
    this.stateTable.grantCountIncidents(supervisor);
    this.stateTable.grantAudit(this.audit.function);
    if (key !== undefined) grantUse(key, this.audit.function);
  }

  private grantDecide(role: IGrantable, key: IKey | undefined): void {
    this.stateTable.grantDecide(role);
    this.eventBus.grantPutEventsTo(role);
    if (key !== undefined) grantUse(key, role);
  }
}

/** Those that are given: an absent one has a default of its own. */
function tableSettings(props: SteadfastProps): Partial<StateTableProps> {
  const { deletionProtection, pointInTimeRecovery, restoredTable } = props;
  return {
    ...(deletionProtection === undefined ? {} : { deletionProtection }),
    ...(pointInTimeRecovery === undefined ? {} : { pointInTimeRecovery }),
    ...(restoredTable === undefined ? {} : { restoredTable }),
  };
}

/** @throws Error when it would break the promise of the idempotency keys */
function checkedRetention(retention: Duration): Duration {
  if (retention.toMilliseconds() >= Duration.hours(MIN_RETENTION_HOURS).toMilliseconds()) return retention;
  throw new Error(
    `retention is ${retention.toHumanString()}; allowed are ${MIN_RETENTION_HOURS} hours or more, for so long is an idempotency key remembered`,
  );
}

interface CodeSource {
  /** @param trigger of a starter: the folder of its asset, and the file beside the code */
  readonly code: (name: string, trigger?: { readonly asset: string; readonly file: string }) => Code;
  readonly imageFolder: (agentName: string) => string | undefined;
}

/** Bundles unless CDK says that this stack needs no code (as in `cdk list`, and in tests of the template). */
function codeSource(scope: Construct, found: Discovery): CodeSource {
  if (!Stack.of(scope).bundlingRequired) {
    return {
      code: () => Code.fromInline('exports.handler = async () => {};'),
      imageFolder: () => undefined,
    };
  }
  const bundles = bundleDeployment(found);
  const folder = join(Stage.of(scope)?.outdir ?? found.root, 'bundles');
  const images = bundleContainers(found, folder);
  const code: CodeSource['code'] = (name, trigger) => {
    const bundle = bundles.get(name);
    if (bundle === undefined)
      throw new Error(`no bundle for '${name}'; there are ${[...bundles.keys()].join(', ')}`);
    if (trigger === undefined) return codeOf(name, bundle, folder);
    return codeOf(trigger.asset, withFile(bundle, TRIGGER_FILE, trigger.file), folder);
  };
  return { code, imageFolder: (name) => images.get(name) };
}
