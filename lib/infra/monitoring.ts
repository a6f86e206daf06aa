/**
 * The monitoring of a deployment: the alarms, the topic they are sent to, the dashboard.
 *
 * Owns: connecting the three, and letting alarms reach the topic. Does not own: the conditions of alarms
 * (`alarms.ts`), the content of the dashboard (`dashboard.ts`), the subscribers:
 * `monitoring.topic.addSubscription(…)`.
 */

import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { Alarms, type AlarmsProps } from './alarms.ts';
import type { AgentFleet } from './agent-fleet.ts';
import type { AuditClock } from './audit-clock.ts';
import { type DashboardProps, SteadfastDashboard } from './dashboard.ts';
import { metricsOf } from './metrics.ts';
import type { SchedulerApi } from './scheduler-api.ts';
import type { StateTable } from './state-table.ts';
import type { SteadfastProps } from './steadfast-props.ts';
import type { SupervisorClock } from './supervisor-clock.ts';

export interface MonitoringProps extends AlarmsProps, Omit<DashboardProps, 'alarms'> {
  readonly alarmTopic?: ITopic;
  readonly encryptionKey?: IKey;
  readonly withDashboard: boolean;
}

/** The parts of a deployment that have alarms. */
interface Whole extends Construct {
  readonly deploymentName: string;
  readonly scheduler: SchedulerApi;
  readonly supervisor: SupervisorClock;
  readonly audit: AuditClock;
  readonly stateTable: StateTable;
}

export function addMonitoring(
  whole: Whole,
  props: SteadfastProps,
  { agents, builtIn }: AgentFleet,
): Monitoring {
  const { monitoring, alarmTopic, encryptionKey, failureAlarmPercent, canary, metricsBy = [] } = props;
  const { deploymentName: deployment, scheduler } = whole;
  const names = {
    agent: [...agents.keys()],
    workflow: props.workflows.workflows.map(({ name }) => name),
  };
  return new Monitoring(whole, 'Monitoring', {
    metricOf: metricsOf(deployment),
    agents: [...agents.values(), ...builtIn.values()],
    scheduler: scheduler.function as IFunction,
    supervisor: whole.supervisor.function as IFunction,
    table: whole.stateTable.table,
    audit: whole.audit,
    failurePercent: failureAlarmPercent ?? 10,
    withDashboard: monitoring !== 'alarms',
    detailed: metricsBy.map((by) => ({ deployment, by, names: names[by] })),
    ...defined({ api: scheduler.gateway?.api, canary, alarmTopic, encryptionKey }),
  });
}

/** The alarms, the dashboard, and the topic that alarms go to. */
export class Monitoring extends Construct {
  /** Receives every alarm, both when it is raised and when it ends. */
  readonly topic: ITopic;
  readonly alarms: Alarms;
  readonly dashboard?: SteadfastDashboard;
  /** The alarms on the dashboard, which is written once all of them are known. */
  readonly #shown: Alarm[];

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.topic = props.alarmTopic ?? this.makeTopic(props.encryptionKey);
    this.alarms = new Alarms(this, 'Alarms', props);
    this.#shown = [...this.alarms.all];
    for (const alarm of this.alarms.all) this.#tell(alarm);
    if (props.withDashboard) {
      this.dashboard = new SteadfastDashboard(this, 'Overview', { ...props, alarms: this.#shown });
    }
  }

  /** Adds an alarm to the topic and the dashboard. */
  add(alarm: Alarm): void {
    this.#tell(alarm);
    this.#shown.push(alarm);
  }

  #tell(alarm: Alarm): void {
    const action = new SnsAction(this.topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    if (this.alarms.ofSilence.has(alarm)) alarm.addInsufficientDataAction(action);
  }

  private makeTopic(key: IKey | undefined): ITopic {
    const topic = new Topic(this, 'Topic', {
      displayName: 'Steadfast',
      enforceSSL: true,
      ...(key === undefined ? {} : { masterKey: key }),
    });
    // Requiring encryption in transit replaces the topic's default policy, which would have admitted alarms.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic as ITopic;
  }
}
