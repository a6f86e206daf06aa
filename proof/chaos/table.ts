/**
 * Reads the state table through the local cloud's AWS gateway, with the AWS SDK, as an operator would.
 *
 * Owns: the scan of everything, and the open executions by the wake index. Does not own: the required content
 * (`table-audit.ts`).
 */

import { DynamoDBClient, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  executionOf,
  idOfKey,
  isExecutionItem,
  isInputItem,
  isStepItem,
  type Item,
  planOf,
  stepOf,
  text,
} from '../../lib/aws/dynamo-items.ts';
import { inputIn } from '../../lib/aws/dynamo-inputs.ts';
import { wakeShardKey } from '../../lib/aws/dynamo-indexes.ts';
import { isOfMailbox } from '../../lib/aws/dynamo-mailboxes.ts';
import { DEFAULT_WAKE_SHARDS, TABLE } from '../../lib/aws/names.ts';
import type { Cloud } from '../../local/cloud.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { TableContent } from './table-audit.ts';

const PLAN_PREFIX = 'plan#';

export class Table {
  readonly #client: DynamoDBClient;
  readonly #name: string;

  constructor(cloud: Cloud) {
    this.#client = new DynamoDBClient({
      endpoint: cloud.gatewayUrl,
      region: 'us-east-1',
      credentials: { accessKeyId: 'chaos', secretAccessKey: 'x' },
    });
    const table = [...cloud.resources.values()].find(({ type }) =>
      /^AWS::DynamoDB::(Global)?Table$/.test(type),
    );
    if (table === undefined) throw new Error('there is no table in the stack');
    this.#name = table.ref;
  }

  /** Ids of the executions that are open, or whose end was not announced: those with a wake time. */
  async open(): Promise<readonly string[]> {
    const shards = Array.from({ length: DEFAULT_WAKE_SHARDS }, (_, shard) => this.#openOf(shard));
    return (await Promise.all(shards)).flat();
  }

  async #openOf(shard: number): Promise<readonly string[]> {
    const ids: string[] = [];
    let from: Item | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({
          TableName: this.#name,
          IndexName: TABLE.wakeIndex.name,
          KeyConditionExpression: '#shard = :shard',
          ExpressionAttributeNames: { '#shard': TABLE.wakeIndex.pk },
          ExpressionAttributeValues: { ':shard': { S: wakeShardKey(shard) } },
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
      );
      ids.push(...(page.Items ?? []).filter((item) => !isOfMailbox(item)).map(idOfKey));
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    return ids;
  }

  async everything(): Promise<TableContent> {
    const items: Item[] = [];
    for await (const item of this.#scan()) items.push(item);
    return contentOf(items);
  }

  async *#scan(): AsyncGenerator<Item> {
    let from: Item | undefined;
    do {
      const page = await this.#client.send(
        new ScanCommand({
          TableName: this.#name,
          ConsistentRead: true,
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
      );
      yield* page.Items ?? [];
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
  }

  close(): void {
    this.#client.destroy();
  }
}

/** The executions' records among the items of a table. */
export function contentOf(items: readonly Item[]): TableContent {
  const inputs = new Map<string, Item[]>();
  const steps = new Map<string, Record<string, Step>>();
  const plans = new Map<string, Plan>();
  const executions: Item[] = [];
  for (const item of items) {
    const pk = text(item, TABLE.pk);
    if (pk.startsWith(PLAN_PREFIX)) plans.set(pk.slice(PLAN_PREFIX.length), planOf(item));
    else if (isExecutionItem(item)) executions.push(item);
    else if (isInputItem(item)) inputs.set(pk, [...(inputs.get(pk) ?? []), item]);
    else if (isStepItem(item)) {
      const step = stepOf(item);
      const id = idOfKey(item);
      steps.set(id, { ...steps.get(id), [step.name]: step });
    }
  }
  const snapshots = executions.map((item) => {
    const key = text(item, 'inputKey');
    const own = inputs.get(text(item, TABLE.pk)) ?? [];
    const execution = executionOf(item, key === '' ? undefined : inputIn(own, key));
    return { execution, steps: steps.get(execution.id) ?? {} };
  });
  return { plans, snapshots };
}
