/**
 * Maintains a copy of each table, late by a fixed time, to answer some queries as a late index of DynamoDB
 * would. Does not own: which queries (`../control/faults.ts`).
 *
 * Invariants
 * - I1 the copy gets the states of an item in the table's order.
 * - I2 while a table is down its copy waits, and loses no write.
 */
import { isRecord, type Json } from '../template/json.ts';
import type { TableSpec } from '../template/stack-model.ts';
import type { DynamoProxy } from './proxy.ts';
import { ensureTables } from './tables.ts';

type Fields = Readonly<Record<string, Json>>;

const COPY = '-late';
const AGAIN_MS = 100;

export class LateIndexes {
  readonly #dynamo: Pick<DynamoProxy, 'forward'>;
  readonly #lateMs: number;
  /** The key's attributes of each table. */
  readonly #keys: ReadonlyMap<string, readonly string[]>;
  #reading: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(dynamo: DynamoProxy, tables: readonly TableSpec[], lateMs: number) {
    this.#dynamo = dynamo;
    this.#lateMs = lateMs;
    this.#keys = new Map(
      tables.map(({ tableName, creation }) => [
        tableName,
        fieldsIn(creation['KeySchema']).map(({ AttributeName }) => String(AttributeName)),
      ]),
    );
  }

  static async of(
    dynamo: DynamoProxy,
    tables: readonly TableSpec[],
    lateMs: number | undefined,
    dataHint: string,
  ): Promise<LateIndexes | undefined> {
    if (lateMs === undefined) return undefined;
    const indexed = tables.filter(({ creation }) => creation['GlobalSecondaryIndexes'] !== undefined);
    const copies = indexed.map((table) => {
      const tableName = `${table.tableName}${COPY}`;
      return { ...table, tableName, creation: { ...table.creation, TableName: tableName } };
    });
    await ensureTables(copies, dynamo, dataHint);
    return new LateIndexes(dynamo, indexed, lateMs);
  }

  /** Addresses a query to the copy. */
  static asked(body: Buffer): Buffer {
    const query = JSON.parse(body.toString()) as { readonly TableName: string };
    return Buffer.from(JSON.stringify({ ...query, TableName: `${query.TableName}${COPY}` }));
  }

  /** Called after a write: its result is copied later. */
  written(operation: string, body: Buffer): void {
    const at = Date.now();
    for (const { table, key } of itemsOf(operation, JSON.parse(body.toString()) as Fields)) {
      const names = this.#keys.get(table);
      if (names === undefined) continue;
      const Key = Object.fromEntries(names.map((name) => [name, key[name] ?? null]));
      this.#reading = this.#reading.then(() => this.#copy(table, Key, at));
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #copy(TableName: string, Key: Fields, at: number): Promise<void> {
    const found = await this.#ask('GetItem', { TableName, Key, ConsistentRead: true });
    const { Item } = found ?? {};
    this.#writing = this.#writing.then(async () => {
      await pause(at + this.#lateMs - Date.now());
      const copy = `${TableName}${COPY}`;
      if (Item === undefined) await this.#ask('DeleteItem', { TableName: copy, Key });
      else await this.#ask('PutItem', { TableName: copy, Item });
    });
  }

  async #ask(operation: string, request: Fields): Promise<Fields | undefined> {
    const body = Buffer.from(JSON.stringify(request));
    while (!this.#stopped) {
      const answer = await this.#dynamo.forward(operation, body).catch(() => undefined);
      if (answer?.statusCode === 200) return JSON.parse(answer.body.toString() || '{}') as Fields;
      await pause(AGAIN_MS);
    }
    return undefined;
  }
}

/** A pause that does not keep the process alive. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());

const fieldsIn = (value: Json | undefined): Fields[] => (Array.isArray(value) ? value : []).filter(isRecord);
const fieldsOf = (value: Json | undefined): Fields => (isRecord(value) ? value : {});

/** The items of a write: the key of each, or the whole item. */
function itemsOf(operation: string, body: Fields): { readonly table: string; readonly key: Fields }[] {
  const one = (request: Fields) => ({
    table: String(request['TableName']),
    key: fieldsOf(request['Key'] ?? request['Item']),
  });
  if (operation === 'TransactWriteItems')
    return fieldsIn(body['TransactItems']).flatMap((item) =>
      ['Put', 'Update', 'Delete'].flatMap((kind) => (isRecord(item[kind]) ? [one(item[kind])] : [])),
    );
  if (operation !== 'BatchWriteItem') return [one(body)];
  return Object.entries(fieldsOf(body['RequestItems'])).flatMap(([table, requests]) =>
    fieldsIn(requests).map((request) => ({
      table,
      key: fieldsOf(fieldsOf(request['DeleteRequest'])['Key'] ?? fieldsOf(request['PutRequest'])['Item']),
    })),
  );
}
