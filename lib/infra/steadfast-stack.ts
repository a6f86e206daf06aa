/**
 * The stack that `cdk deploy` deploys: one `Steadfast` and its outputs.
 *
 * Owns: what the stages mean, and the names of the outputs. Does not own: anything of the system; to embed it in a
 * stack of your own use `Steadfast`.
 */

import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { Steadfast, type SteadfastProps } from './steadfast.ts';

export const STAGES = ['dev', 'prod'] as const;
export type StageName = (typeof STAGES)[number];

export interface SteadfastStackProps extends StackProps, Omit<SteadfastProps, 'removalPolicy'> {
  /**
   * 'dev': everything goes when the stack goes. 'prod': the table and the logs stay, and the table cannot be deleted.
   * @default 'dev'
   */
  readonly stageName?: StageName;
}

export class SteadfastStack extends Stack {
  readonly steadfast: Steadfast;
  /** `ApiUrl`, `StateTableName`, `EventBusName`. */
  readonly outputs: readonly CfnOutput[];

  constructor(scope: Construct, id: string, props: SteadfastStackProps) {
    super(scope, id, props);
    const isProd = props.stageName === 'prod';
    const removalPolicy = isProd ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.steadfast = new Steadfast(this, 'Steadfast', { ...props, removalPolicy });
    const outputs = {
      ApiUrl: [this.steadfast.scheduler.url, 'Where executions are started and asked for'],
      StateTableName: [this.steadfast.stateTable.table.tableName, 'The state table'],
      EventBusName: [this.steadfast.eventBus.eventBusName, 'Hears of ended executions'],
    } as const;
    this.outputs = Object.entries(outputs).map(
      ([name, [value, description]]) => new CfnOutput(this, name, { value, description }),
    );
  }
}
