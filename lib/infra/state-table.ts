/**
 * The state table: the only truth of a deployment, so it is kept when the stack is deleted.
 *
 * Owns: keys, indexes, protection, permissions, and billing. Does not own: the meaning of its items.
 *
 * No role may delete or scan: every write is conditional, and no search reads the whole table. Only the audit
 * may do both, because it looks for records that the indexes do not show, and removes those left behind.
 *
 * It is a global table with one region, at the same price: a table of the older type could get a replica only
 * by replacing it with a new table.
 */

import {
  AttributeType,
  Billing,
  Capacity,
  type CfnGlobalTable,
  type GlobalSecondaryIndexPropsV2,
  type ITable,
  ProjectionType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Annotations, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { INDEXES, SPARE_INDEXES, TABLE, type TableIndex } from '../aws/names.ts';
import { onceInUse } from './removal.ts';

/**
 * Actions on the table by purpose. A transaction needs the action of each of its parts, which are all puts.
 * `test/infra/permissions.ts` lists who has which; the local cloud refuses the rest.
 */
const ACTIONS = {
  decide: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
  find: ['dynamodb:Query'],
  readOne: ['dynamodb:GetItem'],
  readPage: ['dynamodb:BatchGetItem'],
  /**
   * An execution that leaves a lane's queue removes its own item; an erasure removes all items of an
   * execution.
   */
  remove: ['dynamodb:DeleteItem'],
  audit: [
    'dynamodb:BatchGetItem',
    'dynamodb:DeleteItem',
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'dynamodb:Scan',
  ],
} as const;

/** The most write units that each index takes per start: an execution moves in `wake` two to six times. */
const INDEX_UNITS_A_START: Readonly<Record<string, number>> = { [TABLE.wakeIndex.name]: 6 };
const OTHER_INDEX_UNITS_A_START = 2;
/**
 * The capacity of every table and index on its first day; a lower one cannot be configured.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
 */
const FIRST_DAY_UNITS = 4_000;

/** Capacity as a number of executions of four steps that start per second. */
export interface StartsPerSecond {
  /**
   * The rate for which the table is warmed up once, in advance. AWS charges for each warmed unit
   * (https://aws.amazon.com/dynamodb/pricing/on-demand/).
   * @default - the capacity of every table on its first day, some 280, and later twice its last peak
   */
  readonly warm?: number;
  /**
   * The maximum, which limits the bill. Beyond it DynamoDB refuses writes; then everything is late, and
   * nothing is lost.
   * @default - the account's limit
   */
  readonly most?: number;
}

/**
 * Billing by the hour. A unit in use costs a third then, but table and indexes each have a minimum capacity
 * that is always charged. Capacity follows use within minutes; until then DynamoDB refuses writes, which
 * makes work late and loses nothing.
 */
export interface TableBilling {
  readonly provisioned: {
    /** The maximum of executions of four steps that start per second. */
    readonly startsPerSecond: number;
    /**
     * The minimum capacity: write and read units a second that table and each index always have.
     * @default 5
     */
    readonly leastUnits?: number;
  };
}

export interface StateTableProps {
  /** @default - on demand: each request is charged */
  readonly paid?: TableBilling;
  /** @default - as every table on demand */
  readonly startsPerSecond?: StartsPerSecond;
  /**
   * What happens to the table when it leaves the stack.
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
   * A key of your own for the table's data.
   * @default - a key of DynamoDB's, which costs nothing
   */
  readonly encryptionKey?: IKey;
  /**
   * The name of a table restored from this one's backup, to be used instead. This one stays as it is.
   * @default - this one is used
   */
  readonly restoredTable?: string;
}

/** The DynamoDB table with every execution, and its indexes. */
export class StateTable extends Construct {
  /** The table in use. */
  readonly table: ITable;
  /** The table of this stack, which is in use unless `restoredTable` names another. */
  readonly own: TableV2;

  constructor(scope: Construct, id: string, props: StateTableProps = {}) {
    super(scope, id);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const deletionProtection = props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY;
    const { startsPerSecond = {}, paid } = props;
    checkStarts(startsPerSecond, paid);
    const { warm = 0, most } = startsPerSecond;
    const byHour = paid === undefined ? undefined : provisioned(paid);
    this.own = new TableV2(this, 'Table', {
      ...warmFor(warm * UNITS_A_START),
      billing:
        byHour?.billing ??
        Billing.onDemand(most === undefined ? {} : { maxWriteRequestUnits: Math.ceil(most * UNITS_A_START) }),
      partitionKey: { name: TABLE.pk, type: AttributeType.STRING },
      sortKey: { name: TABLE.sk, type: AttributeType.STRING },
      timeToLiveAttribute: TABLE.ttl,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
      // A protected table cannot be deleted, not even by a roll-back, which would fail.
      removalPolicy: deletionProtection ? removalPolicy : onceInUse(removalPolicy),
      deletionProtection,
    });
    if (props.encryptionKey !== undefined) encrypt(this.own, props.encryptionKey);
    for (const index of [...INDEXES, ...SPARE_INDEXES]) {
      const units = SPARE_INDEXES.includes(index)
        ? 0
        : (INDEX_UNITS_A_START[index.name] ?? OTHER_INDEX_UNITS_A_START);
      this.addIndex(index, { ...warmFor(warm * units), ...byHour?.indexCapacity(units) });
    }
    if (paid !== undefined) sayFloor(this, paid, 1 + INDEXES.length + SPARE_INDEXES.length);
    const { restoredTable: name } = props;
    this.table = name === undefined ? (this.own as ITable) : TableV2.fromTableName(this, 'Restored', name);
  }

  private addIndex(
    { name, pk, sk, projected }: TableIndex,
    capacity: Pick<GlobalSecondaryIndexPropsV2, 'warmThroughput' | 'writeCapacity'>,
  ): void {
    this.own.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: { name: pk, type: AttributeType.STRING },
      sortKey: { name: sk, type: AttributeType.NUMBER },
      ...capacity,
      ...(projected.length === 0
        ? { projectionType: ProjectionType.KEYS_ONLY }
        : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...projected] }),
    });
  }

  /** Lets a grantee read executions and plans by key, and write conditionally, as every decision needs. */
  grantDecide(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.decide);
  }

  /** Lets a grantee leave the queues of lanes; it may delete nothing else. */
  grantLanes(grantee: IGrantable): Grant {
    return this.grantRemoving(grantee, 'lane#*');
  }

  /** Lets a grantee erase executions with their mailboxes, and no other record. */
  grantErase(grantee: IGrantable): Grant {
    return this.grantRemoving(grantee, 'exec#*', 'mailbox#*');
  }

  private grantRemoving(grantee: IGrantable, ...keys: readonly string[]): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: [...ACTIONS.remove],
      resourceArns: [this.table.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } },
    });
  }

  /** Lets a grantee read all receipts at once; each is written like any other record. */
  grantReceipts(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.readPage);
  }

  /** Lets the audit read everything, repair wake times and remove records that are left behind. */
  grantAudit(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.audit);
  }

  /** Lets a grantee read one record by its key. */
  grantReadOne(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.readOne);
  }

  /** Lets a grantee find open executions by their wake time. */
  grantFindDue(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.find, `/index/${TABLE.wakeIndex.name}`);
  }

  /** Lets a grantee count open incidents. */
  grantCountIncidents(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.find, `/index/${TABLE.listIndex.name}`);
  }

  /**
   * Lets a grantee find executions by any index, and read a page of them at once; `grantFindDue` allows one
   * index.
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

/** Sets the key in the template: the class refuses one if the stack does not name its region. */
function encrypt(table: TableV2, { keyArn }: IKey): void {
  const resource = table.node.defaultChild as CfnGlobalTable;
  resource.sseSpecification = { sseEnabled: true, sseType: 'KMS' };
  resource.addPropertyOverride('Replicas.0.SSESpecification.KMSMasterKeyId', keyArn);
}

