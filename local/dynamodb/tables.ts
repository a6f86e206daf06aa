/** Creates the tables of the template, and refuses existing tables with other keys or indexes. */
import { isRecord, type Json } from '../template/json.ts';
import type { TableSpec } from '../template/stack-model.ts';
import type { DynamoProxy } from './proxy.ts';

/** Creates the tables that are missing and checks the keys of those that exist. */
export async function ensureTables(
  tables: readonly TableSpec[],
  dynamo: DynamoProxy,
  dataHint: string,
): Promise<void> {
  for (const table of tables) {
    const described = await call(dynamo, 'DescribeTable', { TableName: table.tableName });
    if (described.ok) {
      const existing = isRecord(described.body['Table']) ? described.body['Table'] : {};
      refuseOtherShape(table, existing, dataHint);
      continue;
    }
    const created = await call(dynamo, 'CreateTable', table.creation);
    if (!created.ok)
      throw new Error(`table ${table.logicalId} cannot be created: ${JSON.stringify(created.body)}`);
    await untilActive(dynamo, table.tableName);
    if (table.ttlAttribute !== undefined) {
      const specification = { AttributeName: table.ttlAttribute, Enabled: true };
      await call(dynamo, 'UpdateTimeToLive', {
        TableName: table.tableName,
        TimeToLiveSpecification: specification,
      });
    }
  }
}

/** The partition key of each table, by the table's name. */
export function partitionKeysOf(tables: readonly TableSpec[]): (table: string) => string | undefined {
  const byTable = new Map(
    tables.map(({ tableName, creation }) => {
      const schema = Array.isArray(creation['KeySchema']) ? creation['KeySchema'] : [];
      const key = schema.find((each) => isRecord(each) && each['KeyType'] === 'HASH');
      return [tableName, isRecord(key) ? String(key['AttributeName']) : undefined];
    }),
  );
  return (table) => byTable.get(table);
}

async function call(
  dynamo: DynamoProxy,
  operation: string,
  body: Json,
): Promise<{ ok: boolean; body: Record<string, Json> }> {
  const answer = await dynamo.forward(operation, Buffer.from(JSON.stringify(body)));
  const parsed = JSON.parse(answer.body.toString() || '{}') as Json;
  const ok = answer.statusCode === 200;
  const fields = isRecord(parsed) ? parsed : {};
  const isMissing = String(fields['__type']).includes('ResourceNotFoundException');
  if (!ok && operation === 'DescribeTable' && !isMissing) {
    throw new Error(`DynamoDB does not answer DescribeTable: ${JSON.stringify(fields)}`);
  }
  return { ok, body: fields };
}

async function untilActive(dynamo: DynamoProxy, tableName: string): Promise<void> {
  for (;;) {
    const { body } = await call(dynamo, 'DescribeTable', { TableName: tableName });
    const table = body['Table'];
    if (isRecord(table) && table['TableStatus'] === 'ACTIVE') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function refuseOtherShape(table: TableSpec, existing: Record<string, Json>, dataHint: string): void {
  const wanted = shapeOf(table.creation);
  const found = shapeOf(existing);
  if (wanted === found) return;
  throw new Error(
    `table ${table.logicalId} has other keys or indexes now: the data in ${dataHint} was written with ${found}, the ` +
      `template says ${wanted}; start fresh (the data is deleted) or use another data directory`,
  );
}

/** Keys and indexes in one comparable line: `(pk HASH, sk RANGE) + byDue (due HASH)`. */
export function shapeOf(description: Readonly<Record<string, Json>>): string {
  const indexes = ['GlobalSecondaryIndexes', 'LocalSecondaryIndexes']
    .flatMap((name) => description[name] ?? [])
    .filter(isRecord)
    .map((index) => `${String(index['IndexName'])} (${keys(index['KeySchema'])})`)
    .sort();
  return [`(${keys(description['KeySchema'])})`, ...indexes].join(' + ');
}

function keys(schema: Json | undefined): string {
  return (Array.isArray(schema) ? schema : [])
    .filter(isRecord)
    .map((key) => `${String(key['AttributeName'])} ${String(key['KeyType'])}`)
    .join(', ');
}
