/**
 * The state table: the only truth of a deployment, so the one thing that is kept when the stack goes.
 *
 * Owns: keys, indexes, protection, what may be done to it, and how it is paid for. Does not own: what its
 * items mean.
 *
 * No role may delete or scan: every write is conditional, and nothing is ever found by reading everything.
 * The audit alone may do both: its task is what the indexes do not show, and what is left behind.
 *
 * It is a global table of one region, at the same price: a table of the older type could get no replica later
 * without a new table in its place.
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
 * Actions on the table by purpose. A transaction needs the action of each of its parts, and all of ours are
 * puts. `test/infra/permissions.ts` lists who has which; the local cloud refuses the rest.
 */
const ACTIONS = {
  decide: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
  find: ['dynamodb:Query'],
  readPage: ['dynamodb:BatchGetItem'],
  /** Who leaves a queue removes its own item, an erasure what is of executions. */
  remove: ['dynamodb:DeleteItem'],
  audit: [
    'dynamodb:BatchGetItem',
    'dynamodb:DeleteItem',
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'dynamodb:Scan',
  ],
} as const;

/** At most so many of these are an index's own: an execution moves in `wake` two to six times. */
const INDEX_UNITS_A_START: Readonly<Record<string, number>> = { [TABLE.wakeIndex.name]: 6 };
const OTHER_INDEX_UNITS_A_START = 2;
/**
 * What every table and index takes on its first day; less cannot be asked for.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
 */
const FIRST_DAY_UNITS = 4_000;

/** Executions of four steps that start in a second. */
export interface StartsPerSecond {
  /**
   * The table is made ready for so many, once, for a price by the unit
   * (https://aws.amazon.com/dynamodb/pricing/on-demand/).
   * @default - what every table takes on its first day: some 280, and twice its last peak later
   */
  readonly warm?: number;
  /**
   * What bounds a bill: DynamoDB refuses writes beyond, and then everything is late, and nothing lost.
   * @default - what the account allows
   */
  readonly most?: number;
}

/**
 * How it is paid for, if by the hour: a unit in use costs a third then, but table and indexes have a floor
 * each, whatever is used. Capacity follows use within minutes; until then DynamoDB refuses, what is refused
 * is late, and nothing is lost.
 */
export interface TableBilling {
  readonly provisioned: {
    /** Executions of four steps that start in a second, at most. */
    readonly startsPerSecond: number;
    /**
     * Write and read units a second that table and indexes have at least, each: the floor.
     * @default 5
     */
    readonly leastUnits?: number;
  };
}

export interface StateTableProps {
  /** @default - by use */
  readonly paid?: TableBilling;
  /** @default - as every table */
  readonly startsPerSecond?: StartsPerSecond;
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

/** The DynamoDB table that holds every execution, with its indexes. */
export class StateTable extends Construct {
  /** The table in use. */
  readonly table: ITable;
  /** The table of this stack, which is in use unless it was restored as another. */
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
      // A protected one cannot be deleted, not by a roll back either: that would
      // fail on it, and the stack with it.
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

  /** Reading executions and plans by key, and conditional writes: what every decision needs. */
  grantDecide(grantee: IGrantable): Grant {
    return this.grant(grantee, ACTIONS.decide);
  }

  /** Leaving the queues of lanes: nothing else is deleted by who decides. */
  grantLanes(grantee: IGrantable): Grant {
    return this.grantRemoving(grantee, 'lane#*');
  }

  /** Erasing executions with their mailboxes, and no record of anything else. */
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

/** The class itself refuses a key where the stack does not say its region. */
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

/** The write units of an execution of four steps: 6 and 2 a step (bench/results/cost.json). */
export const UNITS_A_START = 14;
/** The read units of the same. */
const READ_UNITS_A_START = 5;
/** At most: DynamoDB adds capacity where more is used (`Capacity.autoscaled`). */
const USED = 0.7;
const LEAST_UNITS = 5;

/**
 * List prices of us-east-1, of a unit
 * (https://aws.amazon.com/dynamodb/pricing/provisioned/, https://aws.amazon.com/dynamodb/pricing/on-demand/).
 */
export const UNIT_USD = {
  provisionedHour: { write: 0.000_65, read: 0.000_13 },
  onDemand: { write: 0.625e-6, read: 0.125e-6 },
} as const;
const HOURS = 730;
const UNITS_AN_HOUR = 3_600 * USED;

interface Paid {
  readonly billing: Billing;
  /** The capacity of an index, for so many write units of each start. */
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
    // Where a table that is in use changes to it, no start waits for capacity to follow.
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

/** What the floor costs a month, and from how many steps a month on it is less than by use. */
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