const warmFor = (units: number): { readonly warmThroughput?: { readonly writeUnitsPerSecond: number } } =>
  units > FIRST_DAY_UNITS ? { warmThroughput: { writeUnitsPerSecond: Math.ceil(units) } } : {};

/** @throws Error naming what is set and what is allowed */
function checkStarts({ warm, most }: StartsPerSecond, paid: TableBilling | undefined): void {
  for (const [name, value] of Object.entries({ warm, most }))
    if (value !== undefined && !(Number.isFinite(value) && value > 0))
      throw new Error(`startsPerSecond.${name} is ${value}; allowed: a number above 0`);
  if (warm !== undefined && most !== undefined && most < warm)
    throw new Error(`startsPerSecond: most is ${most}, less than warm, which is ${warm}`);
  if (most !== undefined && paid !== undefined)
    throw new Error(
      'startsPerSecond.most is of a table on demand; with billing its most is billing.provisioned',
    );
}

/** The write units of an execution of four steps: 6, and 2 for each step (bench/results/cost.json). */
export const UNITS_A_START = 14;
/** The read units of such an execution. */
const READ_UNITS_A_START = 5;
/** The highest use: above it DynamoDB adds capacity (`Capacity.autoscaled`). */
const USED = 0.7;
const LEAST_UNITS = 5;

