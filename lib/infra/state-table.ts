/**
 * The state table: the only truth of a deployment, so the one thing that is kept when the stack goes.
 *
 * Owns: keys, indexes, protection, and what may be done to it. Does not own: what its items mean.
 *
 * No role may delete or scan: every write is conditional, and nothing is ever found by reading everything.
 */

import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { TABLE } from '../aws/names.ts';

export interface StateTableProps {
  /**
   * What becomes of the table when it leaves the stack.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Whether the table is protected against deletion.
   * @default - unless `removalPolicy` is DESTROY
   */
  readonly deletionProtection?: boolean;
  /**
   * Whether the table can be restored to any second of the last 35 days.
   * @default true
   */
  readonly pointInTimeRecovery?: boolean;
  /**
   * A key of your own for what is at rest.
   * @default - a key of DynamoDB's, which costs nothing
   */
  readonly encryptionKey?: IKey;
}

export class StateTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, props: StateTableProps = {}) {
    super(scope, id);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    this.table = new Table(this, 'Table', {
      partitionKey: { name: TABLE.pk, type: AttributeType.STRING },
      sortKey: { name: TABLE.sk, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TABLE.ttl,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
      ...(props.encryptionKey === undefined
        ? {}
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: props.encryptionKey }),
      removalPolicy,
      deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
    });
    for (const index of [TABLE.watchIndex, TABLE.listIndex]) {
      this.table.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: { name: index.pk, type: AttributeType.STRING },
        sortKey: { name: index.sk, type: AttributeType.NUMBER },
        projectionType: ProjectionType.KEYS_ONLY,
      });
    }
  }

  /** Reading executions by key, and conditional writes: what every decision needs. */
  grantDecide(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: [
        'dynamodb:BatchGetItem',
        'dynamodb:ConditionCheckItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
      ],
      resourceArns: [this.table.tableArn],
    });
  }

  /** Finding open executions by the time at which someone must look. */
  grantFindDue(grantee: IGrantable): Grant {
    return this.grantQuery(grantee, TABLE.watchIndex.name);
  }

  /** Finding executions by workflow and start. */
  grantList(grantee: IGrantable): Grant {
    return this.grantQuery(grantee, TABLE.listIndex.name);
  }

  private grantQuery(grantee: IGrantable, index: string): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [`${this.table.tableArn}/index/${index}`],
    });
  }
}
