/**
 * The state table: the only truth of a deployment, so the one thing that is kept when the stack goes.
 *
 * Owns: keys, indexes, protection, and what may be done to it. Does not own: what its items mean.
 *
 * No role may delete or scan: every write is conditional, and nothing is ever found by reading everything.
 * The audit alone may do both: its task is what the indexes do not show, and what is left behind.
 */

import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { INDEXES, TABLE } from '../aws/names.ts';
import { onceInUse } from './removal.ts';

/**
 * What is done to the table, by purpose. A transaction needs the action of each of its parts, and all of ours
 * are puts. `test/infra/permissions.ts` lists who has what; the local cloud refuses the rest.
 */
const ACTIONS = {
  decide: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
  find: ['dynamodb:Query'],
  readPage: ['dynamodb:BatchGetItem'],
  audit: [
    'dynamodb:BatchGetItem',
    'dynamodb:DeleteItem',
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'dynamodb:Scan',
  ],
} as const;

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
  /**
   * The name of a table restored from this one's backup, to be used in its place. This one stays as it is.
   * @default - this one is used
   */
  readonly restoredTable?: string;
}

export class StateTable extends Construct {
  /** The table in use. */
  readonly table: ITable;
  /** The table of this stack, which is in use unless it was restored as another. */
  readonly own: Table;

  constructor(scope: Construct, id: string, props: StateTableProps = {}) {
    super(scope, id);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const deletionProtection = props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY;
    this.own = new Table(this, 'Table', {
      partitionKey: { name: TABLE.pk, type: AttributeType.STRING },
      sortKey: { name: TABLE.sk, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TABLE.ttl,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
      ...(props.encryptionKey === undefined
        ? {}
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: props.encryptionKey }),
      // A protected one cannot be deleted, not by a roll back either: that would
      // fail on it, and the stack with it.
      removalPolicy: deletionProtection ? removalPolicy : onceInUse(removalPolicy),
      deletionProtection,
    });
    for (const { name, pk, sk, projected } of INDEXES) {
      this.own.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: { name: pk, type: AttributeType.STRING },
        sortKey: { name: sk, type: AttributeType.NUMBER },
        ...(projected.length === 0
          ? { projectionType: ProjectionType.KEYS_ONLY }
          : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...projected] }),
      });
    }
    const { restoredTable: name } = props;
    this.table = name === undefined ? (this.own as ITable) : Table.fromTableName(this, 'Restored', name);
  }

  /** Reading executions and plans by key, and conditional writes: what every decision needs. */
  grantDecide(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.decide);
  }

  /** Reading all receipts at once; each is written like any other record. */
  grantReceipts(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.readPage);
  }

  /** What the audit needs: reading everything, healing wake times and removing what is left behind. */
  grantAudit(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.audit);
  }

  /** Finding open executions by their wake time. */
  grantFindDue(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.find, `/index/${TABLE.wakeIndex.name}`);
  }

  /** Counting the incidents that are open. */
  grantCountIncidents(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.find, `/index/${TABLE.listIndex.name}`);
  }

  /**
   * Finding executions by whatever index there is, and reading a page of them at once;
   * `grantFindDue` has one of them.
   */
  grantList(grantee: IGrantable): Grant {
    this.grant(grantee, ACTIONS.readPage);
    const found = INDEXES.filter(({ name }) => name !== TABLE.wakeIndex.name);
    return Grant.addToPrincipal({
      grantee,
      actions: [...ACTIONS.find],
      resourceArns: found.map(({ name }) => `${this.table.tableArn}/index/${name}`),
    });
  }

  private grant(grantee: IGrantable, actions: readonly string[], part = ''): Grant {
    const resourceArns = [`${this.table.tableArn}${part}`];
    return Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns });
  }
}
