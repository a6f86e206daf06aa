/**
 * The stack that `cdk deploy` deploys: one `Steadfast` and its outputs.
 *
 * Owns: the names of the outputs. Does not own: the stages (`bin/app.ts`), anything of the system. To embed a
 * deployment in a stack of your own use `Steadfast`.
 */

import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { defined } from '../core/values/defined.ts';
import { checkAlarms } from './check-props.ts';
import { checkLikeOptions } from './known-options.ts';
import { Steadfast } from './steadfast.ts';
import { STEADFAST_OPTIONS, type SteadfastProps } from './steadfast-props.ts';

/**
 * The settings of a stage. Resources that need a stack (a key, a network, an authorizer) are created in the
 * given one.
 */
export type StageSettings = (stack: Stack) => Partial<Omit<SteadfastProps, 'workflows'>>;

/** The settings of a stack with one deployment: those of the deployment, and those of any stack. */
export interface SteadfastStackProps extends StackProps, SteadfastProps {
  /**
   * Whether the stack is protected against deletion.
   * @default - unless `removalPolicy` is DESTROY
   */
  readonly terminationProtection?: boolean;
  /**
   * More settings; those given beside it override them.
   * @default - none
   */
  readonly settings?: StageSettings;
  /**
   * The e-mail address for alarms; AWS asks it once for a confirmation. Refused with `monitoring: 'none'`.
   * @default - none; subscribe to the topic
   */
  readonly alarmEmail?: string;
}

/**
 * A stack with one deployment (`steadfast`), its outputs, and an address for its alarms.
 * @example
 * new SteadfastStack(app, 'Shop', { workflows: Workflows.fromFolder('workflows') });
 * @throws Error as `Steadfast` does
 */
export class SteadfastStack extends Stack {
  readonly steadfast: Steadfast;
  /**
   * `ApiUrl` (with `api: 'none'` `SchedulerName`), `StateTableName`, `EventBusName`, `AlarmTopicArn`,
   * `DashboardName`.
   */
  readonly outputs: readonly CfnOutput[];

  constructor(scope: Construct, id: string, props: SteadfastStackProps) {
    super(scope, id, props);
    const known = [...Object.keys(STEADFAST_OPTIONS), 'settings', 'alarmEmail', 'terminationProtection'];
    checkLikeOptions(`SteadfastStack '${id}'`, props, known);
    const ours = Object.entries(props).filter(([key]) => Object.hasOwn(STEADFAST_OPTIONS, key));
    const all = { ...props.settings?.(this), ...(Object.fromEntries(ours) as unknown as SteadfastProps) };
    checkAlarms({ ...all, ...defined({ alarmEmail: props.alarmEmail }) }, ['alarmEmail']);
    this.steadfast = new Steadfast(this, 'Steadfast', all);
    this.terminationProtection = props.terminationProtection ?? this.steadfast.isKept;
    const { monitoring } = this.steadfast;
    if (props.alarmEmail !== undefined)
      monitoring?.topic.addSubscription(new EmailSubscription(props.alarmEmail));
    const outputs: Record<string, readonly [string | undefined, string]> = {
      StateTableName: [this.steadfast.stateTable.table.tableName, 'The state table'],
      EventBusName: [this.steadfast.eventBus.eventBusName, 'Receives an event when an execution ends'],
      AlarmTopicArn: [monitoring?.topic.topicArn, 'Receives every alarm'],
      DashboardName: [monitoring?.dashboard?.dashboard.dashboardName, 'The dashboard in CloudWatch'],
    };
    const others = Object.entries(outputs).flatMap(([name, [value, description]]) =>
      value === undefined ? [] : [new CfnOutput(this, name, { value, description })],
    );
    const { address } = this.steadfast;
    address.overrideLogicalId(address.node.id);
    this.outputs = [address, ...others];
  }
}
