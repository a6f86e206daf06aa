/**
 * The Scheduler-Agent-Supervisor pattern as one construct for a stack of your own:
 *
 *     const steadfast = new Steadfast(this, 'Orders', { workflows: Workflows.fromFolder('workflows') });
 *     secret.grantRead(steadfast.agent('charge-card'));
 *     steadfast.grantStart(shop);
 *
 * Owns: how table, queues, functions, API and clock are put together. Does not own: the settings
 * (`steadfast-props.ts`), the permissions of each role (`role-grants.ts`), the parts, which are public
 * members.
 */

import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { EventBus, type EventPattern, type IEventBus } from 'aws-cdk-lib/aws-events';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { CfnOutput, Duration, Names, RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { DEFAULT_WAKE_SHARDS, ENV, type MetricName } from '../aws/names.ts';
import { AgentFleet } from './agent-fleet.ts';
import { bringToRest } from './at-rest.ts';
import { addNotifications, type Notifications } from './notifications.ts';
import type { AgentFunction } from './deployed-agent.ts';
import { warnOfSilence } from './alarm-listeners.ts';
import { AuditClock } from './audit-clock.ts';
import { BULK_AGENT, BULK_ENTRY, bulkSettings } from './bulk-agent.ts';
import { hostsOf } from './agent-hosts.ts';
import { agentEntry, hostEntry } from './bundle.ts';
import { type CodeSource, codeSource } from './code-source.ts';
import { warnOfConcurrency } from './concurrency.ts';
import { addDeclared } from './declared-triggers.ts';
import type { WorkflowReference } from './event-mapping.ts';
import { startCanary, withCanary } from './canary.ts';
import { checkProps, grantedWorkflow } from './check-props.ts';
import { checkFourEyes } from './four-eyes.ts';
import { type Discovery, laneNames } from './discovery.ts';
import { metricsOf } from './metrics.ts';
import { refuseDroppedMetrics } from './dropped-metrics.ts';
import { keepWithinLimits } from './limits.ts';
import { addMonitoring, type Monitoring } from './monitoring.ts';
import { tagCosts } from './parts.ts';
import { grantDecide, grantRoles } from './role-grants.ts';
import { addressOf, SchedulerApi } from './scheduler-api.ts';
import type { StartQueue } from './start-queue.ts';
import { StateTable } from './state-table.ts';
import {
  apiSettings,
  auditSettings,
  callerSetting,
  checkedRetention,
  logSettings,
  restSetting,
  tableSettings,
  transportSetting,
} from './settings-of-props.ts';
import type { SteadfastProps } from './steadfast-props.ts';
import { SupervisorClock } from './supervisor-clock.ts';
import { supervisorSettings } from './supervisor-settings.ts';
import {
  type BucketReference,
  type EventTriggerProps,
  type ObjectTriggerProps,
  type QueueTriggerProps,
  type Sending,
  type Starters,
  type TriggerProps,
  Triggers,
} from './triggers.ts';
import { ValueBucket } from './value-bucket.ts';
import { WakeUps } from './wake-ups.ts';
import { addWebhooks, type Webhooks } from './webhooks.ts';

/** The default memory. A step mostly waits for calls, and waiting costs as much as work (decision 19). */
const DEFAULT_MEMORY_MB = 384;

/**
 * A whole deployment: API, queues and functions of the agents, state table, supervisor, alarms, dashboard.
 * @example new Steadfast(stack, 'Orders', { workflows: Workflows.fromFolder('workflows') });
 * @throws Error for an option that does not exist, has a value that is not allowed, or that has no effect
 * beside another option; the message names it and says what to write
 */
export class Steadfast extends Construct {
  /** The DynamoDB table that holds every execution. */
  readonly stateTable: StateTable;
  /** The bucket of values that are too large for the table; undefined with `largeValues: false`. */
  readonly valueBucket?: ValueBucket;
  /** The bus on which ends, questions and risks are announced. */
  readonly eventBus: IEventBus;
  /** The HTTP API and its function. */
  readonly scheduler: SchedulerApi;
  /** The function that finds due executions, and its schedule. */
  readonly supervisor: SupervisorClock;
  /** The function that reads the whole table for what no index shows, and its schedule. */
  readonly audit: AuditClock;
  /** The bus by which the other functions call a supervisor. */
  readonly wakeUps: WakeUps = new WakeUps(this, 'WakeUps');
  /** The triggers: declared beside the workflows, or added by the methods. */
  readonly triggers: Triggers;
  /** The function for signed requests of third parties; undefined if no webhook is declared. */
  readonly webhooks: Webhooks | undefined;
  /** Sends notifications to the addresses of starts; undefined without `callbackUrls`. */
  readonly notifications: Notifications | undefined;
  readonly #fleet: AgentFleet;
  readonly #props: SteadfastProps;
  /** Alarms, their topic and the dashboard; undefined if `monitoring` is 'none'. */
  readonly monitoring?: Monitoring;
  /** The stack's output with the address for calls: `ApiUrl`, or with `api: 'none'` `SchedulerName`. */
  readonly address: CfnOutput;
  /** The dimension that distinguishes the metrics of this deployment from those of others. */
  readonly deploymentName: string;

  constructor(scope: Construct, id: string, props: SteadfastProps) {
    super(scope, id);
    checkProps(this, props);
    const { encryptionKey, tracing, canary, removalPolicy = RemovalPolicy.RETAIN } = props;
    const found = withCanary(props.workflows, canary);
    const atRest = defined({ encryptionKey });
    this.deploymentName = Names.uniqueResourceName(this, { maxLength: 100, separator: '-' });
    this.stateTable = new StateTable(this, 'State', { removalPolicy, ...atRest, ...tableSettings(props) });
    if (props.largeValues !== false)
      this.valueBucket = new ValueBucket(this, 'Values', { removalPolicy, ...atRest });
    // The class declares an optional member differently from its interface (exactOptionalPropertyTypes).
    this.eventBus = props.eventBus ?? (new EventBus(this, 'Events') as IEventBus);
    const hosts = hostsOf(found.agents, props);
    const { code, ...source } = codeSource(this, found, this.deploymentName, props.agentSettings, hosts);
    const shared = {
      logs: logSettings(props, removalPolicy),
      memorySize: props.memorySize ?? DEFAULT_MEMORY_MB,
      environment: this.environment(props),
      ...defined({ tracing }),
    };

    const fleet = new AgentFleet(this, 'Agents', {
      ...shared,
      ...atRest,
      agents: found.agents,
      builtIn: props.bulkActions === false ? [] : [BULK_AGENT],
      settings: bulkSettings(props),
      code: (name) => code(name === BULK_AGENT.name ? BULK_ENTRY : agentEntry(name)),
      hosts,
      hostCode: (host) => code(hostEntry(host)),
      imageFolder: source.imageFolder,
      maxConcurrency: props.agentConcurrency ?? 50,
    });
    [this.#fleet, this.#props] = [fleet, props];
    this.scheduler = new SchedulerApi(this, 'Scheduler', {
      ...shared,
      code: code('scheduler'),
      deploymentName: this.deploymentName,
      lanes: laneNames(props.workflows),
      environment: { ...shared.environment, ...callerSetting(props), ...restSetting(props) },
      ...apiSettings(props),
    });
    this.address = addressOf(this, this.scheduler);
    this.supervisor = new SupervisorClock(this, 'Supervisor', {
      ...shared,
      code: code('supervisor'),
      release: source.release,
      settings: supervisorSettings({ ...props, ...props.tuning }),
    });
    this.audit = new AuditClock(this, 'Audit', { ...shared, code: code('audit'), ...auditSettings(props) });
    grantRoles(this, props, fleet);
    if (props.monitoring !== 'none') this.monitoring = addMonitoring(this, props, fleet);
    const starters = this.starters(code, found);
    this.triggers = new Triggers(this, 'Triggers', { ...shared, ...atRest, removalPolicy, ...starters });
    startCanary(this.triggers, canary);
    addDeclared(this.triggers, props.workflows.triggers, props);
    this.webhooks = addWebhooks(this, { ...shared, code, found: props.workflows.triggers });
    this.notifications = addNotifications(this, props, { ...shared, code });
    if (props.atRest === true) bringToRest(this, this.supervisor, this.audit, this.wakeUps);
    tagCosts(this, this.agents);
    this.check(props);
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
    props: ObjectTriggerProps<NoInfer<Input>> | Sending<ObjectTriggerProps>,
  ): StartQueue {
    return this.triggers.onObjectCreated(bucket, workflow, props);
  }

  /** Starts an execution for each event that fits the pattern; with `send`, sends it to a running one. */
  triggerOnEvent<Input>(
    pattern: EventPattern,
    workflow: WorkflowReference<Input>,
    props: EventTriggerProps<NoInfer<Input>> | Sending<EventTriggerProps>,
  ): StartQueue {
    return this.triggers.onEvent(pattern, workflow, props);
  }

  /** Starts an execution at each time of a schedule; the event has `$.time`, the planned time. */
  triggerOnSchedule<Input>(
    schedule: ScheduleExpression,
    workflow: WorkflowReference<Input>,
    props: TriggerProps<NoInfer<Input>>,
  ): StartQueue {
    return this.triggers.onSchedule(schedule, workflow, props);
  }

  /**
   * Adds a queue whose messages start an execution each; `grantSend` lets others send. If a sender may repeat
   * itself, set a key: `idempotencyKey: '$.body.orderId'` or `'$.attributes.key'`.
   */
  startQueue<Input>(
    workflow: WorkflowReference<Input>,
    props: QueueTriggerProps<NoInfer<Input>> | Sending = {},
  ): StartQueue {
    return this.triggers.onMessage(workflow, props);
  }

  /** The agents by name, each with its queue and its function or container. */
  get agents(): ReadonlyMap<string, AgentFunction> {
    return this.#fleet.agents;
  }

  /** The agent that carries out bulk actions; undefined with `bulkActions: false`. */
  get bulkAgent(): AgentFunction | undefined {
    return this.#fleet.builtIn.get(BULK_AGENT.name);
  }

  /** Whether resources with data stay when the stack is deleted. */
  get isKept(): boolean {
    return this.#props.removalPolicy !== RemovalPolicy.DESTROY;
  }

  /** The prefix of the names of the agents' queues, which no other queue in the account has. */
  get queuePrefix(): string {
    return this.#fleet.queuePrefix;
  }

  /**
   * Returns the agent of this name, for example to grant it permissions for its service. @throws Error naming
   * those that exist
   */
  agent(name: string): AgentFunction {
    return this.#fleet.named(name);
  }

  /**
   * The trigger of this name, for example to let others send to the queue of a declared one.
   * @throws Error whose message names the triggers that exist
   */
  trigger(name: string): StartQueue {
    return this.triggers.named(name);
  }

  /**
   * Lets a grantee start executions of one workflow, or of all, and nothing else: to read the result it needs
   * `grantRun` or `grantInvoke`.
   * @throws Error for a workflow that this deployment does not have, for a grantee that is not a role or user
   * of this account, and with `api: 'none'`, where `grantInvoke` is the only grant
   */
  grantStart(grantee: IGrantable, workflowName = '*'): Grant {
    return this.letCall(grantee, workflowName, 'executions');
  }

  /**
   * Lets a grantee call `client.run`, which starts an execution and answers with its result.
   * @throws Error as `grantStart` does
   */
  grantRun(grantee: IGrantable, workflowName = '*'): Grant {
    return this.letCall(grantee, workflowName, 'runs');
  }

  /**
   * Lets a grantee send messages to executions of one workflow, or of all, by key; also with `startWith`.
   * @throws Error as `grantStart` does
   */
  grantSend(grantee: IGrantable, workflowName = '*'): Grant {
    return this.letCall(grantee, workflowName, 'messages');
  }

  /** Lets a grantee erase ended executions. @throws Error as `grantStart` does, without a workflow */
  grantErase(grantee: IGrantable): Grant {
    return this.scheduler.grantInvoke(grantee, HttpMethod.POST, '/executions/*/erase');
  }

  /**
   * Lets a grantee make every call of the API; with `api: 'none'`, invoke the scheduler's function.
   * @throws Error for a grantee that is not a role or user of this account, if there is an API
   */
  grantInvoke(grantee: IGrantable): Grant {
    return this.scheduler.grantInvoke(grantee);
  }

  /**
   * Lets a grantee perform an agent's work on infrastructure of your own: a machine with a GPU, or another
   * cluster. Grant it what the agent's external service needs as well.
   * @returns variables for the worker's environment
   */
  grantWork(agentName: string, grantee: IGrantable): Readonly<Record<string, string>> {
    const { peers = [] } = this.#props.workflows.agents.find(({ name }) => name === agentName) ?? {};
    const agent = this.agent(agentName);
    agent.grantWork(grantee);
    grantDecide(this, this.#props, grantee);
    this.wakeUps.grantCall(grantee);
    return {
      ...this.environment(this.#props),
      ...agent.ownEnvironment,
      ...this.#fleet.grantSending(grantee, peers),
    };
  }

  /**
   * A metric of the roles, for a graph or an alarm of your own, over 5 minutes. Unless `options` says
   * otherwise, counts are summed, durations (in ms) are their 99th percentile, and gauges their maximum.
   */
  metric(name: MetricName, options?: MetricOptions): Metric {
    return metricsOf(this.deploymentName)(name, options);
  }

  /** The number of executions started: the sum over 5 minutes, unless `options` says otherwise. */
  metricStarted(options?: MetricOptions): Metric {
    return this.metric('Started', options);
  }

  /** The number of executions that succeeded: the sum over 5 minutes, unless `options` says otherwise. */
  metricSucceeded(options?: MetricOptions): Metric {
    return this.metric('Succeeded', options);
  }

  /** Executions that ended as `failed`, neither finished nor undone; by default summed over 5 minutes. */
  metricFailed(options?: MetricOptions): Metric {
    return this.metric('Failed', options);
  }

  /**
   * How long the most overdue execution has waited for its evaluation, in ms: the maximum over 5 minutes,
   * unless `options` says otherwise. The alarm `OldestOverdue` is raised at 2 minutes.
   */
  metricOldestOverdue(options?: MetricOptions): Metric {
    return this.metric('OldestOverdue', options);
  }

  private letCall(grantee: IGrantable, workflowName: string, what: string): Grant {
    const name = grantedWorkflow(workflowName, this.#props.workflows.workflows);
    return this.scheduler.grantInvoke(grantee, HttpMethod.POST, `/workflows/${name}/${what}`);
  }

  private check(props: SteadfastProps): void {
    const { workflows, accountConcurrency, alarmTopic } = props;
    for (const { id, message } of workflows.warnings) Validations.of(this).addWarning(id, message);
    if (this.monitoring !== undefined && alarmTopic === undefined && this.isKept)
      warnOfSilence(this, this.monitoring.topic);
    checkFourEyes(this, workflows.workflows, props);
    const parts = { agents: this.agents, triggers: this.triggers.all };
    warnOfConcurrency(this, { ...parts, account: accountConcurrency });
    keepWithinLimits(this, { ...parts, found: workflows });
    refuseDroppedMetrics(this, () => [...this.agents.values()].flatMap((agent) => agent.function ?? []));
  }

  private environment(props: SteadfastProps): Readonly<Record<string, string>> {
    return {
      [ENV.table]: this.stateTable.table.tableName,
      ...this.valueBucket?.environment,
      [ENV.bus]: this.eventBus.eventBusName,
      [ENV.wakeBus]: this.wakeUps.bus.eventBusName,
      [ENV.wakeShards]: String(props.tuning?.wakeShards ?? DEFAULT_WAKE_SHARDS),
      [ENV.deployment]: this.deploymentName,
      [ENV.retentionMs]: String(checkedRetention(props.retention ?? Duration.days(30)).toMilliseconds()),
      ...(props.metricsBy === undefined ? {} : { [ENV.metricsBy]: props.metricsBy.join(',') }),
      ...(props.workflows.workflows.some(({ isFair }) => isFair === true) ? { [ENV.fair]: 'true' } : {}),
      ...transportSetting(props),
    };
  }

  private starters(code: CodeSource['code'], { workflows }: Discovery): Starters {
    return {
      workflows,
      // Where `agentConcurrency` limits the agents to few concurrent executions, it limits the starters, too.
      maxConcurrency: Math.min(10, this.#props.agentConcurrency ?? 10),
      code: (name, file) => code('starter', { asset: `triggers/${name}`, file }),
      grantStart: (trigger, agents) => this.letStart(trigger, agents),
    };
  }

  /** Grants a starter its permissions: it is a scheduler for one workflow, without an API. */
  private letStart(trigger: StartQueue, agents: readonly string[]): void {
    const role = trigger.function;
    grantDecide(this, this.#props, role);
    this.wakeUps.grantCall(role);
    this.#fleet.allowSending(role, agents);
    for (const alarm of trigger.alarms) this.monitoring?.add(alarm);
  }
}