/**
 * List prices of us-east-1 for a unit (https://aws.amazon.com/dynamodb/pricing/provisioned/,
 * https://aws.amazon.com/dynamodb/pricing/on-demand/).
 */
export const UNIT_USD = {
  provisionedHour: { write: 0.000_65, read: 0.000_13 },
  onDemand: { write: 0.625e-6, read: 0.125e-6 },
} as const;
const HOURS = 730;
const UNITS_AN_HOUR = 3_600 * USED;

interface Paid {
  readonly billing: Billing;
  /** The capacity of an index, by the write units that each start takes. */
  readonly indexCapacity: (unitsAStart: number) => { readonly writeCapacity?: Capacity };
}

/** @throws Error naming what is set and what is allowed */
export function provisioned({
  provisioned: { startsPerSecond, leastUnits = LEAST_UNITS },
}: TableBilling): Paid {
  if (!(Number.isFinite(startsPerSecond) && startsPerSecond > 0))
    throw new Error(
      `billing.provisioned.startsPerSecond is ${startsPerSecond}; allowed: a number above 0, such as 20`,
    );
  if (!Number.isInteger(leastUnits) || leastUnits < 1)
    throw new Error(`billing.provisioned.leastUnits is ${leastUnits}; allowed: a whole number of 1 or more`);
  const capacity = (unitsAStart: number): Capacity => {
    const maxCapacity = Math.max(leastUnits, Math.ceil((startsPerSecond * unitsAStart) / USED));
    // A table that changes from on demand to this starts with the whole capacity of `seedCapacity`.
    return Capacity.autoscaled({
      minCapacity: leastUnits,
      maxCapacity,
      targetUtilizationPercent: USED * 100,
      seedCapacity: maxCapacity,
    });
  };
  return {
    billing: Billing.provisioned({
      readCapacity: capacity(READ_UNITS_A_START),
      writeCapacity: capacity(UNITS_A_START),
    }),
    indexCapacity: (unitsAStart) => ({ writeCapacity: capacity(unitsAStart) }),
  };
}

const saved = (kind: 'write' | 'read'): number =>
  UNIT_USD.onDemand[kind] - UNIT_USD.provisionedHour[kind] / UNITS_AN_HOUR;

/**
 * The monthly price of the minimum capacity, and the number of steps a month from which it is cheaper than on
 * demand.
 */
export function floorOf(
  { provisioned: { leastUnits = LEAST_UNITS } }: TableBilling,
  tableAndIndexes: number,
): { readonly usd: number; readonly steps: number } {
  const { write, read } = UNIT_USD.provisionedHour;
  const usd = tableAndIndexes * leastUnits * (write + read) * HOURS;
  const savedAStart = UNITS_A_START * saved('write') + READ_UNITS_A_START * saved('read');
  return { usd, steps: usd / (savedAStart / STEPS_A_START) };
}
const STEPS_A_START = 4;

export function sayFloor(scope: Construct, billing: TableBilling, tableAndIndexes: number): void {
  const { usd, steps } = floorOf(billing, tableAndIndexes);
  Annotations.of(scope).addInfoV2(
    'steadfast:provisioned',
    `the state table is paid for by the hour: its floor is $${usd.toFixed(0)} a month for ${tableAndIndexes} tables and indexes, whatever is used; by list prices of us-east-1 it pays from some ${Math.round(steps / 1e6)} million steps a month on, if they come evenly`,
  );
}
